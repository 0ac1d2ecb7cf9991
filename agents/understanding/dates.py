"""Days that customers name, as ranges of calendar days. Pure: today is an argument.

Most days that a customer of a shop names lie behind them, so a bare weekday or day of the month
is the last one before today.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta

_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
)  # fmt: skip
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_SMALL = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}
_SMALL |= {"seven": 7, "eight": 8, "nine": 9, "ten": 10, "couple of": 2, "a couple of": 2}
_SMALL |= {"few": 3, "a few": 3, "several": 4}
_MONTH = (
    r"jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
)
_WEEKDAY = r"monday|tuesday|wednesday|thursday|friday|saturday|sunday"
_SHORT_DAY = r"mon|tues?|wed|thur?s?|fri|sat|sun"  # "I sat" is no day, "on sat" is one
_COUNT = (
    r"\d{1,3}|a couple of|couple of|a few|few|several|an?|one|two|three|four|five|six|seven|eight"
    r"|nine|ten"
)


@dataclass(frozen=True, slots=True)
class DayRange:
    """The days from `start` to `end`, both included, and the words that named them."""

    start: date
    end: date
    text: str

    @property
    def is_day(self) -> bool:
        return self.start == self.end

    def holds(self, day: date) -> bool:
        return self.start <= day <= self.end


_Span = tuple[date, date]
_Reader = Callable[[re.Match[str], date], _Span | None]


def find_days(text: str, today: date) -> list[tuple[DayRange, int, int]]:
    """Return the days a text names, in its order, each with where it stands in the text."""
    found: list[tuple[DayRange, int, int]] = []
    taken: list[tuple[int, int]] = []
    for match, span in _read_all(text, today):
        start, end = match.span()
        if any(start < until and begin < end for begin, until in taken):
            continue
        taken.append((start, end))
        found.append((DayRange(*span, text=match.group().strip()), start, end))
    return sorted(found, key=lambda item: item[1])


def _read_all(text: str, today: date) -> Iterator[tuple[re.Match[str], _Span]]:
    for pattern, reader in _READERS:
        for match in pattern.finditer(text):
            try:
                span = reader(match, today)
            except (ValueError, OverflowError):
                continue
            if span is not None:
                yield match, span


def _day(value: date) -> _Span:
    return value, value


def _iso(match: re.Match[str], _today: date) -> _Span:
    return _day(date(int(match[1]), int(match[2]), int(match[3])))


def _month_number(name: str) -> int:
    return next(i for i, full in enumerate(_MONTHS, start=1) if full.startswith(name.lower()[:3]))


def _named(day: str, month: str, year: str | None, today: date) -> _Span:
    number = _month_number(month)
    if year:
        return _day(date(int(year), number, int(day)))
    value = date(today.year, number, int(day))
    # Without a year: mostly behind us, but a parcel may be promised for the next weeks.
    if (value - today).days > 60:
        value = date(today.year - 1, number, int(day))
    elif (today - value).days > 305:
        value = date(today.year + 1, number, int(day))
    return _day(value)


def _day_month(match: re.Match[str], today: date) -> _Span:
    return _named(match[1], match[2], match[3], today)


def _month_day(match: re.Match[str], today: date) -> _Span:
    return _named(match[2], match[1], match[3], today)


def _numeric(match: re.Match[str], today: date) -> _Span | None:
    """Read 12/10 or 12.10.2026: the day first, unless only the other way is a past day."""
    first, second = int(match[1]), int(match[2])
    year = int(match[3]) if match[3] else today.year
    year += 2000 if year < 100 else 0
    ways = []
    for day, month in ((first, second), (second, first)):
        if 1 <= month <= 12 and 1 <= day <= 31:
            value = date(year, month, day)
            if not match[3] and value > today:
                value = date(year - 1, month, day)
            ways.append(value)
    past = [value for value in ways if 0 <= (today - value).days <= 120]
    likeliest = past or ways
    return _day(likeliest[0]) if likeliest else None


def _near(match: re.Match[str], today: date) -> _Span:
    word = " ".join(match.group().lower().split())
    if "before yesterday" in word:
        return _day(today - timedelta(days=2))
    if "yesterday" in word or word == "last night":
        return _day(today - timedelta(days=1))
    if "tomorrow" in word:
        return _day(today + timedelta(days=1))
    return _day(today)


def _count(word: str) -> int:
    text = " ".join(word.lower().split())
    return int(text) if text.isdigit() else _SMALL[text]


def _ago(match: re.Match[str], today: date) -> _Span:
    count, unit = _count(match[1]), match[2].lower()
    vague = any(word in match[1].lower() for word in ("couple", "few", "several"))
    days = count * {"day": 1, "week": 7, "month": 30, "year": 365}[unit]
    slack = {"day": 2 if vague else 0, "week": 3, "month": 10, "year": 60}[unit]
    middle = today - timedelta(days=days)
    return middle - timedelta(days=slack), min(middle + timedelta(days=slack), today)


def _period(match: re.Match[str], today: date) -> _Span | None:
    which, unit = match[1].lower(), match[2].lower()
    monday = today - timedelta(days=today.weekday())
    last = which in {"last", "previous", "past"}
    if unit == "week":
        start = monday - timedelta(days=7 if last else 0)
        return start, start + timedelta(days=6)
    if unit == "weekend":
        saturday = monday + timedelta(days=5 - (7 if last or today.weekday() < 5 else 0))
        return saturday, saturday + timedelta(days=1)
    first = today.replace(day=1)
    if last:
        end = first - timedelta(days=1)
        return end.replace(day=1), end
    return first, today


def _weekday(match: re.Match[str], today: date) -> _Span | None:
    which = (match[1] or "").lower()
    target = next(i for i, full in enumerate(_WEEKDAYS) if full.startswith(match[2].lower()[:3]))
    if which in {"next", "coming", "this coming"}:
        return _day(today + timedelta(days=(target - today.weekday() - 1) % 7 + 1))
    back = (today.weekday() - target - 1) % 7 + 1
    return _day(today - timedelta(days=back))


def _ordinal(match: re.Match[str], today: date) -> _Span | None:
    number = int(match[1])
    value = today.replace(day=1)
    for _ in range(3):
        try:
            candidate = value.replace(day=number)
        except ValueError:
            candidate = None
        if candidate is not None and candidate <= today:
            return _day(candidate)
        value = (value - timedelta(days=1)).replace(day=1)
    return None


def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


# The longer and surer forms stand first; a later form never takes words of an earlier one.
_READERS: tuple[tuple[re.Pattern[str], _Reader], ...] = (
    (_compile(r"(?<!\d)(\d{4})-(\d{2})-(\d{2})(?!\d)"), _iso),
    (
        _compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?:\s+of)?\s+({_MONTH})\b\.?(?:,?\s+(\d{{4}}))?"),
        _day_month,
    ),
    (
        _compile(rf"\b({_MONTH})\b\.?\s+(\d{{1,2}})(?:st|nd|rd|th)?(?![\d:])(?:,?\s+(\d{{4}}))?"),
        _month_day,
    ),
    (_compile(r"(?<![\d/.])(\d{1,2})/(\d{1,2})(?:/(\d{4}|\d{2}))?(?![\d/])"), _numeric),
    (_compile(r"(?<![\d/.])(\d{1,2})\.(\d{1,2})\.(\d{4}|\d{2})?(?!\d)"), _numeric),
    (_compile(rf"\b({_COUNT})\s+(day|week|month|year)s?\s+(?:ago|back)\b"), _ago),
    (
        _compile(
            r"\b(?:(?:the\s+)?day before yesterday|yesterday|last night|tomorrow|today|tonight"
            r"|this (?:morning|afternoon|evening))\b"
        ),
        _near,
    ),
    (_compile(r"\b(last|previous|past|this)\s+(weekend|week|month)\b"), _period),
    (
        _compile(rf"\b(?:(last|this coming|this|next|coming|past)\s+)?({_WEEKDAY})s?\b(?!\s+to\s)"),
        _weekday,
    ),
    (_compile(rf"\b(last|this|next|on|since|by|until)\s+({_SHORT_DAY})\b"), _weekday),
    (
        _compile(r"\b(?:the|on)\s+(\d{1,2})(?:st|nd|rd|th)\b(?!\s+(?:time|floor|item|one))"),
        _ordinal,
    ),
)
