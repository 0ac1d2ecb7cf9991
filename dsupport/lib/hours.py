"""A shop's opening hours: is it open, and when does it open next? Pure; the time is an argument."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Any

Hours = Mapping[str, Sequence[Sequence[str]]]
Holidays = Sequence[Mapping[str, Any]]

_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_TIME = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)|24:00")
# Longer than any row of holidays; a shop that does not open within a year does not open.
_HORIZON = 366


class HoursError(ValueError):
    """Opening hours that cannot be read; the message says which part."""


def check_hours(hours: Hours, holidays: Holidays) -> None:
    """Raise `HoursError` when hours or holidays are not well formed."""
    for day, spans in hours.items():
        if day not in _DAYS:
            raise HoursError(f"{day!r} is no day; the days are {', '.join(_DAYS)}")
        for span in spans:
            _read_span(span)
    for holiday in holidays:
        try:
            date(2024, int(holiday["month"]), int(holiday["day"]))  # a leap year has every day
        except (KeyError, TypeError, ValueError) as error:
            raise HoursError(f"{dict(holiday)!r} is no holiday with a month and a day") from error


def is_open(hours: Hours, holidays: Holidays, now: datetime, zone: tzinfo) -> bool:
    """Tell whether the shop is open at this moment."""
    # A span that runs past midnight belongs to the day it starts on.
    first = now.astimezone(zone).date() - timedelta(days=1)
    return any(
        start <= now < end
        for day in (first, first + timedelta(days=1))
        for start, end in _spans(hours, holidays, day, zone)
    )


def next_opening(hours: Hours, holidays: Holidays, now: datetime, zone: tzinfo) -> datetime | None:
    """Return when the shop opens next, in its own zone: `now` when it is open, None when never."""
    if is_open(hours, holidays, now, zone):
        return now.astimezone(zone)
    if not any(hours.values()):
        return None
    today = now.astimezone(zone).date()
    for ahead in range(_HORIZON + 1):
        starts = [s for s, _ in _spans(hours, holidays, today + timedelta(days=ahead), zone)]
        later = [start for start in starts if start > now]
        if later:
            return min(later).astimezone(zone)
    return None


def describe_next_opening(hours: Hours, holidays: Holidays, now: datetime, zone: tzinfo) -> str:
    """Return when the shop opens next, as one says it: `tomorrow 9:00`, `Monday 9:00`.

    Within six days the weekday names the day; later the date does. Empty when it is open now or
    never opens.
    """
    opening = next_opening(hours, holidays, now, zone)
    if opening is None or is_open(hours, holidays, now, zone):
        return ""
    days = (opening.date() - now.astimezone(zone).date()).days
    clock = f"{opening.hour}:{opening.minute:02d}"
    if days == 0:
        return f"today {clock}"
    if days == 1:
        return f"tomorrow {clock}"
    if days <= 6:
        return f"{opening:%A} {clock}"
    return f"{opening.day} {opening:%B} {clock}"


def _spans(
    hours: Hours, holidays: Holidays, day: date, zone: tzinfo
) -> Iterator[tuple[datetime, datetime]]:
    """Give the opening spans that start on a day, as moments.

    Where the clock is put forward over a time, it counts as the moment it would have been; where
    it is put back, a span starts at the first occurrence and ends at the last.
    """
    if any(_falls_on(holiday, day) for holiday in holidays):
        return
    for span in hours.get(_DAYS[day.weekday()], ()):
        start, end = _read_span(span)
        starts_at = datetime.combine(day, _clock(start), zone)
        last_day = day + timedelta(days=1 if end <= start or end == 24 * 60 else 0)
        ends_at = datetime.combine(last_day, _clock(end), zone).replace(fold=1)
        yield starts_at.astimezone(UTC), ends_at.astimezone(UTC)


def _falls_on(holiday: Mapping[str, Any], day: date) -> bool:
    """Tell whether a holiday is on this day: every year, or in its `year` when it has one."""
    return (int(holiday["month"]), int(holiday["day"])) == (day.month, day.day) and int(
        holiday.get("year", day.year)
    ) == day.year


def _read_span(span: Sequence[str]) -> tuple[int, int]:
    if len(span) != 2:
        raise HoursError(f"{list(span)!r} is no span such as ['09:00', '17:00']")
    start, end = (_minutes(text) for text in span)
    if start == 24 * 60 or start == end:
        raise HoursError(f"{list(span)!r} has no length")
    return start, end


def _minutes(text: str) -> int:
    match = _TIME.fullmatch(text)
    if match is None:
        raise HoursError(f"{text!r} is no time such as 09:00")
    if match.group(1) is None:
        return 24 * 60
    return int(match.group(1)) * 60 + int(match.group(2))


def _clock(minutes: int) -> time:
    return time(minutes // 60 % 24, minutes % 60)
