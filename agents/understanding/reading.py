"""Read what a customer wants: intent, act and route, how sure that is, and what is named."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

import numpy as np

from agents.understanding.catalogue import load_catalogue
from agents.understanding.entities import Entities, find_entities, mask
from agents.understanding.model import Embedder, IntentModel, load_model
from agents.understanding.persons import wants_person

ACTION_P = 0.5  # chance of all actions together from which one may be proposed
ACTION_TOP = 0.4  # and of the likeliest intent
_MAX_PARTS = 8
_MAX_CHARS = 1_000  # of one part; a model of 256 tokens reads no more
_SPLIT = re.compile(r"(?<=[.!?…])\s+(?=\S)|\n+|(?<=[?!])(?=[A-Z])")
# A second question in one sentence: "where is it and how long may I return it".
_JOIN = re.compile(
    r"(?:,\s*|\s+)(?:and|also|but|plus)\s+(?:also\s+|then\s+)?"
    r"(?=(?:what|what's|whats|when|where|how|why|which|who|can|could|do|does|is|are|will|would|may)\b)",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w+")
_ABBREVIATED = re.compile(r"\b(?:no|nr|num|mr|mrs|dr|st|e\.g|i\.e|approx)\.$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Reading:
    """What one message, or one part of it, asks for.

    `p` is the chance of the intent and `p_action` that of all intents that change something.
    `in_scope` says that the message is nearer to the shop than off-topic noise is; it never
    declines by itself. `parts` are the separate wishes of a message that has several.
    """

    text: str
    intent: str
    act: str
    route: str
    p: float
    p_action: float
    in_scope: bool
    candidates: tuple[tuple[str, float], ...]
    entities: Entities
    parts: tuple[Reading, ...] = ()
    source: str = "offline"

    @property
    def wishes(self) -> tuple[Reading, ...]:
        """Return the separate wishes, which is the reading itself when there is one."""
        return self.parts or (self,)

    @property
    def may_act(self) -> bool:
        """Tell whether an action may be proposed on this reading without asking back."""
        return self.act == "action" and self.p_action >= ACTION_P and self.p >= ACTION_TOP


def read(text: str, *, embedder: Embedder, today: date) -> Reading:
    """Read a message. Several wishes are read apart; small talk around a wish is dropped."""
    model = load_model(embedder)
    if not text.strip():
        text = "?"
    pieces = split(text)
    if len(pieces) == 1:
        return _read_all([text], model, embedder, today)[0]
    whole, *parts = _read_all([text, *pieces], model, embedder, today)
    return merge(whole, parts)


def split(text: str) -> list[str]:
    """Return the sentences of a message, and the questions within a sentence, in order."""
    pieces: list[str] = []
    for raw in _SPLIT.split(text):
        sentence = raw.strip()
        if not sentence:
            continue
        if pieces and (_ABBREVIATED.search(pieces[-1]) or len(_WORD.findall(sentence)) == 0):
            pieces[-1] = f"{pieces[-1]} {sentence}"
        else:
            pieces += _split_questions(sentence)
    if not pieces:
        return [text]
    if len(pieces) > _MAX_PARTS:  # a long letter: how it begins and how it ends say what is wanted
        half = _MAX_PARTS // 2
        pieces = [*pieces[:half], *pieces[-half:]]
    return pieces


def _split_questions(sentence: str) -> list[str]:
    parts = _JOIN.split(sentence)
    if len(parts) > 1 and all(len(_WORD.findall(part)) >= 3 for part in parts):
        return [part.strip() for part in parts]
    return [sentence]


def merge(whole: Reading, parts: list[Reading]) -> Reading:
    """Return one reading of a message of several sentences.

    Greetings and thanks are dropped. What stays are the sentences that carry a wish of their own;
    the others (the reason, the story) lend their names of orders and days to the whole.
    """
    solid = [part for part in parts if part.route != "social"]
    if not solid:
        return replace(parts[0], text=whole.text, entities=whole.entities)
    wishes = _distinct([part for part in solid if _carries_wish(part)])
    if not wishes:
        best = max([whole, *solid], key=lambda part: (part.in_scope, part.p))
        return replace(best, text=whole.text, entities=whole.entities)
    wishes = [_lend(wish, whole, alone=len(wishes) == 1) for wish in wishes]
    if len(wishes) == 1:
        return replace(wishes[0], text=whole.text)
    return replace(wishes[0], text=whole.text, parts=tuple(wishes))


_SURE = 0.3  # chance from which a sentence counts as a wish of its own
_PLAIN = 0.45  # the same for a sentence that does not ask and may be the story around the wish


def _carries_wish(part: Reading) -> bool:
    if part.route in {"social", "decline"}:
        return part.route == "decline" and "?" in part.text and part.p >= _PLAIN
    if not part.in_scope:
        return False
    asks = "?" in part.text or part.act == "action" or part.route == "human"
    return part.p >= (_SURE if asks else _PLAIN)


def _distinct(wishes: list[Reading]) -> list[Reading]:
    """Drop what only says again what another part asks: the same topic with the same route."""
    kept: list[Reading] = []
    for wish in wishes:
        twin = next((i for i, other in enumerate(kept) if _same_matter(other, wish)), None)
        if twin is None:
            kept.append(wish)
        else:
            stronger, weaker = sorted([kept[twin], wish], key=_weight, reverse=True)
            kept[twin] = _backed(stronger, weaker)
    return kept


def _backed(wish: Reading, reason: Reading) -> Reading:
    """Let a defect that is told make "can I get my money back" a request and not a question."""
    if wish.act != "action" or reason.act != "problem":
        return wish
    return replace(wish, p=max(wish.p, ACTION_TOP), p_action=max(wish.p_action, reason.p, wish.p))


# A story ("it is broken", "wrong size") told with a request gives its reason, not a second wish.
_REASONS = frozenset(
    {"exchange_request", "damaged_item", "wrong_item", "late_delivery", "complaint"}
)
_REMEDIES = frozenset({"refund_request", "return_request", "exchange_request", "cancel_request"})


def _same_matter(one: Reading, other: Reading) -> bool:
    labels = {one.intent, other.intent}
    if one.intent == other.intent:
        return True
    if labels <= {"order_status", "late_delivery", "missing_parcel", "tracking_help"}:
        return True
    return bool(labels & _REMEDIES and labels - _REMEDIES <= _REASONS)


def _weight(part: Reading) -> tuple[int, float]:
    order = {"late_delivery": 1, "missing_parcel": 2, "refund_request": 3, "return_request": 2}
    return order.get(part.intent, 0), part.p


def _lend(wish: Reading, whole: Reading, *, alone: bool) -> Reading:
    """Give a wish that names no order or day those of the message around it."""
    own, around = wish.entities, whole.entities
    if alone:
        return replace(wish, entities=around)
    entities = replace(
        own,
        orders=own.orders or around.orders,
        numbers=own.numbers or (() if own.orders else around.numbers),
        days=own.days or (() if own.orders else around.days),
    )
    return replace(wish, entities=entities)


def _read_all(
    texts: list[str], model: IntentModel, embedder: Embedder, today: date
) -> list[Reading]:
    masked = [mask(text)[:_MAX_CHARS] for text in texts]
    chances, nearness = model.predict(np.asarray(embedder.embed_queries(masked)))
    return [
        _reading(text, chance, bool(near >= model.floor), today)
        for text, chance, near in zip(texts, chances, nearness, strict=True)
    ]


def _reading(text: str, chance: Any, in_scope: bool, today: date) -> Reading:
    catalogue = load_catalogue()
    ranked = sorted(enumerate(float(p) for p in chance), key=lambda item: -item[1])
    intents = catalogue.intents
    p_action = sum(p for index, p in ranked if intents[index].act == "action")
    candidates = tuple((intents[index].label, round(p, 4)) for index, p in ranked[:5])
    label, p = candidates[0]
    if wants_person(text):
        label, p, in_scope = "human_agent", max(0.99, p), True
    intent = catalogue.get_intent(label)
    return Reading(
        text=text,
        intent=intent.label,
        act=intent.act,
        route=intent.route,
        p=p,
        p_action=round(p_action, 4),
        in_scope=in_scope,
        candidates=candidates,
        entities=find_entities(text, today=today),
    )
