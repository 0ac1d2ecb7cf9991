from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from dsupport.contract.errors import PortError
from dsupport.lib.gateway import Gateway
from orders import queries
from orders.errors import IdentityNeeded, OrderNotFound
from orders.ports import CarrierReport
from orders.rules import OrderStatus, ParcelStatus


class StubCarrier:
    """Answer per tracking number, in a script; remember what was asked."""

    def __init__(self, **answers: CarrierReport | PortError) -> None:
        self.answers = answers
        self.asked: list[str] = []

    def track(self, carrier: str, tracking_number: str, *, timeout: float) -> CarrierReport:
        self.asked.append(tracking_number)
        answer = self.answers[tracking_number]
        if isinstance(answer, PortError):
            raise answer
        return answer


def patient_gateway() -> Gateway:
    return Gateway(sleep=lambda _seconds: None)


def track(principal: Any, number: str, now: datetime, carrier: Any) -> queries.Tracking:
    return queries.track(
        principal=principal, number=number, now=now, carrier=carrier, gateway=patient_gateway()
    )


def test_order_tells_every_figure(shop: Any, now: datetime) -> None:
    customer = shop.customer()
    order = shop.order(customer, "1042", total_minor=9980)
    kettle = shop.item(order, quantity=2)
    parcel = shop.parcel(
        order,
        tracking_number="SW1",
        status="delivered",
        shipped_at=datetime(2026, 10, 3, 9, tzinfo=UTC),
        promised_on=date(2026, 10, 5),
        delivered_at=datetime(2026, 10, 6, 22, 30, tzinfo=UTC),  # past midnight in Amsterdam
    )
    parcel.contents.create(item=kettle, quantity=2)
    shop.payment(order, at=datetime(2026, 10, 1, 9, tzinfo=UTC))
    shop.payment(order, kind="refund", amount_minor=1000, status="pending")

    facts = queries.get_order(principal=shop.signed_in(customer), number="ord 1042", now=now)

    assert facts == {
        "number": "1042",
        "status": "delivered",
        "status_text": "Delivered, 2 days late",
        "placed_on": "2026-10-01",
        "currency": "EUR",
        "total": "€99.80",
        "promised_on": "2026-10-05",
        "delivered_on": "2026-10-07",
        "days_late": 2,
        "late": True,
        "return_window_ends_on": "2026-11-06",
        "items": [
            {
                "name": "Kettle",
                "options": {"colour": "red"},
                "quantity": 2,
                "price": "€49.90",
                "sku": "KET-1",
            }
        ],
        "shipments": [
            {
                "carrier": "Swift",
                "tracking_number": "SW1",
                "status": "delivered",
                "shipped_on": "2026-10-03",
                "promised_on": "2026-10-05",
                "delivered_on": "2026-10-07",
                "days_late": 2,
                "items": ["2 × Kettle"],
            }
        ],
        "payments": [
            {
                "method": "Visa ending 4242",
                "amount": "€99.80",
                "status": "completed",
                "on": "2026-10-01",
            }
        ],
        "refunds": [
            {"method": "Visa ending 4242", "amount": "€10.00", "status": "pending", "on": None}
        ],
    }


@pytest.mark.parametrize(
    ("currency", "minor", "text"),
    [("JPY", 5800, "¥5,800"), ("KWD", 12345, "12.345 KWD"), ("USD", 5, "$0.05")],
)
def test_order_tells_money_in_its_own_currency(
    shop: Any, now: datetime, currency: str, minor: int, text: str
) -> None:
    customer = shop.customer()
    order = shop.order(customer, "1", currency=currency, total_minor=minor)
    shop.item(order, price_minor=minor)
    shop.payment(order)
    facts = queries.get_order(principal=shop.signed_in(customer), number="1", now=now)
    assert facts["total"] == facts["items"][0]["price"] == facts["payments"][0]["amount"] == text


def test_order_without_dates_claims_none(shop: Any, now: datetime) -> None:
    customer = shop.customer()
    order = shop.order(customer, "1", placed_at=None)
    shop.parcel(order, status="delivered", promised_on=None)
    facts = queries.get_order(principal=shop.signed_in(customer), number="1", now=now)
    dates = ("placed_on", "promised_on", "delivered_on", "days_late", "return_window_ends_on")
    assert [facts[name] for name in dates] == [None] * 5
    assert facts["late"] is False


