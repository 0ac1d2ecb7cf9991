from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any

import pytest
from django.contrib.auth.hashers import make_password

from orders.importers.rows import (
    CustomerRow,
    ImportReport,
    ItemRow,
    MethodRow,
    OrderRow,
    PaymentRow,
    ProductRow,
    ShipmentRow,
    ShopRows,
    VariantRow,
)
from orders.importers.store import store_shop
from orders.models import (
    Customer,
    Order,
    OrderItem,
    Payment,
    PaymentMethod,
    Shipment,
    ShipmentItem,
    Variant,
    VariantPrice,
)
from orders.rules import MethodKind, OrderStatus, ParcelStatus, PaymentKind

ITEM = ItemRow(name="Kettle", sku="KET-1", price_minor=4990, options={"colour": "red"})


def customer(name: str = "ada", **changes: Any) -> CustomerRow:
    row = CustomerRow(
        row=f"users/{name}",
        external_id=name,
        email=f"{name}@example.com",
        currency="EUR",
        first_name=name.title(),
        address={"city": "Utrecht"},
        methods=(MethodRow("card", MethodKind.CARD, "EUR", label="Visa", last_four="4242"),),
    )
    return replace(row, **changes)


def order(number: str = "1042", **changes: Any) -> OrderRow:
    row = OrderRow(
        row=f"orders/{number}",
        number=number,
        number_key=number,
        customer_id="ada",
        email="ada@example.com",
        status=OrderStatus.SHIPPED,
        currency="EUR",
        total_minor=9980,
        items=(ITEM, replace(ITEM, name="Lid", sku="")),
        shipments=(ShipmentRow(ParcelStatus.IN_TRANSIT, {0: 1, 1: 1}, "Swift", "SW1"),),
        payments=(PaymentRow("1", PaymentKind.PAYMENT, 9980, "card"),),
        placed_at=datetime(2026, 10, 1, tzinfo=UTC),
        metadata={"source": "test"},
    )
    return replace(row, **changes)


def product(sku: str = "KET-1", price: int = 4990, **changes: Any) -> ProductRow:
    variant = VariantRow(
        row=f"products/kettle/variants/{sku}",
        sku=sku,
        available=True,
        options={"colour": "red"},
        prices={"EUR": price},
    )
    row = ProductRow("products/kettle", "kettle", "Kettle", (variant,))
    return replace(row, **changes)


def whole_shop() -> ShopRows:
    return ShopRows(customers=[customer()], products=[product()], orders=[order()])


@pytest.fixture
def store(shop: Any) -> Callable[[ShopRows], ImportReport]:
    def run(rows: ShopRows) -> ImportReport:
        return store_shop(tenant=shop.tenant, rows=rows)

    return run


def outcomes(report: ImportReport) -> dict[str, str]:
    return {kind: outcome for (kind, outcome), count in report.counts.items() if count}


ALL = ("customers", "payment_methods", "products", "variants", "orders")


def test_shop_is_stored_whole(store: Any) -> None:
    report = store(whole_shop())
    assert outcomes(report) == dict.fromkeys(ALL, "created")
    stored: Any = Order.objects.get()
    assert stored.customer == Customer.objects.get()
    assert stored.customer.city == "Utrecht"
    assert [item.name for item in stored.items.all()] == ["Kettle", "Lid"]
    assert stored.items.first().variant == Variant.objects.get()
    assert stored.items.last().variant is None
    assert ShipmentItem.objects.count() == 2
    payment = Payment.objects.get()
    assert payment.method == PaymentMethod.objects.get()
    assert payment.description == "Visa ending 4242"
    assert VariantPrice.objects.get().amount_minor == 4990


def test_second_time_changes_nothing(store: Any) -> None:
    store(whole_shop())
    before = [list(model.objects.order_by("pk").values()) for model in (Order, OrderItem, Payment)]
    report = store(whole_shop())
    after = [list(model.objects.order_by("pk").values()) for model in (Order, OrderItem, Payment)]
    assert outcomes(report) == dict.fromkeys(ALL, "unchanged")
    assert report.total("unchanged") == 5
    assert after == before


