"""What the customer wants now, in the light of what was said before."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import date

from agents.adapters.offline import phrases
from agents.adapters.offline.behaviour import Behaviour, Kind, behaviour_of
from agents.adapters.offline.transcript import Line, Turn
from agents.adapters.offline.words import word_set
from agents.understanding import Entities, Reading, find_entities, load_catalogue

Reader = Callable[[str, date], Reading]

_LOOK_BACK = 8  # earlier messages that a follow-up may lean on
_FOLLOW_UP = re.compile(
    r"^\s*(?:and|but|so|then|also|ok(?:ay)?)\b|\b(?:what|how) about\b"
    r"|\bthe (?:other|same|second|first)\b"
    r"|^\s*(?:for|if|even|only|in|on|with|without)\b",
    re.IGNORECASE,
)
_OTHER_ORDER = re.compile(r"\b(?:the )?other (?:one|order|parcel|package)s?\b", re.IGNORECASE)
_YES = re.compile(
    r"^\W*(?:yes|yeah|yep|yup|y|sure|ok|okay|please do|do it|go ahead|of course|absolutely|exactly"
    r"|correct|right|please|fine|alright|all right|yes please|ja|jawohl|gerne|bitte|oui|sí|si|sim"
    r"|sì|graag)\b",
    re.IGNORECASE,
)
_NO = re.compile(
    r"^\W*(?:no|nope|nah|not now|never mind|nevermind|n|don't|do not|rather not|no thanks|leave it"
    r"|nein|non|nee|não|nao)\b",
    re.IGNORECASE,
)
_DONE = re.compile(
    r"\b(?:done|signed in|logged in|here|now|did it|try again|again)\b", re.IGNORECASE
)
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
_HOW_TO = re.compile(
    r"\b(?:can i|could i|may i|is it possible|how (?:do|can|would) i|what (?:do|can|should) i do"
    r"|am i able)\b",
    re.IGNORECASE,
)
_PLEASED = re.compile("[\U0001f44d\U0001f44c\U0001f64f\u2764\U0001f60a\U0001f600\U0001f642]")
_SHORT = 8


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


def understand(turn: Turn, read: Reader) -> list[Ask]:
    """Return what the customer wants; never empty."""
    reading = read(turn.text, turn.today)
    if not any(char.isalnum() for char in turn.text):
        return [replace(_ask(reading, turn), intent=_wordless(turn.text), in_scope=True)]
    person = next((part for part in reading.wishes if _wants_person(part)), None)
    if person is not None:  # the first wish for a person is honoured, whatever else is asked
        return [_ask(replace(person, entities=reading.entities), turn)]
    resumed = _resume(reading, turn, read)
    if resumed is not None:
        return [resumed]
    asks = [_settle(_ask(part, turn), part, turn, read) for part in reading.wishes]
    return _known_intents(asks)


def _wants_person(part: Reading) -> bool:
    return part.intent == "human_agent" and part.p >= 0.5


def _wordless(text: str) -> str:
    return "thanks_bye" if _PLEASED.search(text) else "greeting"


def _ask(part: Reading, turn: Turn) -> Ask:
    named = part.entities.orders
    return Ask(
        intent=part.intent,
        p=part.p,
        p_action=part.p_action,
        may_act=part.may_act,
        in_scope=part.in_scope,
        query=_query(part.text if len(turn.words) == 1 or turn.text != part.text else turn.text),
        entities=part.entities,
        order=named[0] if named else "",
        said_order=bool(named),
        other_order=bool(_OTHER_ORDER.search(part.text)),
        wants_help=bool(_HELP.search(part.text)),
        in_general=bool(_IN_GENERAL.search(part.text)) and not named,
        how_to=bool(_HOW_TO.search(part.text)),
        hints=part.text,
        second=_second(part),
    )


def _second(part: Reading) -> str:
    catalogue = load_catalogue()
    routes = ((label, catalogue.get_intent(label).route) for label, _ in part.candidates)
    return next((label for label, route in routes if route not in {"decline", "social"}), "")


def _query(text: str) -> str:
    return " ".join(text.split())[:500] or "?"


def _known_intents(asks: list[Ask]) -> list[Ask]:
    labels = set(load_catalogue().labels)
    return [ask if ask.intent in labels else replace(ask, intent="other") for ask in asks]


# --- answers to what the assistant asked --------------------------------------------------------
def _resume(reading: Reading, turn: Turn, read: Reader) -> Ask | None:
    """Return the earlier wish that this message goes on with: a yes, a choice, a proof."""
    last = turn.last_answer
    if not last:
        return None
    if any(mark in last for mark in _offers()):
        return _answer_offer(reading, turn, read)
    if phrases.WHICH_MARK in last and _is_choice(reading, turn):
        earlier = _earlier(turn, read)
        return None if earlier is None else _choose(earlier, reading, turn)
    if phrases.IDENTITY_MARK in last and _is_go_on(reading, turn):
        earlier = _earlier(turn, read)
        return None if earlier is None else _choose(earlier, reading, turn)
    return None


def _offers() -> tuple[str, ...]:
    foreign = tuple(text.rpartition(". ")[2] for text in phrases.ENGLISH_ONLY.values())
    return (*phrases.OFFER_MARKS, *foreign)


def _answer_offer(reading: Reading, turn: Turn, read: Reader) -> Ask | None:
    """Take a yes or a no to an offer; anything else is read as a message of its own."""
    text = turn.text
    if len(text.split()) > _SHORT and reading.intent not in {"yes_no", "human_agent"}:
        return None
    if _NO.match(text):
        return replace(_ask(reading, turn), intent="yes_no") if reading.route == "social" else None
    if not _YES.match(text):
        return None
    earlier = _earlier(turn, read)
    if (
        earlier is not None
        and earlier.behaviour.kind is Kind.ACTION
        and phrases.OFFER_MARKS[1] in turn.last_answer
    ):
        return replace(earlier, may_act=True, agreed=True)
    told = next((_query(line.text) for line in _customer_lines(turn)), text)
    order = earlier.order if earlier is not None else ""
    base = replace(_ask(reading, turn), query=told, order=order, agreed=True)
    return replace(base, intent="human_agent", p=0.99)


def _is_choice(reading: Reading, turn: Turn) -> bool:
    """Tell whether a message picks one of the orders that were named, and asks nothing new."""
    if reading.entities.orders or reading.entities.numbers or reading.entities.days:
        return len(turn.text.split()) <= 2 * _SHORT
    if reading.route == "social" and not _names_place(turn.text):
        return False
    return len(turn.text.split()) <= _SHORT and "?" not in turn.text


def _is_go_on(reading: Reading, turn: Turn) -> bool:
    named = reading.entities
    if named.orders or named.numbers or named.emails:
        return len(turn.text.split()) <= _SHORT
    return (
        bool(_YES.match(turn.text) or _DONE.search(turn.text)) and len(turn.text.split()) <= _SHORT
    )


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


# --- what stays unsaid --------------------------------------------------------------------------
def _settle(ask: Ask, part: Reading, turn: Turn, read: Reader) -> Ask:
    """Fill in from the talk what a message leaves out: the matter, the order."""
    if _leans_back(ask, part, turn):
        earlier = _earlier(turn, read)
        if earlier is not None:
            ask = _continue(earlier, ask)
    if not ask.order and ask.behaviour.order != "no":
        ask = _remember_order(ask, turn)
    if _names_only_an_order(ask, part):
        named = part.entities.orders or part.entities.numbers
        ask = replace(ask, intent="order_status", may_act=False, order=named[0], said_order=True)
    elif len(part.text.split()) <= 2 and (_YES.fullmatch(part.text) or _NO.fullmatch(part.text)):
        ask = replace(ask, intent="yes_no", in_scope=True, p=0.9)
    return ask


def _leans_back(ask: Ask, part: Reading, turn: Turn) -> bool:
    """Tell whether a part makes sense only after what was said before."""
    if not turn.history or len(part.text.split()) > _SHORT:
        return False
    if ask.other_order and ask.p < 0.6:
        return True
    return _is_unsure(part) and _leans(part.text)


def _is_unsure(part: Reading) -> bool:
    return part.p < 0.45 or not part.in_scope


def _continue(earlier: Ask, ask: Ask) -> Ask:
    other = ask.other_order
    return replace(
        earlier,
        query=_query(f"{earlier.query} {ask.query}"),
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


def last_order(turn: Turn) -> str:
    """Return the one order that the latest message naming any is about, or nothing."""
    for line in reversed(turn.history[-_LOOK_BACK:]):
        named = find_entities(line.text, today=turn.today).orders
        if named:
            return named[0] if len(set(named)) == 1 else ""
    return ""


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


def _earlier(turn: Turn, read: Reader) -> Ask | None:
    """Return the wish of the latest earlier message that carried one of its own."""
    for line in _wishful_lines(turn):
        reading = read(line.text, turn.today)
        if reading.route == "social" or (reading.route == "decline" and not reading.in_scope):
            continue
        part = reading.wishes[-1]
        if _leans(line.text) and _is_unsure(part):
            continue
        named = part.entities.orders
        return Ask(
            intent=part.intent,
            p=part.p,
            p_action=part.p_action,
            may_act=part.may_act,
            in_scope=part.in_scope,
            query=_query(line.text),
            entities=part.entities,
            order=named[0] if named else last_order(turn),
            hints=line.text,
        )
    return None


def _leans(text: str) -> bool:
    return len(text.split()) <= _SHORT and bool(_FOLLOW_UP.search(text))


def _wishful_lines(turn: Turn) -> Iterator[Line]:
    """Return the customer's earlier messages, newest first, without answers to what was asked."""
    recent = turn.history[-_LOOK_BACK:]
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
        is_reply = asked_back and len(line.text.split()) <= _SHORT and "?" not in line.text
        if line.author == "customer" and not is_reply:
            yield line


def _customer_lines(turn: Turn) -> Iterator[Line]:
    return (line for line in reversed(turn.history[-_LOOK_BACK:]) if line.author == "customer")