def test_foreign_and_unknown_orders_are_one_refusal(
    shop: Any, other_shop: Any, now: datetime
) -> None:
    ada, bob = shop.customer("ada@example.com"), shop.customer("bob@example.com")
    eve = other_shop.customer("eve@example.com")
    shop.order(ada, "100")
    shop.order(bob, "200")
    other_shop.order(eve, "300")
    outcomes = []
    for number in ("200", "300", "404", "", "\x00", "2" * 5000):
        with (
            CaptureQueriesContext(
                connection,
            ) as statements,
            pytest.raises(OrderNotFound) as caught,
        ):
            queries.get_order(principal=shop.signed_in(ada), number=number, now=now)
        outcomes.append((caught.value.code, caught.value.message, len(statements)))
    assert set(outcomes) == {outcomes[0]}
    assert outcomes[0][2] == 1


def test_guest_reads_the_proved_order_and_no_other(shop: Any, now: datetime) -> None:
    customer = shop.customer()
    mine, next_one = shop.order(customer, "1"), shop.order(customer, "2")
    guest = shop.guest(mine)
    assert queries.get_order(principal=guest, number="1", now=now)["number"] == "1"
    with pytest.raises(OrderNotFound):
        queries.get_order(principal=guest, number=next_one.number, now=now)
    listed = queries.list_orders(principal=guest, now=now)
    assert [order["number"] for order in listed.orders] == ["1"]


def test_nobody_is_told_to_become_known(shop: Any, now: datetime) -> None:
    shop.order(shop.customer(), "1")
    for number in ("1", "404"):
        with pytest.raises(IdentityNeeded):
            queries.get_order(principal=shop.guest(), number=number, now=now)
    with pytest.raises(IdentityNeeded):
        queries.list_orders(principal=shop.guest(), now=now)


def test_list_is_newest_first_and_undated_last(shop: Any, now: datetime) -> None:
    customer = shop.customer()
    shop.order(customer, "1", placed_at=None)
    shop.order(customer, "2", placed_at=datetime(2026, 9, 1, tzinfo=UTC))
    shop.order(customer, "3", placed_at=datetime(2026, 10, 1, tzinfo=UTC))
    found = queries.list_orders(principal=shop.signed_in(customer), now=now)
    assert [order["number"] for order in found.orders] == ["3", "2", "1"]
    assert not found.more


def test_list_says_when_it_is_cut(shop: Any, now: datetime) -> None:
    customer = shop.customer()
    for _ in range(queries.LIST_LIMIT + 1):
        shop.order(customer)
    found = queries.list_orders(principal=shop.signed_in(customer), now=now)
    assert len(found.orders) == queries.LIST_LIMIT
    assert found.more


def test_list_names_a_few_lines_of_a_long_order(shop: Any, now: datetime) -> None:
    customer = shop.customer()
    order = shop.order(customer)
    for number in range(9):
        shop.item(order, name=f"Lamp {number}", quantity=2)
    items = queries.list_orders(principal=shop.signed_in(customer), now=now).orders[0]["items"]
    assert items[0] == "2 × Lamp 0"
    assert items[6:] == ["and 3 more"]


def test_list_takes_the_same_queries_for_many_orders(shop: Any, now: datetime) -> None:
    customer = shop.customer()

    def count() -> int:
        with CaptureQueriesContext(connection) as statements:
            queries.list_orders(principal=shop.signed_in(customer), now=now)
        return len(statements)

    shop.item(shop.order(customer))
    few = count()
    for _ in range(10):
        order = shop.order(customer)
        shop.item(order)
        shop.parcel(order)
    assert count() == few == 3


def test_list_of_a_day_is_the_shops_day(shop: Any, now: datetime) -> None:
    customer = shop.customer()
    # The clocks go back on 25 October 2026 in Amsterdam: the day lasts from 22:00 UTC to 23:00.
    moments = {
        "before": datetime(2026, 10, 24, 21, 59, tzinfo=UTC),
        "first": datetime(2026, 10, 24, 22, 0, tzinfo=UTC),
        "last": datetime(2026, 10, 25, 22, 59, tzinfo=UTC),
        "after": datetime(2026, 10, 25, 23, 0, tzinfo=UTC),
    }
    for number, at in moments.items():
        shop.order(customer, number, placed_at=at)
    shop.order(customer, "undated", placed_at=None)
    found = queries.list_orders(
        principal=shop.signed_in(customer), now=now, bought_on=date(2026, 10, 25)
    )
    assert [order["number"] for order in found.orders] == ["last", "first"]
    assert found.undated == 1


