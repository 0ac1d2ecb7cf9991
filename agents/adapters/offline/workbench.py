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
        self._asked = {key for call in turn.asked for key in _keys(call)}

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
            self._want(Wanted("get_order", {"order_number": number}), *self._team(number, ask))
        return found

    def tracking(self, number: str, ask: Ask) -> Result | None:
        found = self.findings.tracking(number)
        if found is None and not self._team_has_looked(number):
            self._want(Wanted("track_shipment", {"order_number": number}), *self._team(number, ask))
        return found

    def list_orders(self, day: str | None, ask: Ask) -> None:
        arguments = {"bought_on": day} if day else {}
        self._want(
            Wanted("list_my_orders", arguments),
            Wanted("ask_orders", {"question": ask.query}),
            Wanted("ask_orders", {"question": "List the customer's orders."}),
        )

    def change(self, arguments: Mapping[str, Any]) -> Result | None:
        """Return what became of a card that asks for a deed; None when that is not known (yet)."""
        found = self.findings.change(str(arguments["order_number"]))
        if found is None:
            self._want(Wanted("request_change", arguments))
        return found

    def open_ticket(self, arguments: Mapping[str, Any]) -> None:
        self._want(Wanted("create_ticket", arguments), Wanted("escalate", arguments))

    def quote(self, search: Search | None, question: str, ask: Ask) -> Quote | None:
        """Return the sentences of a search's passages that answer a question best."""
        if search is None or not search.useful:
            return None
        return best_quote(search, question, self._embed, topic=ask.topic)

    def calls(self) -> list[ToolCall]:
        """Return the wanted calls, each once, with ids that follow those of the run so far."""
        count = len(self.turn.asked)
        return [
            ToolCall(f"c{count + index}", wanted.tool, dict(wanted.arguments))
            for index, wanted in enumerate(_gather(self.wanted), start=1)
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

    def _team(self, number: str, ask: Ask) -> list[Wanted]:
        """Return how a specialist is asked about an order: in the customer's words, once."""
        questions = (
            next((text for text in (ask.query, self.turn.text) if number in text), ""),
            f"{ask.query} (order {number})",
            f"Look up order {number} and its parcels.",
        )
        if any(w.tool == "ask_orders" and number in str(w.arguments) for w in self.wanted):
            return []
        return [Wanted("ask_orders", {"question": question}) for question in questions if question]

    def _team_has_looked(self, number: str) -> bool:
        """Tell whether a specialist has looked this order up and found nothing to track."""
        return "track_shipment" not in self.turn.tools and self.findings.order(number) is not None


def split_questions(task: str) -> list[str]:
    """Return the questions of a task for the knowledge specialist, which may be a list of them."""
    lines = [line.strip() for line in task.splitlines() if line.strip()]
    if len(lines) > 1 and all(line.startswith("- ") for line in lines):
        return [line.removeprefix("- ") for line in lines]
    return [" ".join(task.split())]


def _gather(wanted: Sequence[Wanted]) -> list[Wanted]:
    """Put all questions for the knowledge specialist into one task: one agent reads for all."""
    asked = [str(w.arguments["question"]) for w in wanted if w.tool == "ask_knowledge"]
    if len(asked) < 2:
        return list(wanted)
    task = Wanted("ask_knowledge", {"question": "\n".join(f"- {question}" for question in asked)})
    rest = [w for w in wanted if w.tool != "ask_knowledge"]
    return [*rest, task]


def _keys(call: ToolCall) -> list[str]:
    """Return what identifies a call; a list of questions counts as each of them."""
    if call.name != "ask_knowledge":
        return [_key(call.name, call.arguments)]
    questions = split_questions(str(call.arguments.get("question", "")))
    return [_key(call.name, {"question": question}) for question in questions]


def _key(tool: str, arguments: Mapping[str, Any]) -> str:
    return f"{tool}{json.dumps(dict(arguments), sort_keys=True, default=str)}"
