from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction

from dsupport.contract.principal import Principal, Proof
from orders.models import (
    Customer,
    Order,
    OrderItem,
    Payment,
    PaymentMethod,
    Product,
    Shipment,
    ShipmentItem,
)

MOMENT = datetime(2026, 10, 1, 9, tzinfo=UTC)
OWNED: list[Any] = [Order, OrderItem, Shipment, ShipmentItem, Payment, PaymentMethod, Customer]


@pytest.fixture
def family(shop: Any, other_shop: Any) -> dict[str, Any]:
    """Two customers of one shop and one of another, each with an order and all that hangs on it."""
    made: dict[str, Any] = {"shop": shop}
    for name, place in (("ada", shop), ("bob", shop), ("eve", other_shop)):
        customer = place.customer(f"{name}@example.com")
        customer.methods.create(
            external_id="card", kind="card", label="Visa", last_four="4242", currency="EUR"
        )
        order = place.order(customer)
        item = place.item(order)
        place.parcel(order).contents.create(item=item)
        place.payment(order)
        made[name], made[f"{name}_order"] = customer, order
    made["guest_order"] = shop.order(None, email="guest@example.com")
    return made


def seen(principal: Principal) -> dict[str, int]:
    return {model.__name__: model.objects.for_principal(principal).count() for model in OWNED}


def test_customer_sees_their_own_rows_alone(family: dict[str, Any]) -> None:
    principal = family["shop"].signed_in(family["ada"])
    assert seen(principal) == {model.__name__: 1 for model in OWNED}
    assert Order.objects.for_principal(principal).get() == family["ada_order"]
    assert Customer.objects.for_principal(principal).get() == family["ada"]


def test_guest_sees_the_proved_order_alone(family: dict[str, Any]) -> None:
    principal = family["shop"].guest(family["bob_order"])
    expected = {model.__name__: 1 for model in OWNED} | {"PaymentMethod": 0, "Customer": 0}
    assert seen(principal) == expected
    assert Payment.objects.for_principal(principal).get().order == family["bob_order"]


@pytest.mark.parametrize("proof", [Proof.NONE, Proof.KEY, Proof.STAFF])
def test_nobody_else_sees_anything(family: dict[str, Any], proof: Proof) -> None:
    staff = 1 if proof is Proof.STAFF else None
    principal = Principal(tenant_id=family["shop"].tenant.pk, proof=proof, staff_id=staff)
    assert set(seen(principal).values()) == {0}


def test_identity_of_another_shop_opens_nothing_here(family: dict[str, Any]) -> None:
    tenant = family["shop"].tenant.pk
    # Ids of the other shop's rows, under this shop: a forged or mixed-up principal.
    customer = Principal(tenant_id=tenant, proof=Proof.LOGIN, customer_id=family["eve"].pk)
    guest = Principal(tenant_id=tenant).with_proved_order(family["eve_order"].pk)
    assert set(seen(customer).values()) == {0}
    assert set(seen(guest).values()) == {0}


def test_scope_stands_in_the_statement_itself(family: dict[str, Any]) -> None:
    principal = family["shop"].signed_in(family["ada"])
    for model in (Order, OrderItem, Shipment, ShipmentItem, Payment):
        statement = str(model.objects.for_principal(principal).query)
        assert f'"tenant_id" = {principal.tenant_id}' in statement
        assert f'"customer_id" = {principal.customer_id}' in statement


def refused(make: Callable[[], Any]) -> str:
    with pytest.raises(IntegrityError) as caught, transaction.atomic():
        make()
    diagnostics: Any = caught.value.__cause__
    return str(diagnostics.diag.constraint_name)


def test_database_refuses_what_no_order_can_be(shop: Any) -> None:
    customer = shop.customer()
    cases: dict[str, dict[str, Any]] = {
        "total_not_negative": {"total_minor": -1},
        "order_currency_is_a_code": {"currency": "eur"},
        "order_status_is_known": {"status": "teleported"},
    }
    for constraint, fields in cases.items():
        assert refused(partial(shop.order, customer, **fields)) == constraint
    shop.order(customer, "1042")
    assert refused(lambda: shop.order(customer, "#10-42")) == "order_key_in_shop"
    assert refused(lambda: shop.order(customer, "#")) == "order_key_is_normalised"


