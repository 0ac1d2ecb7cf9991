from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orders.errors import InvalidDate, StatusNotAllowed
from orders.rules import (
    STATUS_TEXT,
    TRANSITIONS,
    Delivery,
    OrderStatus,
    Parcel,
    ParcelStatus,
    can_become,
    check_can_become,
    day_bounds,
    days_late,
    is_proof,
    is_return_window_open,
    local_day,
    order_key,
    read_day,
    return_window_last_day,
    status_text,
    sum_up_delivery,
)

LOS_ANGELES = ZoneInfo("America/Los_Angeles")
AUCKLAND = ZoneInfo("Pacific/Auckland")
AMSTERDAM = ZoneInfo("Europe/Amsterdam")
NEW_YORK = ZoneInfo("America/New_York")
ZONES = st.sampled_from(
    [LOS_ANGELES, AUCKLAND, AMSTERDAM, NEW_YORK, ZoneInfo("Asia/Kolkata"), ZoneInfo("UTC")]
)
MOMENTS = st.integers(1_577_836_800, 2_051_222_400).map(lambda at: datetime.fromtimestamp(at, UTC))
NOON = datetime(2026, 10, 15, 12, tzinfo=UTC)
DELIVERED, SHIPPED = OrderStatus.DELIVERED, OrderStatus.SHIPPED


# --- States -----------------------------------------------------------------------------------
def test_transitions_name_every_status() -> None:
    assert set(TRANSITIONS) == set(OrderStatus)
    assert set(STATUS_TEXT) == set(OrderStatus)


def test_every_status_is_reached_from_pending() -> None:
    reached, edge = {OrderStatus.PENDING}, {OrderStatus.PENDING}
    while edge:
        edge = set().union(*(TRANSITIONS[status] for status in edge)) - reached
        reached |= edge
    assert reached == set(OrderStatus)


@pytest.mark.parametrize(
    ("current", "wanted", "allowed"),
    [
        ("pending", "cancelled", True),
        ("pending", "items_changed", True),
        ("items_changed", "cancelled", False),  # after its one change it stays as it is
        ("items_changed", "items_changed", False),
        ("processed", "cancelled", False),
        ("shipped", "cancelled", False),
        ("delivered", "cancelled", False),
        ("delivered", "return_requested", True),
        ("delivered", "exchange_requested", True),
        ("return_requested", "return_requested", False),
        ("return_requested", "exchange_requested", False),
        ("cancelled", "pending", False),
        ("returned", "delivered", False),
    ],
)
def test_status_change_follows_the_table(current: str, wanted: str, allowed: bool) -> None:
    assert can_become(OrderStatus(current), OrderStatus(wanted)) is allowed


def test_status_change_outside_the_table_is_refused() -> None:
    with pytest.raises(StatusNotAllowed) as caught:
        check_can_become(OrderStatus.CANCELLED, OrderStatus.PENDING)
    assert caught.value.code == "status_not_allowed"


# --- Order numbers ----------------------------------------------------------------------------
@pytest.mark.parametrize(
    "spelling",
    [
        "1042",
        "#1042",
        " 1042 ",
        "ORD-1042",
        "ord 1042",
        "Order #1042",
        "10–42",
        "１０４２",
        "1042\x00",
    ],
)
def test_order_key_of_any_spelling_is_one(spelling: str) -> None:
    assert order_key(spelling) == "1042"


@pytest.mark.parametrize("spelling", ["#W2611340", "w2611340", "W-261 1340", "order W2611340"])
def test_order_key_keeps_letters_without_case(spelling: str) -> None:
    assert order_key(spelling) == "w2611340"


@pytest.mark.parametrize(("one", "other"), [("1042", "1024"), ("W1042", "1042"), ("1042", "10420")])
def test_order_key_keeps_different_numbers_apart(one: str, other: str) -> None:
    assert order_key(one) != order_key(other)


@pytest.mark.parametrize("nothing", ["", "#", " - ", "\x00\x07"])
def test_order_key_of_nothing_is_empty(nothing: str) -> None:
    assert order_key(nothing) == ""


@given(st.text(max_size=60))
def test_order_key_is_safe_to_look_up(text: str) -> None:
    key = order_key(text)
    assert not set(key) & set("# -\x00")
    assert not any(char.isspace() for char in key)
    key.encode()  # no lone surrogates


@given(st.text(alphabet="0123456789ABCDEFabcdef", min_size=1, max_size=12), st.data())
def test_order_key_ignores_marks_anywhere(number: str, data: st.DataObject) -> None:
    marks = st.text(alphabet="#- ", max_size=2)
    spelled = "".join(data.draw(marks) + char for char in number)
    assert order_key(spelled) == order_key(number)


# --- Proof by e-mail --------------------------------------------------------------------------
@pytest.mark.parametrize("given_email", ["Ada@Example.com", " ada@example.com ", "ADA@EXAMPLE.COM"])
def test_proof_by_the_orders_email_in_any_case_holds(given_email: str) -> None:
    assert is_proof(stored_email="ada@example.com", given_email=given_email)


