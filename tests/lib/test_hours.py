from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsupport.lib.hours import (
    HoursError,
    check_hours,
    describe_next_opening,
    is_open,
    next_opening,
)

AMSTERDAM = ZoneInfo("Europe/Amsterdam")
NEW_YORK = ZoneInfo("America/New_York")
WEEK = {day: [["09:00", "17:00"]] for day in ("mon", "tue", "wed", "thu", "fri")}
SPLIT = {"mon": [["09:00", "12:30"], ["13:30", "17:00"]]}
CHRISTMAS = [
    {"month": 12, "day": 25, "name": "Christmas Day"},
    {"month": 12, "day": 26, "name": "Boxing Day"},
]


def local(text: str, zone: ZoneInfo = AMSTERDAM) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=zone)


@pytest.mark.parametrize(
    ("at", "opened"),
    [
        ("2026-10-12 08:59:59", False),
        ("2026-10-12 09:00", True),
        ("2026-10-12 16:59:59", True),
        ("2026-10-12 17:00", False),
        ("2026-10-17 12:00", False),
    ],
)
def test_open_from_the_first_minute_until_the_last(at, opened):
    assert is_open(WEEK, [], local(at), AMSTERDAM) is opened


def test_open_is_told_in_the_shops_own_zone():
    moment = datetime(2026, 10, 12, 14, 0, tzinfo=UTC)  # 16:00 in Amsterdam, 10:00 in New York
    assert is_open({"mon": [["15:30", "16:30"]]}, [], moment, AMSTERDAM)
    assert not is_open({"mon": [["15:30", "16:30"]]}, [], moment, NEW_YORK)


@pytest.mark.parametrize(
    ("at", "opened", "next_at"),
    [
        ("2026-10-12 12:29", True, "2026-10-12 12:29"),
        ("2026-10-12 12:30", False, "2026-10-12 13:30"),
        ("2026-10-12 13:30", True, "2026-10-12 13:30"),
        ("2026-10-12 17:00", False, "2026-10-19 09:00"),
    ],
)
def test_several_spans_a_day_have_a_break(at, opened, next_at):
    assert is_open(SPLIT, [], local(at), AMSTERDAM) is opened
    assert next_opening(SPLIT, [], local(at), AMSTERDAM) == local(next_at)


def test_span_past_midnight_belongs_to_the_day_it_starts_on():
    hours = {"fri": [["22:00", "02:00"]]}
    assert is_open(hours, [], local("2026-10-17 01:59"), AMSTERDAM)
    assert not is_open(hours, [], local("2026-10-17 02:00"), AMSTERDAM)
    assert not is_open(hours, [], local("2026-10-16 01:00"), AMSTERDAM)


def test_span_until_midnight_and_around_the_clock():
    hours = {"mon": [["00:00", "24:00"]], "tue": [["09:00", "24:00"]]}
    assert is_open(hours, [], local("2026-10-12 00:00"), AMSTERDAM)
    assert is_open(hours, [], local("2026-10-12 23:59:59"), AMSTERDAM)
    assert not is_open(hours, [], local("2026-10-13 00:00"), AMSTERDAM)
    assert is_open(hours, [], local("2026-10-13 23:59:59"), AMSTERDAM)
    assert not is_open(hours, [], local("2026-10-14 00:00"), AMSTERDAM)


def test_holiday_closes_the_day_every_year():
    for year in (2025, 2028):
        christmas = local(f"{year}-12-25 10:00")
        assert not is_open(WEEK, CHRISTMAS, christmas, AMSTERDAM)
    assert is_open(WEEK, CHRISTMAS, local("2025-12-24 10:00"), AMSTERDAM)


def test_holiday_of_one_year_leaves_the_others_open():
    funeral = [{"month": 10, "day": 12, "year": 2026, "name": "Closed"}]
    assert not is_open(WEEK, funeral, local("2026-10-12 10:00"), AMSTERDAM)
    assert is_open(WEEK, funeral, local("2027-10-12 10:00"), AMSTERDAM)


@pytest.mark.parametrize(
    ("at", "text"),
    [
        ("2026-10-12 10:00", ""),
        ("2026-10-12 08:15", "today 9:00"),
        ("2026-10-12 17:00", "tomorrow 9:00"),
        ("2026-10-16 17:00", "Monday 9:00"),
        ("2026-10-17 23:59", "Monday 9:00"),
        ("2026-10-18 10:00", "tomorrow 9:00"),
        ("2026-12-24 17:00", "Monday 9:00"),
        ("2026-12-25 10:00", "Monday 9:00"),
    ],
)
def test_next_opening_is_said_as_people_do(at, text):
    assert describe_next_opening(WEEK, CHRISTMAS, local(at), AMSTERDAM) == text


