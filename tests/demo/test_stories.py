from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dsupport.demo.source import read_shop
from dsupport.demo.stories import STORIES, last_monday
from orders.rules import (
    OrderStatus,
    ParcelStatus,
    days_late,
    is_return_window_open,
    local_day,
)
from tests.demo.shop import HARD_MOMENTS, THURSDAY, stories_at

ZONE = read_shop().zone
MOMENTS = st.datetimes(datetime(2021, 1, 1), datetime(2046, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001


def on_any_day(test):
    """Run a test at the moments that have broken calendars before, and at many others."""
    for moment in HARD_MOMENTS:
        test = example(now=moment)(test)
    return settings(max_examples=60, deadline=None)(given(now=MOMENTS)(test))


@on_any_day
def test_1042_is_in_transit_and_ten_days_late(now):
    order = stories_at(now)["1042"]
    (parcel,) = order.parcels
    today = local_day(now, ZONE)
    assert (order.status, parcel.status) == (OrderStatus.SHIPPED, ParcelStatus.IN_TRANSIT)
    assert parcel.promised_on == today - timedelta(days=10)
    assert days_late(parcel.promised_on, None, now, ZONE) == 10
    assert order.currency == "EUR"


@on_any_day
def test_1043_and_1044_lie_on_either_side_of_the_window(now):
    told = stories_at(now)
    inside, outside = told["1043"].parcels[0], told["1044"].parcels[0]
    today = local_day(now, ZONE)
    assert local_day(inside.delivered_at, ZONE) == today - timedelta(days=5)
    assert local_day(outside.delivered_at, ZONE) == today - timedelta(days=45)
    assert is_return_window_open(inside.delivered_at, 30, now, ZONE)
    assert not is_return_window_open(outside.delivered_at, 30, now, ZONE)


@on_any_day
def test_1045_was_placed_today(now):
    order = stories_at(now)["1045"]
    assert order.status is OrderStatus.PENDING
    assert local_day(order.placed_at, ZONE) == local_day(now, ZONE)
    assert order.placed_at <= now


@on_any_day
def test_1048_was_bought_last_monday_and_half_is_there(now):
    told = stories_at(now)
    order = told["1048"]
    mugs, bowl = order.parcels
    today, placed_on = local_day(now, ZONE), local_day(order.placed_at, ZONE)
    assert placed_on.weekday() == 0
    assert timedelta(0) < today - placed_on <= timedelta(days=7)
    assert (mugs.status, bowl.status) == (ParcelStatus.DELIVERED, ParcelStatus.IN_TRANSIT)
    assert order.placed_at < mugs.shipped_at < mugs.delivered_at <= now
    assert bowl.promised_on >= today
    assert order.currency == "USD"
    assert order.email == told["1042"].email
    assert local_day(told["1042"].placed_at, ZONE) != placed_on


def test_other_stories_are_as_told():
    told = stories_at(THURSDAY)
    assert told["1046"].status is OrderStatus.DELIVERED
    assert told["1046"].metadata["disputed"] == "not received"
    assert told["1047"].currency == "JPY"
    assert told["1047"].status is OrderStatus.DELIVERED
    assert [story.number for story in STORIES] == [str(n) for n in range(1042, 1049)]


@pytest.mark.parametrize(
    ("today", "monday"),
    [
        ("2026-11-29", "2026-11-23"),
        ("2026-11-30", "2026-11-23"),
        ("2026-12-01", "2026-11-30"),
        ("2027-01-02", "2026-12-28"),
    ],
)
def test_last_monday_is_before_today(today, monday):
    day = datetime.fromisoformat(today).date()
    assert last_monday(day).isoformat() == monday
