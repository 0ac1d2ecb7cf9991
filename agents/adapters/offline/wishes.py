"""What the customer wants now, in the light of what was said before."""

from __future__ import annotations

import re
from dataclasses import replace

from agents.adapters.offline.asks import Ask, Reader, make_ask, make_query
from agents.adapters.offline.behaviour import Kind
from agents.adapters.offline.recall import SHORT, find_earlier, is_unsure, last_order, leans
from agents.adapters.offline.replies import NO, YES, resume
from agents.adapters.offline.transcript import Turn
from agents.adapters.offline.words import word_set
from agents.understanding import Reading, load_catalogue

_PLEASED = re.compile("[\U0001f44d\U0001f44c\U0001f64f\u2764\U0001f60a\U0001f600\U0001f642]")


def understand(turn: Turn, read: Reader) -> list[Ask]:
    """Return what the customer wants; never empty."""
    reading = read(turn.text, turn.today)
    if not any(char.isalnum() for char in turn.text):
        return [replace(make_ask(reading), intent=_wordless(turn.text), in_scope=True)]
    person = next((part for part in reading.wishes if _wants_person(part)), None)
    if person is not None:  # the first wish for a person is honoured, whatever else is asked
        return [make_ask(replace(person, entities=reading.entities))]
    resumed = resume(reading, turn, read)
    if resumed is not None:
        return [resumed]
    settled = [_settle(make_ask(part), part, turn, read) for part in reading.wishes]
    asks = [one for ask in _known_intents(settled) for one in _order_by_order(ask)]
    return [replace(ask, alone=len(asks) == 1) for ask in asks]


def _order_by_order(ask: Ask) -> list[Ask]:
    """Take a question about several orders as one about each of them."""
    named = ask.entities.orders
    if ask.behaviour.kind is not Kind.ORDER or len(named) < 2 or ask.order not in named:
        return [ask]
    return [replace(ask, order=number) for number in named]


def _wants_person(part: Reading) -> bool:
    """Tell whether a part asks for a person; "what is your number" is a question to answer."""
    if part.intent != "human_agent":
        return False
    return part.p >= 0.99 or (part.p >= 0.5 and not make_ask(part).asks)


def _wordless(text: str) -> str:
    return "thanks_bye" if _PLEASED.search(text) else "greeting"


def _known_intents(asks: list[Ask]) -> list[Ask]:
    labels = set(load_catalogue().labels)
    return [ask if ask.intent in labels else replace(ask, intent="other") for ask in asks]


def _settle(ask: Ask, part: Reading, turn: Turn, read: Reader) -> Ask:
    """Fill in from the talk what a message leaves out: the matter, the order."""
    if _leans_back(ask, part, turn):
        earlier = find_earlier(turn, read)
        if earlier is not None:
            ask = _continue(earlier, ask)
    if not ask.order and ask.behaviour.order != "no":
        ask = _remember_order(ask, turn)
    if _names_only_an_order(ask, part):
        named = part.entities.orders or part.entities.numbers
        ask = replace(ask, intent="order_status", may_act=False, order=named[0], said_order=True)
    elif len(part.text.split()) <= 2 and (YES.fullmatch(part.text) or NO.fullmatch(part.text)):
        ask = replace(ask, intent="yes_no", in_scope=True, p=0.9)
    return ask


def _leans_back(ask: Ask, part: Reading, turn: Turn) -> bool:
    """Tell whether a part makes sense only after what was said before."""
    if not turn.history or len(part.text.split()) > SHORT:
        return False
    if ask.other_order and ask.p < 0.6:
        return True
    return is_unsure(part) and leans(part.text)


def _continue(earlier: Ask, ask: Ask) -> Ask:
    other = ask.other_order
    return replace(
        earlier,
        query=make_query(f"{earlier.query} {ask.query}"),
        entities=ask.entities if not ask.entities.is_empty else earlier.entities,
        order=ask.order or ("" if other else earlier.order),
        said_order=ask.said_order,
        other_order=other,
        hints=ask.hints,
        wants_help=ask.wants_help,
    )


def _remember_order(ask: Ask, turn: Turn) -> Ask:
    """Take the bare number of this message, else the order that was talked of last."""
    if ask.entities.numbers and turn.is_known:
        return replace(ask, order=ask.entities.numbers[0], said_order=True)
    if ask.entities.days or ask.other_order:
        return ask
    return replace(ask, order=last_order(turn))


def _names_only_an_order(ask: Ask, part: Reading) -> bool:
    """Tell whether a message is little more than an order's number."""
    named = part.entities
    if not (named.orders or named.numbers):
        return False
    bare = re.sub(r"\S+@\S+", " ", part.text)
    words = [
        word for word in re.findall(r"[^\W\d_]+", bare) if word.casefold() not in _NUMBER_WORDS
    ]
    if not words:
        return True
    about_else = ask.behaviour.kind in {Kind.PERSON, Kind.ACTION} or ask.behaviour.order != "no"
    return bool(named.orders) and not about_else and not part.in_scope and len(words) <= 4


_NUMBER_WORDS = word_set("order number no nr my the ord w it is please hi hello")