def test_database_refuses_what_no_part_of_an_order_can_be(shop: Any) -> None:
    order = shop.order(shop.customer())
    item = shop.item(order)
    cases = {
        "quantity_at_least_one": lambda: shop.item(order, quantity=0),
        "item_price_not_negative": lambda: shop.item(order, price_minor=-1),
        "item_position_in_order": lambda: shop.item(order, position=item.position),
        "shipment_status_is_known": lambda: shop.parcel(order, status="eaten"),
        "only_what_arrived_has_a_moment": lambda: shop.parcel(order, delivered_at=MOMENT),
        "arrives_after_leaving": lambda: shop.parcel(
            order,
            status="delivered",
            shipped_at=MOMENT,
            delivered_at=MOMENT.replace(month=9),
        ),
        "payment_not_negative": lambda: shop.payment(order, amount_minor=-1),
        "payment_kind_is_known": lambda: shop.payment(order, kind="gift"),
        "payment_status_is_known": lambda: shop.payment(order, status="maybe"),
        "payment_currency_is_a_code": lambda: shop.payment(order, currency="€"),
    }
    for constraint, make in cases.items():
        assert refused(make) == constraint
    shop.payment(order, reference="r1")
    assert refused(lambda: shop.payment(order, reference="r1")) == "payment_once_in_an_order"


def test_database_refuses_what_no_wallet_can_hold(shop: Any) -> None:
    customer = shop.customer()

    def method(**fields: Any) -> Callable[[], Any]:
        defaults = {"external_id": "m", "kind": "card", "currency": "EUR"}
        return lambda: customer.methods.create(**{**defaults, **fields})

    assert refused(method(kind="cheque")) == "method_kind_is_known"
    assert refused(method(balance_minor=100)) == "gift_cards_alone_hold_money"
    assert refused(method(kind="gift_card")) == "gift_cards_alone_hold_money"
    assert refused(method(kind="gift_card", balance_minor=-1)) == "gift_cards_alone_hold_money"
    # A whole card number does not fit: it must not be here at all.
    assert refused(method(last_four="42a2")) == "last_four_are_four_digits"


def test_email_is_unique_in_a_shop_without_case(shop: Any, other_shop: Any) -> None:
    shop.customer("ada@example.com")
    again = refused(lambda: shop.customer("ADA@Example.com", external_id="2"))
    assert again == "customer_email_in_shop"
    assert other_shop.customer("ada@example.com").pk
    found = Customer.objects.with_email(shop.tenant.pk, " Ada@EXAMPLE.com ").get()
    assert found.email == "ada@example.com"


def test_database_keeps_order_and_customer_in_one_shop(shop: Any, other_shop: Any) -> None:
    stranger = other_shop.customer("eve@example.com")

    def mix() -> None:
        shop.order(stranger)
        connection.check_constraints()

    assert refused(mix) == "order_and_customer_of_one_shop"


def test_database_keeps_variant_and_product_in_one_shop(shop: Any, other_shop: Any) -> None:
    product: Product = other_shop.product("Kettle")

    def mix() -> None:
        product.variants.create(tenant=shop.tenant, sku="K")
        connection.check_constraints()

    assert refused(mix) == "variant_and_product_of_one_shop"


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"kind": "card", "label": "Visa", "last_four": "4242"}, "Visa ending 4242"),
        ({"kind": "card"}, "Card"),
        ({"kind": "paypal"}, "PayPal"),
        ({"kind": "gift_card", "balance_minor": 100}, "Gift card"),
    ],
)
def test_payment_method_is_named_for_people(fields: dict[str, Any], text: str) -> None:
    assert PaymentMethod(currency="EUR", **fields).description == text