def test_list_of_a_status_holds_no_other(shop: Any, now: datetime) -> None:
    customer = shop.customer()
    shop.order(customer, "1", status="cancelled")
    shop.order(customer, "2", status="delivered")
    found = queries.list_orders(
        principal=shop.signed_in(customer), now=now, status=OrderStatus.CANCELLED
    )
    assert [order["number"] for order in found.orders] == ["1"]


def test_tracking_puts_the_carriers_word_beside_our_record(shop: Any, now: datetime) -> None:
    customer = shop.customer()
    shop.parcel(shop.order(customer, "1", status="shipped"), tracking_number="SW1")
    word = CarrierReport(
        ParcelStatus.DELIVERED,
        "Left with\x00 a neighbour " + "x" * 500,
        datetime(2026, 10, 14, 22, 30, tzinfo=UTC),
        date(2026, 10, 16),
    )
    found = track(shop.signed_in(customer), "1", now, StubCarrier(SW1=word))
    parcel = found.facts["shipments"][0]
    assert not found.unreachable
    assert parcel["status"] == "in_transit"
    assert parcel["days_late"] == 10
    report = parcel["carrier_report"]
    assert report["status"] == "delivered"
    assert report["at"] == "2026-10-15"
    assert report["estimated_on"] == "2026-10-16"
    assert report["last_event"].startswith("Left with  a neighbour xxx")
    assert len(report["last_event"]) == 200


def test_tracking_asks_no_carrier_about_a_strangers_order(shop: Any, now: datetime) -> None:
    ada, bob = shop.customer("ada@example.com"), shop.customer("bob@example.com")
    shop.parcel(shop.order(bob, "200"), tracking_number="SW2")
    down = StubCarrier(SW2=PortError("away", retryable=True))
    messages = set()
    for number in ("200", "404"):
        with (
            CaptureQueriesContext(connection) as statements,
            pytest.raises(OrderNotFound) as caught,
        ):
            track(shop.signed_in(ada), number, now, down)
        messages.add((caught.value.message, len(statements)))
    assert len(messages) == 1
    assert down.asked == []


def test_tracking_of_a_silent_carrier_keeps_our_record(shop: Any, now: datetime) -> None:
    customer = shop.customer()
    shop.parcel(shop.order(customer, "1", status="shipped"), tracking_number="SW1")
    down = StubCarrier(SW1=PortError("away", retryable=True))
    found = track(shop.signed_in(customer), "1", now, down)
    assert found.unreachable
    assert found.facts["shipments"][0]["carrier_reached"] is False
    assert found.facts["days_late"] == 10
    assert len(down.asked) == queries.CARRIER_POLICY.attempts


def test_tracking_with_one_carrier_silent_is_still_an_answer(shop: Any, now: datetime) -> None:
    customer = shop.customer()
    order = shop.order(customer, "1", status="shipped")
    shop.parcel(order, tracking_number="SW1", carrier="Swift")
    shop.parcel(order, tracking_number="SL1", carrier="Slow")
    carriers = StubCarrier(
        SW1=CarrierReport(ParcelStatus.IN_TRANSIT), SL1=PortError("away", retryable=True)
    )
    found = track(shop.signed_in(customer), "1", now, carriers)
    assert [p["carrier_reached"] for p in found.facts["shipments"]] == [True, False]
    assert not found.unreachable


def test_tracking_of_an_order_without_parcels_asks_nobody(shop: Any, now: datetime) -> None:
    customer = shop.customer()
    shop.parcel(shop.order(customer, "1"), tracking_number="")
    found = track(shop.signed_in(customer), "1", now, StubCarrier())
    assert not found.unreachable
    assert found.facts["shipments"][0]["carrier_report"] is None


def test_asker_is_described_by_what_was_proved(shop: Any) -> None:
    customer = shop.customer()
    order = shop.order(customer, "1042")
    assert queries.describe_asker(shop.signed_in(customer)) == {
        "asker": "signed_in",
        "asker_name": "Ada Moore",
        "proved_orders": [],
    }
    guest = {"asker": "guest_with_order", "asker_name": "", "proved_orders": ["1042"]}
    assert queries.describe_asker(shop.guest(order)) == guest
    nobody = {"asker": "anonymous", "asker_name": "", "proved_orders": []}
    assert queries.describe_asker(shop.guest()) == nobody
