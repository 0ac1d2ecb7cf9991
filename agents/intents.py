"""The closed list of intents: what a customer's message can be about."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

_EXAMPLES = Path(__file__).parent / "understanding" / "examples.json"


@cache
def intent_labels() -> tuple[str, ...]:
    """Return the labels in the order of the example file, which is where intents are added."""
    return tuple(_catalogue())


def route_of(label: str) -> str:
    """Return where an intent leads: knowledge, orders, action, ticket, human, social or decline."""
    return str(_catalogue().get(label, {}).get("route", "decline"))


@cache
def _catalogue() -> dict[str, dict[str, object]]:
    loaded: dict[str, dict[str, object]] = json.loads(_EXAMPLES.read_text(encoding="utf-8"))
    return loaded