def test_next_opening_days_away_is_a_date():
    hours = {"mon": [["09:30", "12:00"]]}
    assert (
        describe_next_opening(hours, [], local("2026-10-12 12:00"), AMSTERDAM) == "19 October 9:30"
    )
    assert describe_next_opening(hours, [], local("2026-10-13 12:00"), AMSTERDAM) == "Monday 9:30"


def test_next_opening_of_a_shop_that_never_opens_is_none():
    assert next_opening({}, [], local("2026-10-12 10:00"), AMSTERDAM) is None
    assert describe_next_opening({}, [], local("2026-10-12 10:00"), AMSTERDAM) == ""
    every_day = [
        {"month": day.month, "day": day.day}
        for day in (date(2028, 1, 1) + timedelta(days=n) for n in range(366))
    ]
    assert next_opening(WEEK, every_day, local("2026-10-12 10:00"), AMSTERDAM) is None


def test_next_opening_keeps_wall_time_over_a_clock_change():
    # Clocks go back on 25 October 2026 and forward on 28 March 2027.
    autumn = next_opening(WEEK, [], local("2026-10-23 18:00"), AMSTERDAM)
    assert autumn is not None
    assert autumn.isoformat() == "2026-10-26T09:00:00+01:00"
    spring = next_opening(WEEK, [], local("2027-03-26 18:00"), AMSTERDAM)
    assert spring is not None
    assert spring.isoformat() == "2027-03-29T09:00:00+02:00"


def test_open_span_over_the_repeated_hour_lasts_an_hour_longer():
    hours = {"sun": [["01:00", "02:30"]]}
    first = datetime(2026, 10, 24, 23, 0, tzinfo=UTC)  # 01:00 summer time
    last = datetime(2026, 10, 25, 1, 30, tzinfo=UTC)  # 02:30 winter time
    assert not is_open(hours, [], first - timedelta(seconds=1), AMSTERDAM)
    assert is_open(hours, [], first, AMSTERDAM)
    assert is_open(hours, [], last - timedelta(seconds=1), AMSTERDAM)
    assert not is_open(hours, [], last, AMSTERDAM)


def test_open_span_over_the_missing_hour_ends_in_time():
    hours = {"sun": [["01:00", "03:30"]]}
    end = datetime(2027, 3, 28, 1, 30, tzinfo=UTC)  # 03:30 summer time
    assert is_open(hours, [], end - timedelta(seconds=1), AMSTERDAM)
    assert not is_open(hours, [], end, AMSTERDAM)


def test_open_start_in_the_missing_hour_still_opens():
    hours = {"sun": [["02:30", "06:00"]]}
    opening = next_opening(hours, [], local("2027-03-28 00:00"), AMSTERDAM)
    assert opening is not None
    assert opening.astimezone(UTC) == datetime(2027, 3, 28, 1, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("hours", "holidays"),
    [
        ({"monday": []}, []),
        ({"mon": [["9", "17:00"]]}, []),
        ({"mon": [["09:00", "25:00"]]}, []),
        ({"mon": [["09:00"]]}, []),
        ({"mon": [["09:00", "09:00"]]}, []),
        ({"mon": [["24:00", "09:00"]]}, []),
        ({}, [{"month": 13, "day": 1}]),
        ({}, [{"month": 2, "day": 30}]),
        ({}, [{"day": 1}]),
    ],
)
def test_hours_that_make_no_sense_are_refused(hours, holidays):
    with pytest.raises(HoursError):
        check_hours(hours, holidays)


def test_hours_that_make_sense_pass():
    check_hours({**SPLIT, "sat": [], "sun": [["22:00", "02:00"]]}, CHRISTMAS)
    check_hours({}, [{"month": 2, "day": 29, "name": "Leap day"}])


moments = st.integers(0, 3 * 366 * 24 * 60).map(
    lambda ahead: datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=ahead)
)
minutes = st.integers(0, 24 * 60 - 1)


def spans(start: int, length: int) -> list[str]:
    end = (start + length) % (24 * 60)
    return [f"{start // 60:02d}:{start % 60:02d}", f"{end // 60:02d}:{end % 60:02d}"]


weeks = st.dictionaries(
    st.sampled_from(["mon", "tue", "wed", "thu", "fri", "sat", "sun"]),
    st.lists(st.builds(spans, minutes, st.integers(1, 24 * 60 - 1)), max_size=2),
)


@given(weeks, moments, st.sampled_from([AMSTERDAM, NEW_YORK, ZoneInfo("Australia/Lord_Howe")]))
def test_next_opening_is_open_and_nothing_opens_before(hours, now, zone):
    opening = next_opening(hours, CHRISTMAS, now, zone)
    if opening is None:
        assert not any(hours.values())
        return
    assert opening >= now
    assert is_open(hours, CHRISTMAS, opening, zone)
    if opening > now:
        for part in range(20):
            between = now + (opening - now) * part / 20
            assert not is_open(hours, CHRISTMAS, between, zone)
