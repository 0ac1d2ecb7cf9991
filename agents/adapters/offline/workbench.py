"""Where the rules work: what is known of a turn, and the calls that are still wanted.

Rules ask the workbench for what they need. What is missing is noted as a call, and the rules run
again when its result is there; so they are written as if everything were known already.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agents.adapters.offline.asks import Ask
from agents.adapters.offline.findings import Facts, Findings, Search
from agents.adapters.offline.quotes import Quote, best_quote
from agents.adapters.offline.transcript import Result, Turn
from dsupport.contract.tools import ToolCall

_QUERY = 1_000


@dataclass(frozen=True, slots=True)
class Wanted:
    """One call, as each architecture would make it: the first tool that is offered is used."""

    tool: str
    arguments: Mapping[str, Any]


class Workbench:
    def __init__(self, turn: Turn, embed: Callable[[list[str]], Any]) -> None:
        self.turn = turn
        self.findings = Findings(turn.results)
        self.wanted: list[Wanted] = []
        self._embed = embed
        self._asked = {_key(call.name, call.arguments) for call in turn.asked}

    def search(self, query: str) -> Search | None:
        """Return what the help articles say; None when that is not known (yet)."""
        query = query[:_QUERY]
        found = self.findings.search(query)
        if found is None:
            self._want(
                Wanted("search_kb", {"query": query}), Wanted("ask_knowledge", {"question": query})
            )
        return found

    def products(self, query: str) -> list[Facts] | None:
        query = query[:300]
        found = self.findings.products()
        if found is None:
            self._want(
                Wanted("get_product", {"query": query}),
                Wanted("ask_knowledge", {"question": query}),
            )
        return found

    def order(self, number: str, ask: Ask) -> Result | None:
        found = self.findings.order(number)
        if found is None:
            self._want(Wanted("get_order", {"order_number": number}), *_team_order(number, ask))
        return found

    def tracking(self, number: str, ask: Ask) -> Result | None:
        found = self.findings.tracking(number)
        if found is None and not self._team_has_looked(number):
            self._want(
                Wanted("track_shipment", {"order_number": number}), *_team_order(number, ask)
            )
        return found

    def list_orders(self, day: str | None, ask: Ask) -> None:
        arguments = {"bought_on": day} if day else {}
        self._want(
            Wanted("list_my_orders", arguments),
            Wanted("ask_orders", {"question": ask.query}),
            Wanted("ask_orders", {"question": "List the customer's orders."}),
        )

    def open_ticket(self, arguments: Mapping[str, Any]) -> None:
        self._want(Wanted("create_ticket", arguments), Wanted("escalate", arguments))

    def quote(self, search: Search | None, question: str) -> Quote | None:
        """Return the sentences of a search's passages that answer a question best."""
        return best_quote(search, question, self._embed) if search and search.useful else None

    def calls(self) -> list[ToolCall]:
        """Return the wanted calls, each once, with ids that follow those of the run so far."""
        count = len(self.turn.asked)
        return [
            ToolCall(f"c{count + index}", wanted.tool, dict(wanted.arguments))
            for index, wanted in enumerate(self.wanted, start=1)
        ]

    def can(self, *tools: str) -> bool:
        return any(tool in self.turn.tools for tool in tools)

    def _want(self, *ways: Wanted) -> None:
        """Note the first way that is offered and was not tried; nothing is asked twice."""
        for way in ways:
            key = _key(way.tool, way.arguments)
            if way.tool not in self.turn.tools or key in self._asked:
                continue
            if all(_key(w.tool, w.arguments) != key for w in self.wanted):
                self.wanted.append(way)
            return

    def _team_has_looked(self, number: str) -> bool:
        """Tell whether a specialist has looked this order up and found nothing to track."""
        return "track_shipment" not in self.turn.tools and self.findings.order(number) is not None


def _team_order(number: str, ask: Ask) -> Sequence[Wanted]:
    named = ask.query if ask.said_order else f"{ask.query} (order {number})"
    return (
        Wanted("ask_orders", {"question": named}),
        Wanted("ask_orders", {"question": f"Look up order {number} and its parcels."}),
    )


def _key(tool: str, arguments: Mapping[str, Any]) -> str:
    return f"{tool}{json.dumps(dict(arguments), sort_keys=True, default=str)}"
