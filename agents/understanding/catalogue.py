"""The intents: a closed list of labels with topic, act and route, and sentences that show each.

The sentences are data (`examples.json`); a shop extends them with the words of its own customers.
`off_topic.json` holds questions that no shop answers: they set the noise floor.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

HERE = Path(__file__).resolve().parent
SLOT = "ORD-48213"  # stands in for `{o}`, and is masked like every order number


@dataclass(frozen=True, slots=True)
class Intent:
    """One thing customers come for.

    `act` is what they do with their words (info, lookup, action, problem, social, other), `route`
    is who deals with it (knowledge, orders, action, ticket, human, social, decline).
    """

    label: str
    topic: str
    act: str
    route: str
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Catalogue:
    intents: tuple[Intent, ...]
    off_topic: tuple[str, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(intent.label for intent in self.intents)

    def get_intent(self, label: str) -> Intent:
        """Return the intent with this label; an unknown label is a bug and raises."""
        for intent in self.intents:
            if intent.label == label:
                return intent
        raise KeyError(label)

    def digest(self) -> str:
        """Return what identifies this set of sentences; any edit changes it."""
        content = [
            [intent.label, intent.topic, intent.act, intent.route, *intent.examples]
            for intent in self.intents
        ]
        text = json.dumps([content, self.off_topic], ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()


@cache
def load_catalogue() -> Catalogue:
    """Return the shipped catalogue."""
    raw = json.loads((HERE / "examples.json").read_text(encoding="utf-8"))
    intents = tuple(
        Intent(
            label=label,
            topic=entry["topic"],
            act=entry["act"],
            route=entry["route"],
            examples=tuple(text.replace("{o}", SLOT) for text in entry["examples"]),
        )
        for label, entry in raw.items()
    )
    off_topic = json.loads((HERE / "off_topic.json").read_text(encoding="utf-8"))
    return Catalogue(intents=intents, off_topic=tuple(off_topic))
