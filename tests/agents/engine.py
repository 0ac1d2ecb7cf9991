"""A small world for the pure engine: tools of its own, a journal in memory, a recording trace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from agents.adapters.scripted import ScriptedModel
from agents.answer import AnswerForm
from agents.evidence import Evidence
from agents.guardrails import GUARDRAILS, Guardrail
from agents.loop import Agent
from agents.rules import Limits
from agents.scope import RunScope
from agents.threads import Threads
from dsupport.contract.principal import Principal, Proof
from dsupport.contract.tools import Source, ToolArguments, ToolContext, ToolResult, ToolSpec

LIMITS = Limits()
NOW = datetime(2026, 10, 15, 9, 0, tzinfo=UTC)
CUSTOMER = Principal(tenant_id=1, proof=Proof.LOGIN, visitor="v", customer_id=7)
STRANGER = Principal(tenant_id=1, visitor="v")


class OrderNumber(ToolArguments):
    order_number: str


class Query(ToolArguments):
    query: str


class Nothing(ToolArguments):
    pass


ORDER = {"number": "1042", "total": "€49.90", "promised_on": "2026-10-05", "days_late": 10}
PASSAGE = Source("returns", "Returns policy", "Time", 3, 0.8, "You have 30 days after delivery.")


def get_order(arguments: OrderNumber, context: ToolContext) -> ToolResult:
    return ToolResult(data={**ORDER, "number": arguments.order_number})


def search_kb(arguments: Query, context: ToolContext) -> ToolResult:
    hit = {"doc_id": PASSAGE.doc_id, "title": PASSAGE.title, "text": PASSAGE.text}
    return ToolResult(data={"hits": [hit]}, sources=(PASSAGE,), trust="article")


def create_ticket(arguments: Nothing, context: ToolContext) -> ToolResult:
    return ToolResult(data={"ticket": "TKT-1001"}, ticket="TKT-1001")


TOOLS = {
    "get_order": ToolSpec("get_order", "Read an order.", OrderNumber, get_order, personal=True),
    "search_kb": ToolSpec("search_kb", "Search.", Query, search_kb),
    "create_ticket": ToolSpec("create_ticket", "Open.", Nothing, create_ticket, writes=True),
}


class MemoryJournal:
    """Records steps in a dictionary that can be handed to the next attempt."""

    def __init__(self, steps: dict[str, Any] | None = None) -> None:
        self.steps: dict[str, Any] = {} if steps is None else steps
        self.made: list[str] = []

    def _step(self, place, work):
        if place not in self.steps:
            self.steps[place] = work()
            self.made.append(place)
        return self.steps[place]

    model = _step

    def tool(self, place, act, *, writes=False):
        return self._step(place, act)

    def settle(self) -> None:
        pass


class ListTrace:
    """Keeps what was said, as (type, place, data)."""

    def __init__(self) -> None:
        self.said: list[tuple[str, str, dict[str, Any]]] = []

    @contextmanager
    def span(self, place: str, agent: str) -> Iterator[None]:
        yield

    def emit(self, type: str, data: Mapping[str, Any], *, place: str) -> None:
        self.said.append((type, place, dict(data)))

    def types(self) -> list[str]:
        return [type for type, _, _ in self.said]


def make_scope(
    model: ScriptedModel,
    *,
    principal: Principal = CUSTOMER,
    words: Sequence[str] = ("Where is order 1042?",),
    journal: MemoryJournal | None = None,
    limits: Limits = LIMITS,
    guardrails: Sequence[Guardrail] = GUARDRAILS,
    elapsed=lambda: 0.0,
    stop_asked=lambda: None,
) -> RunScope:
    crew = Threads(lambda: None)
    return RunScope(
        principal=principal,
        context={"today": "2026-10-15"},
        evidence=Evidence(words=words),
        client=model,
        journal=journal or MemoryJournal(),
        trace=ListTrace(),
        parallel=crew,
        guardrails=guardrails,
        limits=limits,
        elapsed=elapsed,
        stop_asked=stop_asked,
        act=crew.act,
        tool_context=lambda place: ToolContext(principal=principal, now=NOW, key=place),
    )


def make_agent(*names: str, tools: Mapping[str, ToolSpec] = TOOLS, **fields: Any) -> Agent:
    held = {name: tools[name] for name in names} if names else dict(tools)
    return Agent(role="solo", prompt="Answer.", tools=held, schema=AnswerForm, **fields)