@pytest.mark.parametrize(
    ("stored", "given_email"),
    [
        ("ada@example.com", "eve@example.com"),
        ("ada@example.com", ""),
        ("", ""),  # an order without an e-mail is proved by nothing
        (None, ""),
        (None, "ada@example.com"),
        ("ada@example.com", "ada@example.com.evil.example"),
        ("ada@example.com", "ada\ud800@example.com"),
    ],
)
def test_proof_by_anything_else_fails(stored: str | None, given_email: str) -> None:
    assert not is_proof(stored_email=stored, given_email=given_email)


# --- Days -------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "text", ["", "30.11.2026", "2026-02-30", "2026-1-1", "Monday", "2026-11-301"]
)
def test_day_in_another_form_is_refused(text: str) -> None:
    with pytest.raises(InvalidDate):
        read_day(text)


def test_day_in_iso_form_is_read() -> None:
    assert read_day(" 2026-11-30 ") == date(2026, 11, 30)


@pytest.mark.parametrize(
    ("day", "zone", "hours"),
    [
        (date(2026, 10, 15), AMSTERDAM, 24),
        (date(2026, 3, 29), AMSTERDAM, 23),
        (date(2026, 10, 25), AMSTERDAM, 25),
        (date(2026, 3, 8), NEW_YORK, 23),
        (date(2026, 11, 1), NEW_YORK, 25),
    ],
)
def test_day_bounds_follow_the_clock_change(day: date, zone: ZoneInfo, hours: int) -> None:
    start, end = day_bounds(day, zone)
    assert (end.astimezone(UTC) - start.astimezone(UTC)) == timedelta(hours=hours)
    assert local_day(start, zone) == day
    assert local_day(end - timedelta(microseconds=1), zone) == day


@pytest.mark.parametrize("day", [date.min, date.max])
def test_day_at_the_end_of_the_calendar_is_refused(day: date) -> None:
    with pytest.raises(InvalidDate):
        day_bounds(day, AMSTERDAM)


def test_moment_without_zone_is_refused() -> None:
    with pytest.raises(ValueError):
        local_day(datetime(2026, 1, 1), AMSTERDAM)  # noqa: DTZ001 - the point of the test


@pytest.mark.parametrize(
    ("promised", "delivered", "now", "zone", "late"),
    [
        (None, None, NOON, AMSTERDAM, None),
        (date(2026, 10, 15), None, NOON, AMSTERDAM, 0),
        (date(2026, 10, 14), None, NOON, AMSTERDAM, 1),
        (date(2026, 10, 5), None, NOON, AMSTERDAM, 10),
        (date(2026, 10, 20), None, NOON, AMSTERDAM, 0),
        # Delivered in time stays in time, however long ago.
        (date(2026, 9, 1), datetime(2026, 9, 1, 18, tzinfo=UTC), NOON, AMSTERDAM, 0),
        (date(2026, 9, 1), datetime(2026, 9, 4, 18, tzinfo=UTC), NOON, AMSTERDAM, 3),
        # 22:30 UTC is half past midnight of the next day in Amsterdam.
        (date(2026, 9, 1), datetime(2026, 9, 1, 22, 30, tzinfo=UTC), NOON, AMSTERDAM, 1),
        # The evening of the 15th in Los Angeles is the 16th in UTC.
        (date(2026, 9, 15), datetime(2026, 9, 16, 3, tzinfo=UTC), NOON, LOS_ANGELES, 0),
        # Half past midnight of the 15th in Auckland is the 14th in UTC.
        (date(2026, 1, 14), datetime(2026, 1, 14, 11, 30, tzinfo=UTC), NOON, AUCKLAND, 1),
        # Across the clock change, 24-hour arithmetic would say 0 or 2.
        (date(2026, 10, 24), datetime(2026, 10, 25, 22, 59, tzinfo=UTC), NOON, AMSTERDAM, 1),
        (date(2026, 3, 28), datetime(2026, 3, 29, 21, 59, tzinfo=UTC), NOON, AMSTERDAM, 1),
    ],
)
def test_days_late_count_on_the_shops_calendar(
    promised: date | None,
    delivered: datetime | None,
    now: datetime,
    zone: ZoneInfo,
    late: int | None,
) -> None:
    assert days_late(promised, delivered, now, zone) == late


@given(st.dates(date(2020, 1, 2), date(2034, 1, 1)), MOMENTS, ZONES)
def test_days_late_grow_by_one_a_calendar_day(
    promised: date, now: datetime, zone: ZoneInfo
) -> None:
    late = days_late(promised, None, now, zone)
    assert late is not None
    assert late >= 0
    assert (late > 0) == (local_day(now, zone) > promised)
    next_day = day_bounds(local_day(now, zone), zone)[1]
    later = days_late(promised, None, next_day, zone)
    assert later == late + 1 or local_day(next_day, zone) <= promised


