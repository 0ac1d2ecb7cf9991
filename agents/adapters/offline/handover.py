"""What is passed to a person: the reason, a summary of facts, and what the customer is told."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from agents.adapters.offline import phrases
from agents.adapters.offline.behaviour import Kind
from agents.adapters.offline.findings import Facts, Ticket
from agents.adapters.offline.orders_text import Standing, carrier_words
from agents.adapters.offline.quotes import Quote
from agents.adapters.offline.transcript import Turn
from agents.adapters.offline.words import clip, join_and, say_day, say_days

_SUMMARY = 1_900
_WORDS = 600
# When several wishes of one message need a person, one ticket carries the gravest reason.
_GRAVITY = ("complaint", "customer_request", "action_needed", "tool_failure", "no_answer")


@dataclass(frozen=True, slots=True)
class Need:
    """One matter for a person: why, what for, about which order, and what was found out."""

    reason: str
    wish: str
    order: str = ""
    details: tuple[str, ...] = ()
    decides: bool = False  # something would be changed or paid, and a person decides on it


def ticket_arguments(needs: list[Need], turn: Turn, words: str) -> dict[str, str | None]:
    """Return the arguments of the one ticket that carries all matters of a message."""
    reasons = sorted(needs, key=lambda need: _gravity(need.reason))
    lines = [phrases.SUMMARY_WISH.format(wish=join_and(_unique(need.wish for need in needs)))]
    lines += _unique(detail for need in needs for detail in need.details)
    said = clip(" ".join(words.split()), _WORDS)
    tail = phrases.SUMMARY_WORDS.format(words=said)
    room = _SUMMARY - len(tail) - 1
    order = next((need.order for need in reasons if need.order), "")
    return {
        "reason": reasons[0].reason,
        "summary": f"{clip(' '.join(lines), room)} {tail}",
        "order_number": order or None,
    }


def _gravity(reason: str) -> int:
    return _GRAVITY.index(reason) if reason in _GRAVITY else len(_GRAVITY)


def describe_for_staff(standing: Standing) -> tuple[str, ...]:
    """Return the facts of an order that save a person from looking them up."""
    facts = standing.facts
    total = f", {facts['total']}" if facts.get("total") else ""
    state = str(facts.get("status_text") or facts.get("status") or "unknown state")
    items = join_and([_item(item) for item in facts.get("items") or ()])
    lines = [
        phrases.SUMMARY_ORDER.format(
            number=facts.get("number", ""),
            state=state,
            total=total,
            items=f"; {items}" if items else "",
        )
    ]
    lines += _dated(phrases.SUMMARY_PLACED, facts, "placed_on")
    promised = say_day(facts.get("promised_on"))
    if promised and standing.is_awaited:
        late = f", {say_days(standing.days_late)} late" if standing.days_late else ""
        lines.append(phrases.SUMMARY_PROMISED.format(day=promised, late=late))
    lines += _dated(phrases.SUMMARY_DELIVERED, facts, "delivered_on")
    lines += _dated(phrases.SUMMARY_RETURN, facts, "return_window_ends_on")
    for parcel in standing.parcels:
        carrier, event, on = carrier_words(parcel)
        if event:
            lines.append(
                phrases.SUMMARY_CARRIER.format(
                    carrier=carrier, on=f", {on}" if on else "", event=event
                )
            )
    lines += [phrases.SUMMARY_CARRIER_AWAY.format(carrier=name) for name in standing.away]
    return tuple(lines)


def describe_rules(quote: Quote | None) -> tuple[str, ...]:
    if quote is None:
        return ()
    return (phrases.SUMMARY_RULES.format(title=quote.title, heading=quote.heading),)


def tell_ticket(ticket: Ticket, needs: list[Need], turn: Turn, language: str = "en") -> str:
    """Return what the customer hears of the hand-over: number, what was passed on, what is next."""
    if ticket.already_open:
        first = phrases.ALREADY_OPEN
    elif any(need.reason == "complaint" for need in needs):
        first = phrases.PASSED_COMPLAINT
    elif all(need.reason == "customer_request" for need in needs):
        first = phrases.PERSON_IN.get(language, phrases.PASSED_PERSON)
    else:
        first = phrases.PASSED_ON
    said = [first.format(ticket=ticket.number)]
    deeds = [need for need in needs if need.reason == "action_needed"]
    if deeds:
        said.append(phrases.WHAT_WAS_PASSED.format(what=_told(deeds)))
    if any(need.decides for need in deeds):
        said.append(phrases.NOTHING_CHANGED)
    return " ".join([*said, next_step(turn)])


def _told(deeds: list[Need]) -> str:
    """Return how the customer hears what was passed on, order by order."""
    orders = _unique_with_empty(need.order for need in deeds)
    parts = []
    for order in orders:
        wishes = join_and(_unique(need.wish for need in deeds if need.order == order))
        parts.append(f"{wishes} (order {order})" if order else wishes)
    return "; ".join(parts)


def next_step(turn: Turn) -> str:
    """Return when a person reads it, as the desk's hours say."""
    opens = str(turn.context.get("desk_opens") or "")
    if turn.context.get("desk_open"):
        return phrases.NEXT_OPEN
    return phrases.NEXT_CLOSED.format(opens=opens) if opens else phrases.NEXT_UNKNOWN


def reason_of(kind: Kind, intent: str) -> str:
    """Return the ticket's reason for a wish, from the closed list."""
    if intent == "complaint":
        return "complaint"
    return "customer_request" if kind is Kind.PERSON else "action_needed"


def _dated(phrase: str, facts: Facts, name: str) -> list[str]:
    day = say_day(facts.get(name))
    return [phrase.format(day=day)] if day else []


def _item(item: object) -> str:
    if not isinstance(item, Mapping):
        return str(item)
    options = item.get("options")
    chosen = ", ".join(str(v) for v in options.values()) if isinstance(options, Mapping) else ""
    name = f"{item.get('quantity', 1)} × {item.get('name', '')}"
    return f"{name} ({chosen})" if chosen else name


def _unique_with_empty(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(values))


def _unique(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(value for value in values if value))
