"""Which order a wish is about: the one named, the only one that fits, or a question back."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from agents.adapters.offline.asks import Ask
from agents.adapters.offline.behaviour import Pick
from agents.adapters.offline.findings import Facts, Findings, rows_of
from agents.adapters.offline.recall import last_order
from agents.adapters.offline.transcript import Turn
from agents.adapters.offline.words import content_stems
from agents.understanding.entities import same_order

MAX_NAMED = 5
_OPEN = frozenset({"pending", "items_changed", "processed", "shipped"})
_CHANGEABLE = frozenset({"pending", "items_changed", "processed"})
_CAME = frozenset({"delivered", "return_requested", "exchange_requested", "exchanged"})
_MONEY_BACK = frozenset({"cancelled", "returned", "return_requested"})
_NEWEST = frozenset({"last", "latest", "newest", "recent", "most"})


class State(StrEnum):
    UNKNOWN_ASKER = "unknown_asker"  # nobody is established, so there is nothing to look at
    FOUND = "found"
    LIST = "list"  # the orders have to be listed first
    WHICH = "which"  # several fit: ask
    NONE = "none"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Choice:
    """What is known of which order is meant. `day` is for which day the list is wanted.

    `empty_day` is the customer's word for a day that has no order, so that others are offered.
    """

    state: State
    number: str = ""
    day: str | None = None
    candidates: tuple[Facts, ...] = ()
    empty_day: str = ""


def choose_order(ask: Ask, turn: Turn, findings: Findings) -> Choice:
    """Return which order a wish is about, or what has to happen before that is known."""
    if not turn.is_known:
        return Choice(State.UNKNOWN_ASKER)
    if ask.order and not ask.other_order:
        return Choice(State.FOUND, ask.order)
    if len(turn.proved_orders) == 1 and not ask.other_order:
        return Choice(State.FOUND, turn.proved_orders[0])
    if "list_my_orders" not in turn.tools and "ask_orders" not in turn.tools:
        return Choice(State.FAILED)
    return _from_list(ask, turn, findings)


def _from_list(ask: Ask, turn: Turn, findings: Findings) -> Choice:
    day = _single_day(ask)
    listed = findings.orders(day)
    if listed is None:
        return Choice(State.LIST, day=day)
    if listed.is_error:
        return Choice(State.FAILED)
    rows = rows_of(listed)
    empty_day = ""
    if not rows and day is not None:
        everything = findings.orders(None)
        if everything is None:
            return Choice(State.LIST, day=None)
        rows, empty_day = rows_of(everything), ask.entities.days[0].text
    if not rows:
        return Choice(State.NONE)
    fitting = _narrow(rows, ask, turn)
    if len(fitting) == 1 and not empty_day:
        return Choice(State.FOUND, str(fitting[0]["number"]))
    if not fitting:
        return Choice(State.NONE, candidates=tuple(rows[:MAX_NAMED]))
    return Choice(State.WHICH, candidates=tuple(fitting[:MAX_NAMED]), empty_day=empty_day)


def _single_day(ask: Ask) -> str | None:
    days = [day for day in ask.entities.days if day.is_day]
    return days[0].start.isoformat() if len(days) == 1 and _is_purchase_day(ask) else None


def _is_purchase_day(ask: Ask) -> bool:
    """Tell whether a day that was named is the day of purchase and not of a promise."""
    return ask.intent not in {"late_delivery", "missing_parcel", "refund_status"}


def _narrow(rows: list[Facts], ask: Ask, turn: Turn) -> list[Facts]:
    """Return the orders that fit what was said, by days, by things, by state."""
    if ask.other_order:
        known = last_order(turn)
        others = [row for row in rows if not same_order(str(row["number"]), known)]
        return [row for row in others if _fits(row, ask.behaviour.pick)] or others
    rows = _by_days(rows, ask)
    named = _by_things(rows, ask.hints)
    if named:
        return [row for row in named if _fits(row, ask.behaviour.pick)] or named
    if _NEWEST & set(ask.hints.casefold().split()) and rows:
        return rows[:1]
    fitting = [row for row in rows if _fits(row, ask.behaviour.pick)]
    if len(fitting) == 1:
        return fitting
    if not fitting and ask.intent == "order_status":
        return rows[:1]  # nothing is on its way: how the newest order stands is the answer
    return fitting or rows


def _by_days(rows: list[Facts], ask: Ask) -> list[Facts]:
    if not ask.entities.days or not _is_purchase_day(ask):
        return rows
    fitting = [
        row
        for row in rows
        if any(
            day.holds(placed)
            for day in ask.entities.days
            if (placed := _day(row.get("placed_on"))) is not None
        )
    ]
    return fitting or rows


def _by_things(rows: list[Facts], words: str) -> list[Facts]:
    """Return the orders that hold most of the things that were named, if any does."""
    wanted = content_stems(words)
    shared = [len(wanted & content_stems(_things(row))) for row in rows]
    best = max(shared, default=0)
    return [row for row, count in zip(rows, shared, strict=True) if count == best] if best else []


def _things(row: Facts) -> str:
    items = row.get("items") or ()
    return " ".join(
        str(item.get("name", "")) if isinstance(item, dict) else str(item) for item in items
    )


def _fits(row: Facts, pick: Pick) -> bool:
    status = str(row.get("status", ""))
    late = bool(row.get("late")) and status in _OPEN
    checks = {
        Pick.OPEN: status in _OPEN,
        Pick.LATE: late,
        Pick.MISSING: late or status == "delivered",
        Pick.CHANGEABLE: status in _CHANGEABLE,
        Pick.DELIVERED: status in _CAME,
        Pick.REFUNDABLE: status in _CAME or late,
        Pick.MONEY_BACK: status in _MONEY_BACK,
        Pick.ANY: True,
    }
    return checks[pick]


def _day(value: object) -> date | None:
    try:
        return date.fromisoformat(str(value))
    except ValueError:
        return None
