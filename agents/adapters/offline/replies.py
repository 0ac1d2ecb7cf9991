"""Answers to what the assistant asked: a yes, a no, a choice of order, a proof."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date

from agents.adapters.offline import phrases
from agents.adapters.offline.asks import Ask, Reader, make_ask, make_query
from agents.adapters.offline.behaviour import Kind
from agents.adapters.offline.recall import SHORT, customer_lines, find_earlier
from agents.adapters.offline.transcript import Turn
from agents.understanding import Reading, find_entities

YES = re.compile(
    r"^\W*(?:yes|yeah|yep|yup|y|sure|ok|okay|please do|do it|go ahead|of course|absolutely|exactly"
    r"|correct|right|please|fine|alright|all right|yes please|ja|jawohl|gerne|bitte|oui|sí|si|sim"
    r"|sì|graag)\b",
    re.IGNORECASE,
)
NO = re.compile(
    r"^\W*(?:no|nope|nah|not now|never mind|nevermind|n|don't|do not|rather not|no thanks|leave it"
    r"|nein|non|nee|não|nao)\b",
    re.IGNORECASE,
)
_DONE = re.compile(
    r"\b(?:done|signed in|logged in|here|now|did it|try again|again)\b", re.IGNORECASE
)


def resume(reading: Reading, turn: Turn, read: Reader) -> Ask | None:
    """Return the earlier wish that this message goes on with: a yes, a choice, a proof."""
    last = turn.last_answer
    if not last:
        return None
    if any(mark in last for mark in _offers()):
        return _answer_offer(reading, turn, read)
    if phrases.WHICH_MARK in last and _is_choice(reading, turn):
        earlier = find_earlier(turn, read)
        return None if earlier is None else _choose(earlier, reading, turn)
    if phrases.IDENTITY_MARK in last and _is_go_on(reading, turn):
        earlier = find_earlier(turn, read)
        return None if earlier is None else _choose(earlier, reading, turn)
    return None


def _offers() -> tuple[str, ...]:
    foreign = tuple(text.rpartition(". ")[2] for text in phrases.ENGLISH_ONLY.values())
    return (*phrases.OFFER_MARKS, *foreign)


def _answer_offer(reading: Reading, turn: Turn, read: Reader) -> Ask | None:
    """Take a yes or a no to an offer; anything else is read as a message of its own."""
    text = turn.text
    if len(text.split()) > SHORT and reading.intent not in {"yes_no", "human_agent"}:
        return None
    if NO.match(text):
        return replace(make_ask(reading), intent="yes_no") if reading.route == "social" else None
    if not YES.match(text):
        return None
    earlier = find_earlier(turn, read)
    if (
        earlier is not None
        and earlier.behaviour.kind is Kind.ACTION
        and phrases.OFFER_MARKS[1] in turn.last_answer
    ):
        return replace(earlier, may_act=True, agreed=True)
    told = next((make_query(line.text) for line in customer_lines(turn)), text)
    order = earlier.order if earlier is not None else ""
    base = replace(make_ask(reading), query=told, order=order, agreed=True)
    return replace(base, intent="human_agent", p=0.99)


def _is_choice(reading: Reading, turn: Turn) -> bool:
    """Tell whether a message picks one of the orders that were named, and asks nothing new."""
    if reading.entities.orders or reading.entities.numbers or reading.entities.days:
        return len(turn.text.split()) <= 2 * SHORT
    if reading.route == "social" and not _names_place(turn.text):
        return False
    return len(turn.text.split()) <= SHORT and "?" not in turn.text


def _is_go_on(reading: Reading, turn: Turn) -> bool:
    named = reading.entities
    if named.orders or named.numbers or named.emails:
        return len(turn.text.split()) <= SHORT
    return bool(YES.match(turn.text) or _DONE.search(turn.text)) and len(turn.text.split()) <= SHORT


def _choose(earlier: Ask, reading: Reading, turn: Turn) -> Ask:
    named = reading.entities.orders or reading.entities.numbers
    listed = _listed(turn.last_answer, turn.today)
    order = named[0] if named else _by_place(turn.text, listed)
    # Days and things named now tell the orders apart; those named before have done their part.
    return replace(
        earlier,
        order=order,
        said_order=bool(order),
        entities=reading.entities,
        hints=turn.text,
        other_order=False,
    )


_PLACES = (
    ("first", 0),
    ("second", 1),
    ("third", 2),
    ("fourth", 3),
    ("last one", -1),
    ("newest", 0),
    ("latest", 0),
)


def _names_place(text: str) -> bool:
    return any(re.search(rf"\b{word}\b", text, re.IGNORECASE) for word, _ in _PLACES)


def _by_place(text: str, listed: tuple[str, ...]) -> str:
    for word, place in _PLACES:
        if re.search(rf"\b{word}\b", text, re.IGNORECASE) and listed and place < len(listed):
            return listed[place]
    return ""


def _listed(text: str, today: date) -> tuple[str, ...]:
    lines = [line for line in text.splitlines() if line.lstrip().startswith(("-", "•", "–"))]
    return tuple(number for line in lines for number in find_entities(line, today=today).orders[:1])
