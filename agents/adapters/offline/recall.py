"""What was said before, as far as a message leans on it: the last order, the last wish."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agents.adapters.offline import phrases
from agents.adapters.offline.asks import Ask, Reader, make_query
from agents.adapters.offline.transcript import Line, Turn
from agents.understanding import Reading, find_entities

SHORT = 8  # words of a message that may lean on what was said before
LOOK_BACK = 8  # earlier messages that it may lean on
_FOLLOW_UP = re.compile(
    r"^\s*(?:and|but|so|then|also|ok(?:ay)?)\b|\b(?:what|how) about\b"
    r"|\bthe (?:other|same|second|first)\b"
    r"|^\s*(?:for|if|even|only|in|on|with|without)\b",
    re.IGNORECASE,
)


def last_order(turn: Turn) -> str:
    """Return the one order that the latest message naming any is about, or nothing."""
    for line in reversed(turn.history[-LOOK_BACK:]):
        named = find_entities(line.text, today=turn.today).orders
        if named:
            return named[0] if len(set(named)) == 1 else ""
    return ""


def find_earlier(turn: Turn, read: Reader) -> Ask | None:
    """Return the wish of the latest earlier message that carried one of its own."""
    for line in _wishful_lines(turn):
        reading = read(line.text, turn.today)
        if reading.route == "social" or (reading.route == "decline" and not reading.in_scope):
            continue
        part = reading.wishes[-1]
        if leans(line.text) and is_unsure(part):
            continue
        named = part.entities.orders
        return Ask(
            intent=part.intent,
            p=part.p,
            p_action=part.p_action,
            may_act=part.may_act,
            in_scope=part.in_scope,
            query=make_query(line.text),
            entities=part.entities,
            order=named[0] if named else last_order(turn),
            hints=line.text,
        )
    return None


def is_unsure(part: Reading) -> bool:
    return part.p < 0.45 or not part.in_scope


def leans(text: str) -> bool:
    return len(text.split()) <= SHORT and bool(_FOLLOW_UP.search(text))


def _wishful_lines(turn: Turn) -> Iterator[Line]:
    """Return the customer's earlier messages, newest first, without answers to what was asked."""
    recent = turn.history[-LOOK_BACK:]
    for index in range(len(recent) - 1, -1, -1):
        line = recent[index]
        asked_back = (
            index > 0
            and recent[index - 1].author == "assistant"
            and any(
                mark in recent[index - 1].text
                for mark in (phrases.WHICH_MARK, phrases.IDENTITY_MARK)
            )
        )
        is_reply = asked_back and len(line.text.split()) <= SHORT and "?" not in line.text
        if line.author == "customer" and not is_reply:
            yield line


def customer_lines(turn: Turn) -> Iterator[Line]:
    return (line for line in reversed(turn.history[-LOOK_BACK:]) if line.author == "customer")
