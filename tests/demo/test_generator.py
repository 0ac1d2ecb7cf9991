from __future__ import annotations

import re
from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dsupport.demo.facts import OrderFacts, PaymentFacts, sum_of
from dsupport.demo.generator import make_wallets
from dsupport.demo.source import read_shop
from dsupport.demo.stories import WITHOUT_EVERYDAY_ORDERS
from dsupport.lib.money import Money
from orders.adapters.simulated import Faults, SimulatedCarrier
from orders.rules import (
    MethodKind,
    OrderStatus,
    ParcelStatus,
    PaymentKind,
    PaymentStatus,
    local_day,
    sum_up_delivery,
)
from orders.rules import Parcel as ParcelDates
from tests.demo.shop import HARD_MOMENTS, THURSDAY, by_number, orders_at

SHOP = read_shop()
MOMENTS = st.one_of(
    st.sampled_from(HARD_MOMENTS),
    st.datetimes(datetime(2021, 1, 1), datetime(2046, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001
)
THOROUGHLY = settings(max_examples=25, deadline=None)

NOT_LEFT = {OrderStatus.PENDING, OrderStatus.ITEMS_CHANGED, OrderStatus.PROCESSED}
ARRIVED = {
    OrderStatus.DELIVERED,
    OrderStatus.RETURN_REQUESTED,
    OrderStatus.EXCHANGE_REQUESTED,
    OrderStatus.EXCHANGED,
}


def money_in(order: OrderFacts, kind: PaymentKind) -> Money:
    counted = (p for p in order.payments if p.kind is kind and p.status is not PaymentStatus.FAILED)
    return sum_of((payment.amount for payment in counted), order.currency)


def test_orders_same_seed_and_moment_are_equal():
    assert orders_at(THURSDAY) == orders_at(THURSDAY)


def test_orders_other_seed_differ_but_stories_stay():
    one, other = by_number(orders_at(THURSDAY)), by_number(orders_at(THURSDAY, seed=7))
    assert one["1001"] != other["1001"]
    assert one["1042"].lines == other["1042"].lines
    assert one["1042"].parcels[0].promised_on == other["1042"].parcels[0].promised_on


def test_orders_are_numbered_without_gap():
    assert [order.number for order in orders_at(THURSDAY)] == [str(n) for n in range(1001, 1251)]


@pytest.mark.parametrize("now", [THURSDAY, *HARD_MOMENTS])
def test_orders_show_every_state_currency_and_method(now):
    orders = orders_at(now)
    parcels = [parcel for order in orders for parcel in order.parcels]
    payments = [payment for order in orders for payment in order.payments]
    assert {order.status for order in orders} == set(OrderStatus)
    assert {parcel.status for parcel in parcels} == set(ParcelStatus) - {ParcelStatus.UNKNOWN}
    assert {order.currency for order in orders} == {"USD", "EUR", "JPY"}
    assert {payment.status for payment in payments} == set(PaymentStatus)
    assert {payment.kind for payment in payments} == set(PaymentKind)
    assert {payment.method.kind for payment in payments} == set(MethodKind)


def test_orders_tell_the_promised_stories():
    """Late, lost, split, partly refunded and declined orders are all there, more than once."""
    orders = orders_at(THURSDAY)
    today = local_day(THURSDAY, SHOP.zone)
    found = Counter()
    for order in orders:
        back = money_in(order, PaymentKind.REFUND)
        found["split"] += len(order.parcels) > 1
        found["part refund"] += Money(0, order.currency) < back < order.total
        found["lost"] += any(p.status is ParcelStatus.LOST for p in order.parcels)
        found["declined"] += any(p.status is PaymentStatus.FAILED for p in order.payments)
        found["came late"] += any(
            p.delivered_at and local_day(p.delivered_at, SHOP.zone) > p.promised_on
            for p in order.parcels
        )
        found["is late"] += any(
            p.status is ParcelStatus.IN_TRANSIT and p.promised_on < today for p in order.parcels
        )
        found["two methods"] += len({p.method.key for p in order.payments}) > 1
        found["last day"] += order.placed_at > THURSDAY - timedelta(days=1)
    assert all(found[story] >= 2 for story in found), found


def test_customers_without_everyday_orders_have_stories_alone():
    owners = Counter(order.email for order in orders_at(THURSDAY))
    assert owners["fleur.hendriks@example.com"] == 2
    assert owners["peter.nowak@example.com"] == 0
    assert len(owners) >= 55
    assert {"fleur.hendriks@example.com", "peter.nowak@example.com"} == WITHOUT_EVERYDAY_ORDERS


@THOROUGHLY
@given(now=MOMENTS, seed=st.integers(0, 10**6))
def test_orders_any_day_events_follow_one_another(now, seed):
    for order in orders_at(now, seed=seed):
        assert order.placed_at <= now
        for parcel in order.parcels:
            moments = [order.placed_at, parcel.shipped_at, parcel.delivered_at, now]
            known = [moment for moment in moments if moment is not None]
            assert known == sorted(known), order
            if parcel.shipped_at is not None:
                assert local_day(parcel.shipped_at, SHOP.zone) < parcel.promised_on
        assert all(order.placed_at <= payment.at <= now for payment in order.payments), order


@THOROUGHLY
@given(now=MOMENTS, seed=st.integers(0, 10**6))
def test_orders_any_day_status_fits_parcels(now, seed):
    for order in orders_at(now, seed=seed):
        statuses = {parcel.status for parcel in order.parcels}
        if order.status in NOT_LEFT:
            assert statuses == {ParcelStatus.PREPARING}
            assert not any(p.tracking_number or p.shipped_at for p in order.parcels)
        elif order.status in ARRIVED:
            assert statuses == {ParcelStatus.DELIVERED}
        elif order.status is OrderStatus.CANCELLED:
            assert statuses == set()
        elif order.status is OrderStatus.SHIPPED:
            assert statuses
            assert statuses != {ParcelStatus.DELIVERED}
        for parcel in order.parcels:
            came = parcel.status is ParcelStatus.DELIVERED
            assert (parcel.delivered_at is not None) == came
        every = [position for parcel in order.parcels for position in parcel.contents]
        expected = [] if order.status is OrderStatus.CANCELLED else list(range(len(order.lines)))
        assert sorted(every) == expected, order


@THOROUGHLY
@given(now=MOMENTS, seed=st.integers(0, 10**6))
def test_orders_any_day_lateness_is_meant(now, seed):
    """Only stories of trouble are late: what is under way in time stays so on any calendar."""
    late = Counter()
    for order in orders_at(now, seed=seed):
        parcels = [ParcelDates(p.status, p.promised_on, p.delivered_at) for p in order.parcels]
        late[order.status] += sum_up_delivery(order.status, parcels, now, SHOP.zone).is_late
    # 12 late, 3 held up, 4 lost, 2 lost and paid back, and order 1042.
    assert late[OrderStatus.SHIPPED] == 22
    assert late[OrderStatus.DELIVERED] == 14
    assert late.total() == 36


@THOROUGHLY
@given(now=MOMENTS, seed=st.integers(0, 10**6))
def test_orders_any_day_money_adds_up(now, seed):
    for order in orders_at(now, seed=seed):
        paid = money_in(order, PaymentKind.PAYMENT)
        back = money_in(order, PaymentKind.REFUND)
        goods = sum_of((line.total for line in order.lines), order.currency)
        assert order.total == goods + order.fee
        assert all(line.price.minor > 0 for line in order.lines)
        if order.status is OrderStatus.CANCELLED:
            assert back == paid
            assert paid <= order.total  # the part on a card was only held
        else:
            assert paid == order.total
            assert back <= paid
        _check_refunds_go_back_where_they_came_from(order)


def _check_refunds_go_back_where_they_came_from(order: OrderFacts) -> None:
    taken, returned = Counter(), Counter()
    for payment in order.payments:
        book = returned if payment.kind is PaymentKind.REFUND else taken
        if payment.status is not PaymentStatus.FAILED:
            book[payment.method.key] += payment.amount.minor
    assert all(returned[method] <= taken[method] for method in returned), order
    references = [payment.reference for payment in order.payments]
    assert len(references) == len(set(references))


@pytest.mark.parametrize("now", [THURSDAY, *HARD_MOMENTS])
def test_tracking_numbers_fit_their_carriers_and_tell_the_truth(now):
    carriers = {carrier.name: carrier for carrier in SHOP.carriers}
    simulated = SimulatedCarrier(faults=Faults)
    seen = set()
    for order in orders_at(now):
        for parcel in order.parcels:
            if not parcel.tracking_number:
                continue
            carrier = carriers[parcel.carrier]
            assert re.fullmatch(carrier.tracking_pattern, parcel.tracking_number)
            assert order.address.country in carrier.countries
            report = simulated.track(parcel.carrier, parcel.tracking_number, timeout=1)
            assert report.status is parcel.status
            assert parcel.tracking_number not in seen
            seen.add(parcel.tracking_number)


def test_orders_are_paid_in_their_regions_currency():
    regions = {"US": "USD", "JP": "JPY"}
    for order in orders_at(THURSDAY):
        assert order.currency == regions.get(order.address.country, "EUR")
        for line in order.lines:
            _, variant = SHOP.variant(line.sku)
            assert line.price == variant.prices[order.currency]


def test_fees_follow_the_shops_terms():
    """Free from the threshold on, never for large items, and dearer by express."""
    seen = Counter()
    for order in orders_at(THURSDAY):
        terms = SHOP.terms[order.currency]
        service = order.metadata["shipping"]["service"]
        seen[service] += 1
        if any(line.is_large for line in order.lines):
            assert (service, order.fee) == ("Large item", terms.large_item.price)
        elif service == "Express":
            assert order.fee == terms.express.price
        else:
            free = terms.standard.free_from <= order.goods
            assert order.fee == (Money(0, order.currency) if free else terms.standard.price)
        assert order.metadata["shipping"]["fee_minor"] == order.fee.minor
    assert set(seen) == {"Standard", "Express", "Large item"}


def test_wallets_hold_a_way_to_pay_beside_gift_cards():
    wallets = make_wallets(SHOP)
    assert set(wallets) == {person.email for person in SHOP.people}
    keys = [method.key for wallet in wallets.values() for method in wallet]
    assert len(keys) == len(set(keys))
    for wallet in wallets.values():
        assert any(method.kind is not MethodKind.GIFT_CARD for method in wallet)
        for method in wallet:
            assert (method.balance is not None) == (method.kind is MethodKind.GIFT_CARD)
            assert re.fullmatch(r"|\d{4}", method.last_four)


def test_payment_facts_are_of_one_currency():
    payments: list[PaymentFacts] = [p for order in orders_at(THURSDAY) for p in order.payments]
    owners = {p: order for order in orders_at(THURSDAY) for p in order.payments}
    assert all(payment.amount.currency == owners[payment].currency for payment in payments)
