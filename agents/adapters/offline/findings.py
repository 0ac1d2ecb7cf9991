"""What the tools have answered so far, found by what was asked."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agents.adapters.offline.transcript import Result
from agents.understanding.entities import same_order

Facts = Mapping[str, Any]
_TICKET = re.compile(r"\bTKT-\d+\b")


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage of a help article that a search returned."""

    doc_id: str
    title: str
    heading: str
    score: float
    text: str


@dataclass(frozen=True, slots=True)
class Search:
    """The outcome of a search. `band` is answer, may_help or nothing_relevant_found."""

    hits: tuple[Hit, ...]
    band: str
    failed: bool = False

    @property
    def best(self) -> float:
        """Return the score of the best passage."""
        return max((hit.score for hit in self.hits), default=0.0)

    @property
    def useful(self) -> bool:
        return bool(self.hits) and self.band in {"answer", "may_help"}


@dataclass(frozen=True, slots=True)
class Ticket:
    number: str
    already_open: bool = False


class Findings:
    """The results of a run in the order they came, with questions that rules ask of them."""

    def __init__(self, results: Sequence[Result]) -> None:
        self.results = results

    def order(self, number: str) -> Result | None:
        """Return what a look-up of this order gave; facts before an error."""
        return _best(r for r in self.results if r.tool == "get_order" and _is_about(r, number))

    def change(self, number: str) -> Result | None:
        """Return what became of a card about this order."""
        return _best(r for r in self.results if r.tool == "request_change" and _is_about(r, number))

    def tracking(self, number: str) -> Result | None:
        return _best(r for r in self.results if r.tool == "track_shipment" and _is_about(r, number))

    def orders(self, day: str | None) -> Result | None:
        """Return the list of orders of one day, or of all days."""
        return _best(
            r
            for r in self.results
            if r.tool == "list_my_orders"
            and (r.arguments.get("bought_on") or None) == day
            and not r.arguments.get("status")
        )

    def search(self, query: str) -> Search | None:
        """Return the outcome of this search, or None when it was not made."""
        found = _best(
            r for r in self.results if r.tool == "search_kb" and r.arguments.get("query") == query
        )
        return None if found is None else _search(found)

    def any_search(self) -> Search | None:
        """Return the best search of the run, whoever worded it."""
        searches = [_search(r) for r in self.results if r.tool == "search_kb"]
        return max(searches, key=_search_rank, default=None)

    def products(self) -> list[Facts] | None:
        """Return the products found, best first; None when nobody has looked."""
        results = [r for r in self.results if r.tool == "get_product"]
        if not results:
            return None
        found = [r.data.get("products") for r in results if isinstance(r.data, Mapping)]
        return [p for products in found for p in products or () if isinstance(p, Mapping)]

    def ticket(self) -> Ticket | None:
        """Return the ticket of this run, whether it was opened now or was open already."""
        for result in self.results:
            if result.tool not in {"create_ticket", "escalate"}:
                continue
            data = result.data if isinstance(result.data, Mapping) else {}
            number = str(data.get("ticket") or "")
            told = number or next(iter(_TICKET.findall(json.dumps(result.data, default=str))), "")
            if told:
                return Ticket(told, bool(data.get("already_open")) or result.is_error)
        return None

    def ticket_failed(self) -> bool:
        tried = any(result.tool in {"create_ticket", "escalate"} for result in self.results)
        return tried and self.ticket() is None


def facts_of(result: Result | None) -> Facts | None:
    """Return the facts of a look-up, or None when it failed or was not made."""
    if result is None or result.is_error or not isinstance(result.data, Mapping):
        return None
    return result.data


def rows_of(result: Result | None) -> list[Facts]:
    """Return the orders of a list, newest first as the tool gave them."""
    facts = facts_of(result)
    rows = facts.get("orders") if facts is not None else None
    if not isinstance(rows, list):
        return []
    return [row for row in rows if isinstance(row, Mapping) and row.get("number")]


def _is_about(result: Result, number: str) -> bool:
    asked = str(result.arguments.get("order_number", ""))
    if same_order(asked, number):
        return True
    facts = facts_of(result)
    return facts is not None and same_order(str(facts.get("number", "")), number)


def _best(results: Iterable[Result]) -> Result | None:
    found = list(results)
    return next((r for r in found if not r.is_error), found[0] if found else None)


def _search(result: Result) -> Search:
    facts = facts_of(result)
    if facts is None:
        return Search((), "nothing_relevant_found", failed=result.is_error)
    hits = [_hit(raw) for raw in facts.get("hits") or () if isinstance(raw, Mapping)]
    return Search(tuple(hits), str(facts.get("answerable", "")))


def _hit(raw: Facts) -> Hit:
    title, heading = str(raw.get("title", "")), str(raw.get("heading", ""))
    try:
        score = float(raw.get("score", 0.0))
    except (TypeError, ValueError):
        score = 0.0
    return Hit(str(raw.get("doc_id", "")), title, heading, score, _body(raw, title, heading))


def _body(raw: Facts, title: str, heading: str) -> str:
    """Return a passage without the title and heading that may stand in front of it."""
    text = str(raw.get("text", "")).strip()
    for prefix in (title, heading):
        if prefix and text.startswith(prefix):
            text = text[len(prefix) :].lstrip(" .:\n")
    return text


def _search_rank(search: Search) -> tuple[int, float]:
    bands = {"answer": 2, "may_help": 1}
    return bands.get(search.band, 0), search.best
