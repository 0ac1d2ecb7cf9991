"""Whether approvals are still decisions: how fast, how often yes, how close together. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from statistics import median

RAPID = timedelta(seconds=5)
MANY = 20  # fewer decisions than this say nothing about a habit
ALWAYS = 0.98


@dataclass(frozen=True, slots=True)
class Decided:
    """One word of one person: when it was asked for, when they said it, and whether it was yes."""

    name: str
    asked_at: datetime
    at: datetime
    approved: bool


@dataclass(frozen=True, slots=True)
class Habit:
    """How one person decides. `median_wait` is from the request to their word; `rapid` counts
    approvals within five seconds of their decision before."""

    name: str
    decisions: int
    approved: int
    rapid: int
    median_wait: timedelta

    @property
    def share(self) -> float:
        return self.approved / self.decisions

    @property
    def warnings(self) -> list[str]:
        """Return what somebody should look at, in words."""
        found = []
        if self.rapid:
            found.append(f"approvals within {RAPID.seconds} s of another decision: {self.rapid}")
        if self.decisions >= MANY and self.share >= ALWAYS:
            found.append("nearly everything is approved")
        return found


def habits_of(words: Iterable[Decided]) -> list[Habit]:
    """Return the habits of everybody who decided, whoever decided most first."""
    by_name: dict[str, list[Decided]] = {}
    for word in words:
        by_name.setdefault(word.name, []).append(word)
    habits = [_habit(name, said) for name, said in by_name.items()]
    return sorted(habits, key=lambda habit: (-habit.decisions, habit.name))


def _habit(name: str, said: list[Decided]) -> Habit:
    said = sorted(said, key=lambda word: (word.at, word.approved))
    rapid = sum(later.approved and later.at - first.at < RAPID for first, later in pairwise(said))
    waits = [(word.at - word.asked_at).total_seconds() for word in said]
    return Habit(
        name=name,
        decisions=len(said),
        approved=sum(word.approved for word in said),
        rapid=rapid,
        median_wait=timedelta(seconds=median(waits)),
    )