# --- Return window ----------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("delivered", "zone", "last"),
    [
        (datetime(2026, 9, 15, 20, tzinfo=LOS_ANGELES), LOS_ANGELES, date(2026, 10, 15)),
        (datetime(2026, 1, 15, 0, 30, tzinfo=AUCKLAND), AUCKLAND, date(2026, 2, 14)),
        (datetime(2026, 10, 1, 23, 59, tzinfo=AMSTERDAM), AMSTERDAM, date(2026, 10, 31)),
        (datetime(2026, 1, 30, 12, tzinfo=AMSTERDAM), AMSTERDAM, date(2026, 3, 1)),
    ],
)
def test_return_window_counts_from_the_local_day(
    delivered: datetime, zone: ZoneInfo, last: date
) -> None:
    in_utc = delivered.astimezone(UTC)
    assert return_window_last_day(in_utc, 30, zone) == last
    before_midnight = datetime(last.year, last.month, last.day, 23, 59, 59, tzinfo=zone)
    midnight = day_bounds(last, zone)[1]
    assert is_return_window_open(in_utc, 30, before_midnight.astimezone(UTC), zone) is True
    assert is_return_window_open(in_utc, 30, midnight.astimezone(UTC), zone) is False


@pytest.mark.parametrize(("delivered", "days"), [(None, 30), (NOON, None), (None, None)])
def test_return_window_without_facts_is_unknown(
    delivered: datetime | None, days: int | None
) -> None:
    assert return_window_last_day(delivered, days, AMSTERDAM) is None
    assert is_return_window_open(delivered, days, NOON, AMSTERDAM) is None


@given(MOMENTS, st.integers(0, 400), ZONES, st.integers(0, 500 * 24 * 60))
def test_return_window_is_open_until_it_shuts_for_good(
    delivered: datetime, days: int, zone: ZoneInfo, minutes: int
) -> None:
    last = return_window_last_day(delivered, days, zone)
    assert last is not None
    shuts = day_bounds(last, zone)[1]
    now = delivered + timedelta(minutes=minutes)
    assert is_return_window_open(delivered, days, now, zone) is (now < shuts)


# --- Whole orders -----------------------------------------------------------------------------
def parcel(status: str, promised: int | None = None, arrived: int | None = None) -> Parcel:
    return Parcel(
        ParcelStatus(status),
        date(2026, 10, promised) if promised else None,
        datetime(2026, 10, arrived, 12, tzinfo=UTC) if arrived else None,
    )


@pytest.mark.parametrize(
    ("status", "parcels", "expected"),
    [
        (SHIPPED, [], (None, None, None)),
        (SHIPPED, [parcel("in_transit", 5)], (5, None, 10)),
        (SHIPPED, [parcel("lost", 5)], (5, None, 10)),
        (DELIVERED, [parcel("delivered", 5, 7)], (5, 7, 2)),
        # Complete with the last parcel, late as the latest.
        (SHIPPED, [parcel("delivered", 5, 9), parcel("in_transit", 14)], (14, None, 4)),
        (DELIVERED, [parcel("delivered", 5, 5), parcel("delivered", 8, 9)], (8, 9, 1)),
        # An arrival without a recorded moment is neither late nor in time.
        (DELIVERED, [parcel("delivered", 5)], (5, None, None)),
        (DELIVERED, [parcel("delivered")], (None, None, None)),
        # Nothing is awaited any more.
        (OrderStatus.CANCELLED, [parcel("preparing", 5)], (5, None, None)),
        (OrderStatus.RETURNED, [parcel("returned", 5, 7)], (5, 7, None)),
    ],
)
def test_delivery_of_an_order_sums_up_its_parcels(
    status: OrderStatus, parcels: list[Parcel], expected: tuple[int | None, int | None, int | None]
) -> None:
    delivery = sum_up_delivery(status, parcels, NOON, AMSTERDAM)
    promised, arrived, late = expected
    assert delivery == Delivery(
        promised_on=date(2026, 10, promised) if promised else None,
        delivered_at=datetime(2026, 10, arrived, 12, tzinfo=UTC) if arrived else None,
        days_late=late,
    )
    assert delivery.is_late is bool(late)


@pytest.mark.parametrize(
    ("status", "parcels", "text"),
    [
        (OrderStatus.PENDING, [], "Received, not packed yet"),
        (SHIPPED, [parcel("in_transit", 20)], "On its way"),
        (SHIPPED, [parcel("in_transit", 5)], "On its way, 10 days late"),
        (SHIPPED, [parcel("in_transit", 14)], "On its way, 1 day late"),
        (SHIPPED, [parcel("lost", 14)], "On its way, 1 day late, 1 parcel is lost"),
        (
            SHIPPED,
            [parcel("delivered", 20, 14), parcel("held_up", 20)],
            "On its way, 1 of 2 parcels delivered, 1 parcel is held up at the carrier",
        ),
        (DELIVERED, [parcel("delivered", 5, 7)], "Delivered, 2 days late"),
        (OrderStatus.CANCELLED, [parcel("lost", 5)], "Cancelled"),
    ],
)
def test_status_text_says_what_matters(
    status: OrderStatus, parcels: list[Parcel], text: str
) -> None:
    delivery = sum_up_delivery(status, parcels, NOON, AMSTERDAM)
    assert status_text(status, parcels, delivery) == text
