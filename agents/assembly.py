"""Which agent gets which tools. Configuration that refuses a team that must not exist."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from agents.answer import AnswerForm
from agents.answerability import ROLE as ANSWERABILITY
from agents.errors import AssemblyRefused
from agents.evidence import DELEGATES
from agents.loop import Agent
from agents.prompts import load_prompt
from agents.review import Desk
from dsupport.contract.tools import ToolArguments, ToolContext, ToolResult, ToolSpec

Architecture = Literal["solo", "team"]

# Who may use what. The orchestrator holds delegates alone.
ACCESS: Mapping[str, tuple[str, ...]] = {
    "solo": (
        "search_kb", "list_my_orders", "get_order", "track_shipment", "get_product",
        "request_change", "create_ticket",
    ),
    "orchestrator": ("ask_knowledge", "ask_orders", "escalate"),
    "knowledge": ("search_kb", "get_product"),
    "orders": ("list_my_orders", "get_order", "track_shipment", "request_change"),
    "escalation": ("create_ticket",),
}  # fmt: skip
# Every role that a model may be named for.
ROLES = (*ACCESS, "reviewer", ANSWERABILITY)
_SPECIALIST = {"ask_knowledge": "knowledge", "ask_orders": "orders", "escalate": "escalation"}


class Question(ToolArguments):
    """The task for a specialist, complete in itself."""

    question: str = Field(min_length=1, max_length=4_000, description="The whole task")

    def task(self) -> str:
        return self.question


class Escalation(ToolArguments):
    """What a person must take over, and why."""

    reason: str = Field(min_length=1, max_length=60, description="Why a person is needed")
    summary: str = Field(min_length=1, max_length=4_000, description="What a person must know")
    order_number: str | None = Field(default=None, max_length=40)

    def task(self) -> str:
        order = f"\nOrder: {self.order_number}" if self.order_number else ""
        return f"Reason: {self.reason}\n{self.summary}{order}"


def _not_called(_arguments: object, _context: ToolContext) -> ToolResult:
    raise AssertionError("the loop runs delegates itself")


_DELEGATES: Mapping[str, ToolSpec] = {
    "ask_knowledge": ToolSpec(
        "ask_knowledge",
        "Ask the knowledge specialist what the shop's help articles and catalogue say.",
        Question,
        _not_called,
        progress="Looking for the shop's rules…",
    ),
    "ask_orders": ToolSpec(
        "ask_orders",
        "Ask the orders specialist for facts of the asker's own orders and parcels.",
        Question,
        _not_called,
        progress="Looking at the orders…",
    ),
    "escalate": ToolSpec(
        "escalate",
        "Have the escalation specialist open one ticket with a person.",
        Escalation,
        _not_called,
        progress="Passing this to a person…",
    ),
}


@dataclass(frozen=True, slots=True)
class Assembly:
    """The tools of every agent of an architecture, by role, and the reviewer's presence."""

    access: Mapping[str, Collection[str]]
    reviewed: bool = True


DEFAULT_ASSEMBLY = Assembly(access=ACCESS)


def build_desk(
    architecture: Architecture,
    tools: Mapping[str, ToolSpec],
    intents: Collection[str],
    assembly: Assembly = DEFAULT_ASSEMBLY,
) -> Desk:
    """Return the producer and the reviewer of an architecture; raise `AssemblyRefused` else."""
    check_assembly(assembly, tools)
    producer = (
        _build_solo(tools, intents, assembly)
        if architecture == "solo"
        else _build_team(tools, intents, assembly)
    )
    reviewer = _agent("reviewer", {}) if assembly.reviewed else None
    judge = _agent(ANSWERABILITY, {}) if assembly.reviewed else None
    return Desk(producer, reviewer, intents, judge, ticket=tools["create_ticket"])


def check_assembly(assembly: Assembly, tools: Mapping[str, ToolSpec]) -> None:
    """Refuse an orchestrator with data tools, a specialist that delegates, and unknown tools."""
    for role, names in assembly.access.items():
        for name in names:
            if role == "orchestrator" and name not in DELEGATES:
                raise AssemblyRefused(
                    f"The orchestrator must not hold '{name}': it delegates and reads no data. "
                    "Give the tool to a specialist."
                )
            if role != "orchestrator" and name in DELEGATES:
                raise AssemblyRefused(f"'{role}' must not delegate; only the orchestrator does.")
            if name not in DELEGATES and name not in tools:
                raise AssemblyRefused(f"'{role}' is given '{name}', which no room offers.")


def _build_solo(
    tools: Mapping[str, ToolSpec], intents: Collection[str], assembly: Assembly
) -> Agent:
    held = {name: tools[name] for name in assembly.access["solo"]}
    return _agent("solo", held, intents=intents)


def _build_team(
    tools: Mapping[str, ToolSpec], intents: Collection[str], assembly: Assembly
) -> Agent:
    held = {name: _DELEGATES[name] for name in assembly.access["orchestrator"]}
    specialists = {
        name: _agent(role, {tool: tools[tool] for tool in assembly.access[role]})
        for name, role in _SPECIALIST.items()
        if name in held
    }
    return _agent("orchestrator", held, delegates=specialists, intents=intents)


def _agent(
    role: str,
    tools: Mapping[str, ToolSpec],
    *,
    delegates: Mapping[str, Agent] | None = None,
    intents: Collection[str] = (),
) -> Agent:
    """Return an agent. One that is given intents hands in the answer form with one of them.

    The labels stand in the prompt, because they are the same for every question.
    """
    prompt = load_prompt(role).text
    if intents:
        prompt = f"{prompt}\n\nThe intent labels: {', '.join(sorted(intents))}."
    return Agent(
        role=role,
        prompt=prompt,
        tools=tools,
        delegates=delegates or {},
        schema=AnswerForm if intents else None,
    )
