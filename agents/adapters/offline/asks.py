"""One wish of a customer, as the rules work with it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date

from agents.adapters.offline.behaviour import Behaviour, behaviour_of
from agents.understanding import Entities, Reading, load_catalogue

Reader = Callable[[str, date], Reading]

_OTHER_ORDER = re.compile(r"\b(?:the )?other (?:one|order|parcel|package)s?\b", re.IGNORECASE)
_HELP = re.compile(
    r"\b(?:help|do something|look into|investigate|sort (?:it|this) out|what now"
    r"|what (?:can|do|should) (?:i|you|we) do|find it|fix (?:it|this)|i need it|compensat\w*"
    r"|money back|refund)\b",
    re.IGNORECASE,
)
_IN_GENERAL = re.compile(
    r"\b(?:what (?:happens|if)|in case|suppose|what would happen|how (?:do|does|can) (?:you|one))"
    r"\b",
    re.IGNORECASE,
)
_ASKS = re.compile(r"^\W*(?:how|what|where|when|which|who|why|is there|do you)\b", re.IGNORECASE)
_HOW_TO = re.compile(
    r"\b(?:can i|could i|may i|is it possible|how (?:do|can|would) i|what (?:do|can|should) i do"
    r"|am i able)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Ask:
    """One wish. `query` is what to search for; `order` is the number it is about, if known.

    `agreed` says that the customer has said yes to what the assistant offered, so nothing has
    to be asked back. `hints` are words that may tell one of several orders from the others.
    """

    intent: str
    p: float
    p_action: float
    may_act: bool
    in_scope: bool
    query: str
    entities: Entities
    order: str = ""
    said_order: bool = False
    other_order: bool = False
    wants_help: bool = False
    agreed: bool = False
    in_general: bool = False  # asks for the rule ("what if …"), whatever the matter is
    how_to: bool = False  # asks whether or how it can be done
    asks: bool = False  # puts a question, whichever
    alone: bool = True  # the only wish of its message
    hints: str = ""
    second: str = ""  # the next likeliest intent, for a message that proves to be about the shop

    @property
    def behaviour(self) -> Behaviour:
        return behaviour_of(self.intent)

    @property
    def route(self) -> str:
        return load_catalogue().get_intent(self.intent).route

    @property
    def topic(self) -> str:
        return load_catalogue().get_intent(self.intent).topic


def make_ask(part: Reading) -> Ask:
    """Return the wish of one part of a message, by its own words alone."""
    named = part.entities.orders
    return Ask(
        intent=part.intent,
        p=part.p,
        p_action=part.p_action,
        may_act=part.may_act,
        in_scope=part.in_scope,
        query=make_query(part.text),
        entities=part.entities,
        order=named[0] if named else "",
        said_order=bool(named),
        other_order=bool(_OTHER_ORDER.search(part.text)),
        wants_help=bool(_HELP.search(part.text)),
        in_general=bool(_IN_GENERAL.search(part.text)) and not named,
        how_to=bool(_HOW_TO.search(part.text)),
        asks="?" in part.text or bool(_ASKS.search(part.text)),
        hints=part.text,
        second=_second(part),
    )


def _second(part: Reading) -> str:
    catalogue = load_catalogue()
    routes = ((label, catalogue.get_intent(label).route) for label, _ in part.candidates)
    return next((label for label, route in routes if route not in {"decline", "social"}), "")


def make_query(text: str) -> str:
    """Return words to search for: one line, not too long, never empty."""
    return " ".join(text.split())[:500] or "?"
