"""Business days and hours of the demo shop, on its own calendar."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from random import Random
from zoneinfo import ZoneInfo

_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Hours:
    """Hours on the shop's clock within which something happens in a region: first and last."""

    placing: tuple[int, int]  # in time for that day's dispatch
    evening: tuple[int, int]  # too late for it
    leaving: tuple[int, int]
    arriving: tuple[int, int]


# Working hours in Columbus and Saitama as the clock in Utrecht shows them. None falls into the
# night in which clocks change, so every moment exists exactly once.
HOURS: Mapping[str, Hours] = {
    "EUR": Hours(placing=(7, 13), evening=(15, 22), leaving=(15, 17), arriving=(9, 19)),
    "USD": Hours(placing=(13, 19), evening=(20, 23), leaving=(20, 22), arriving=(15, 22)),
    "JPY": Hours(placing=(3, 5), evening=(8, 14), leaving=(6, 8), arriving=(4, 9)),
}


@dataclass(frozen=True, slots=True)
class Calendar:
    """The shop's days: which are worked, and what moment an hour of them is."""

    zone: ZoneInfo
    holidays: frozenset[tuple[int, int]] = frozenset()

    def is_worked(self, day: date) -> bool:
        return day.weekday() < 5 and (day.month, day.day) not in self.holidays

    def after(self, day: date, business_days: int) -> date:
        """Return the day that many business days later."""
        return self._step(day, business_days, _DAY)

    def before(self, day: date, business_days: int) -> date:
        return self._step(day, business_days, -_DAY)

    def latest_worked(self, day: date) -> date:
        """Return the day itself if it is worked, else the last one before it that is."""
        while not self.is_worked(day):
            day -= _DAY
        return day

    def moment(self, day: date, hours: tuple[int, int], rng: Random) -> datetime:
        """Return a random moment of a day within the hours, to the minute, in UTC."""
        minute = rng.randint(hours[0] * 60, hours[1] * 60 + 59)
        wall = time(minute // 60, minute % 60)
        return datetime.combine(day, wall, self.zone).astimezone(UTC)

    def start_of(self, day: date) -> datetime:
        return datetime.combine(day, time.min, self.zone).astimezone(UTC)

    def _step(self, day: date, business_days: int, step: timedelta) -> date:
        while business_days:
            day += step
            business_days -= self.is_worked(day)
        return day