@pytest.mark.parametrize(
    ("changes", "check"),
    [
        ({"status": OrderStatus.DELIVERED}, lambda: Order.objects.get().status == "delivered"),
        ({"items": (ITEM,), "shipments": ()}, lambda: OrderItem.objects.count() == 1),
        ({"shipments": ()}, lambda: not Shipment.objects.exists()),
        (
            {"shipments": (ShipmentRow(ParcelStatus.IN_TRANSIT, {0: 1}, "Swift", "SW1"),)},
            lambda: ShipmentItem.objects.count() == 1,
        ),
        (
            {
                "shipments": (
                    ShipmentRow(
                        ParcelStatus.IN_TRANSIT,
                        {0: 1, 1: 1},
                        "Swift",
                        "SW1",
                        promised_on=date(2026, 10, 5),
                    ),
                )
            },
            lambda: Shipment.objects.get().promised_on == date(2026, 10, 5),
        ),
        (
            {"payments": (PaymentRow("1", PaymentKind.PAYMENT, 9980, "card"),) * 1
             + (PaymentRow("2", PaymentKind.REFUND, 100, "card"),)},
            lambda: Payment.objects.count() == 2,
        ),
        ({"address": {"city": "Delft"}}, lambda: Order.objects.get().city == "Delft"),
    ],
)  # fmt: skip
def test_change_anywhere_in_an_order_updates_it(store: Any, changes: Any, check: Any) -> None:
    store(whole_shop())
    rows = whole_shop()
    rows.orders = [order(**changes)]
    report = store(rows)
    assert outcomes(report) == {**dict.fromkeys(ALL, "unchanged"), "orders": "updated"}
    assert check()
    assert outcomes(store(rows)) == dict.fromkeys(ALL, "unchanged")


def test_change_of_a_price_updates_the_variant(store: Any) -> None:
    store(whole_shop())
    rows = ShopRows(products=[product(price=5990)])
    assert outcomes(store(rows)) == {"products": "unchanged", "variants": "updated"}
    assert VariantPrice.objects.get().amount_minor == 5990


def test_password_of_a_customer_outlives_the_import(store: Any) -> None:
    store(whole_shop())
    Customer.objects.update(password=make_password("x"))
    rows = ShopRows(customers=[customer(first_name="Augusta")])
    store(rows)
    stored = Customer.objects.get()
    assert stored.first_name == "Augusta"
    assert stored.password


def test_payment_of_our_own_outlives_the_import(store: Any, shop: Any) -> None:
    store(whole_shop())
    shop.payment(Order.objects.get(), kind="refund", amount_minor=100, reference="ours")
    assert outcomes(store(whole_shop()))["orders"] == "unchanged"
    assert Payment.objects.filter(reference="ours").exists()


def test_row_the_database_refuses_keeps_no_other_out(store: Any) -> None:
    rows = ShopRows(
        customers=[
            customer("ada"),
            customer("bob", email="ADA@example.com"),
            customer("eve", first_name="x" * 200),
            customer("zoe"),
        ],
        orders=[
            order("1", customer_id="zoe", payments=()),
            order("2", customer_id="bob"),
            order("3", total_minor=-5),
            order("4", payments=(PaymentRow("1", PaymentKind.PAYMENT, 1, "unheard-of"),)),
            order("5", number_key="1"),
        ],
    )
    report = store(rows)
    reasons = {item.row: item.reason for item in report.refused}
    assert set(Customer.objects.values_list("external_id", flat=True)) == {"ada", "zoe"}
    assert list(Order.objects.values_list("number", flat=True)) == ["1"]
    assert reasons["users/bob"] == "duplicate: another customer of the shop has this e-mail"
    assert "too long" in reasons["users/eve"]
    assert reasons["orders/2"].startswith("missing user")
    assert "total_not_negative" in reasons["orders/3"]
    assert "unheard-of" in reasons["orders/4"]
    assert reasons["orders/5"] == "duplicate: another order of the shop has this number"
    assert report.total("created") == 2 + 2 + 1  # customers, their methods, one order


def test_two_customers_may_exchange_their_addresses(store: Any) -> None:
    store(ShopRows(customers=[customer("ada"), customer("bob")]))
    swapped = ShopRows(
        customers=[
            customer("ada", email="bob@example.com"),
            customer("bob", email="ada@example.com"),
        ]
    )
    # One after the other is impossible, and is said; a third import through another address works.
    report = store(swapped)
    assert {item.row for item in report.refused} == {"users/ada", "users/bob"}
    assert Customer.objects.get(external_id="ada").email == "ada@example.com"


def test_shops_do_not_touch_one_another(store: Any, shop: Any, other_shop: Any) -> None:
    store(whole_shop())
    report = store_shop(tenant=other_shop.tenant, rows=whole_shop())
    assert outcomes(report) == dict.fromkeys(ALL, "created")
    for place in (shop, other_shop):
        assert Order.objects.for_tenant(place.tenant.pk).count() == 1


def test_progress_counts_every_row(shop: Any) -> None:
    seen: list[int] = []
    rows = ShopRows(customers=[customer(f"c{n}") for n in range(450)])
    store_shop(tenant=shop.tenant, rows=rows, progress=seen.append)
    assert seen == [200, 200, 50]


def test_report_is_one_json_document(store: Any) -> None:
    rows = whole_shop()
    rows.refuse("orders/#W9", "unknown status")
    document = store(rows).to_json()
    assert {name: document[name] for name in ("created", "updated", "unchanged")} == {
        "created": 5,
        "updated": 0,
        "unchanged": 0,
    }
    assert document["refused"] == [{"row": "orders/#W9", "reason": "unknown status"}]
    assert document["by_kind"]["orders"]["created"] == 1
