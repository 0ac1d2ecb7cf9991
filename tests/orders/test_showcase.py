from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest

from dsupport.contract.errors import NotFound
from dsupport.contract.principal import Proof
from orders.showcase import SHOWN, enter_as, list_showcase


def whys(shop: Any, now: datetime) -> dict[str, str]:
    return {
        entry["email"].partition("@")[0]: entry["why"]
        for entry in list_showcase(tenant=shop.tenant, now=now)
    }


def test_showcase_tells_each_story_once(shop: Any, other_shop: Any, now: datetime) -> None:
    def order(name: str, **fields: Any) -> Any:
        customer = shop.customer(f"{name}@example.com")
        return shop.order(customer, f"{name}-1", **fields)

    shop.parcel(order("late", status="shipped"), promised_on=date(2026, 10, 5))
    shop.parcel(order("lost", status="shipped"), status="lost", promised_on=date(2026, 10, 20))
    shop.parcel(
        order("came"),
        status="delivered",
        promised_on=date(2026, 10, 5),
        delivered_at=datetime(2026, 10, 5, 22, 30, tzinfo=UTC),  # the 6th in Amsterdam
    )
    split = order("split", status="shipped")
    for _ in range(2):
        shop.parcel(split, promised_on=date(2026, 10, 20))
    shop.payment(order("refund"), kind="refund", amount_minor=1)
    order("cancelled", status="cancelled")
    order("fresh", status="pending")
    order("back", status="return_requested")
    order("yen", currency="JPY")
    order("plain")
    other_shop.order(other_shop.customer("eve@example.com"), "eve")
    shop.order(None, "guest", status="cancelled")
    assert whys(shop, now) == {
        "late": "Order late-1 is late and still on its way",
        "lost": "Order lost-1: the parcel is lost",
        "came": "Order came-1 came late",
        "split": "Order split-1 travels in several parcels",
        "refund": "Order refund-1 was refunded in part",
        "cancelled": "Order cancelled-1 was cancelled",
        "fresh": "Order fresh-1 is not packed yet",
        "back": "A return of order back-1 was asked for",
        "yen": "Order yen-1 was paid in another currency",
        "plain": "Order plain-1 was delivered",
    }


def test_showcase_is_filled_up_and_bounded(shop: Any, now: datetime) -> None:
    for number in range(SHOWN + 3):
        customer = shop.customer(f"c{number}@example.com")
        shop.order(customer, status="processed")
        shop.order(customer, status="processed")
    shown = list_showcase(tenant=shop.tenant, now=now)
    assert len(shown) == SHOWN
    assert {entry["why"] for entry in shown} == {"2 orders"}


def test_showcase_of_an_empty_shop_is_empty(shop: Any, now: datetime) -> None:
    assert list_showcase(tenant=shop.tenant, now=now) == []


def test_visitor_enters_as_a_customer_and_stays_the_visitor(shop: Any) -> None:
    customer = shop.customer()
    known = enter_as(tenant=shop.tenant, principal=shop.guest(), email="ADA@example.com")
    assert (known.customer_id, known.proof, known.visitor) == (customer.pk, Proof.LOGIN, "v2")


@pytest.mark.parametrize("email", ["no@example.com", "\x00", "eve@example.com"])
def test_visitor_cannot_enter_as_nobody(shop: Any, other_shop: Any, email: str) -> None:
    other_shop.customer("eve@example.com")
    with pytest.raises(NotFound):
        enter_as(tenant=shop.tenant, principal=shop.guest(), email=email)
