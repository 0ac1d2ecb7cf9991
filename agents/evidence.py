"""What a run has seen: the only ground that an answer may stand on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from threading import Lock
from typing import Any

from agents.claims import Facts, collect_facts
from dsupport.contract.tools import Source, ToolResult


@dataclass(frozen=True)
class Seen:
    """One tool result of this run."""

    place: str
    tool: str
    result: ToolResult

    @cached_property
    def facts(self) -> Facts:
        """Return what the result supports; the report of another agent supports nothing."""
        return collect_facts([], [] if self.tool in DELEGATES else [self.result.data])


@dataclass
class Evidence:
    """The results of a run and the words of the customer, gathered by parallel calls.

    `words` are what is being answered; `earlier_words` is what the customer wrote before.
    """

    words: Sequence[str] = ()
    earlier_words: Sequence[str] = ()
    context: Mapping[str, Any] = field(default_factory=dict)
    known_tickets: frozenset[str] = frozenset()  # told to this customer earlier in the talk
    _seen: list[Seen] = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock)

    def add(self, place: str, tool: str, result: ToolResult) -> None:
        with self._lock:
            self._seen.append(Seen(place, tool, result))

    @property
    def seen(self) -> list[Seen]:
        """Return what was seen, ordered by place, so that a resumed run reads the same."""
        with self._lock:
            return sorted(self._seen, key=lambda item: item.place)

    @property
    def sources(self) -> list[Source]:
        """Return the passages that searches of this run returned, best score first."""
        best: dict[tuple[str, str], Source] = {}
        for item in self.seen:
            for source in item.result.sources:
                key = (source.doc_id, source.heading)
                if key not in best or best[key].score < source.score:
                    best[key] = source
        return sorted(best.values(), key=lambda source: -source.score)

    @property
    def tickets(self) -> list[str]:
        """Return the tickets that this run opened or found, first one first."""
        return list(dict.fromkeys(item.result.ticket for item in self.seen if item.result.ticket))

    @property
    def orders(self) -> list[str]:
        """Return the numbers of the orders that this run looked at, first one first."""
        found = [
            str(item.result.data["number"])
            for item in self.seen
            if isinstance(item.result.data, Mapping) and item.result.data.get("number")
        ]
        return list(dict.fromkeys(found))

    def facts(self, *, articles: bool = True) -> Facts:
        """Return what tool results, context and the customer's words support.

        Without `articles`, what only help articles state is left out.
        """
        seen = [item for item in self.seen if articles or item.result.trust != "article"]
        return Facts.union([self._given, *(item.facts for item in seen)])

    @cached_property
    def _given(self) -> Facts:
        return collect_facts([*self.earlier_words, *self.words], [dict(self.context)])


# Results of these are reports written by a model: what they rest on is already evidence.
DELEGATES = frozenset({"ask_knowledge", "ask_orders", "escalate"})
