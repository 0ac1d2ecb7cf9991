"""The same run by the engine: with everything but the database, and whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast
from uuid import UUID

from agents import services
from agents.adapters.vendors.claude import Claude
from agents.adapters.vendors.house import House, RoleModel
from agents.evidence import Evidence
from agents.guardrails import GUARDRAILS
from agents.metered import Metered, Room
from agents.providers import POLICY
from agents.review import produce_answer
from agents.rules import Limits
from agents.runner import Surroundings, execute_run, process_surroundings
from agents.scope import RunScope
from agents.threads import Threads
from dsupport.contract.llm import ChatMessage, ModelReply
from dsupport.contract.principal import Principal
from dsupport.contract.tools import ToolContext, ToolResult
from dsupport.lib import clock
from dsupport.lib.gateway import Gateway
from dsupport.models import Tenant
from evals.engine.world import DESK, QUESTION

VISITOR = "bench"


class _NoJournal:
    """Carries steps out and remembers none."""

    def model(self, _place: str, ask: Callable[[], ModelReply]) -> ModelReply:
        return ask()

    def tool(
        self, _place: str, act: Callable[[], ToolResult], *, writes: bool = False
    ) -> ToolResult:
        return act()

    def settle(self) -> None:
        """Nothing waits to be written."""


class _NoTrace:
    def span(self, _place: str, _agent: str) -> Any:
        from contextlib import nullcontext

        return nullcontext()

    def emit(self, _type: str, _data: Any, *, place: str) -> None:
        """Say nothing."""


def guards_alone(url: str) -> Callable[[], None]:
    """Return a run of the engine with every check and no database."""
    claude = Claude(House("key", url, RoleModel("model-a")))
    client = Metered(claude, Gateway(), POLICY, Room(8), lambda _booking: None)
    crew = Threads(lambda: None)
    principal = Principal(tenant_id=1, visitor=VISITOR)
    now = clock.now()

    def once() -> None:
        scope = RunScope(
            principal=principal,
            context={"today": now.date().isoformat()},
            evidence=Evidence(words=[QUESTION]),
            client=client,
            journal=_NoJournal(),
            trace=_NoTrace(),
            parallel=crew,
            guardrails=GUARDRAILS,
            limits=Limits(),
            elapsed=lambda: 0.0,
            stop_asked=lambda: None,
            act=crew.act,
            tool_context=lambda place: ToolContext(principal=principal, now=now, key=place),
        )
        produce_answer(DESK, (ChatMessage.user(QUESTION),), scope, "m1/")

    return once


class WholeRuns:
    """Runs that are claimed, journalled, posted and ended in PostgreSQL."""

    def __init__(self, url: str, tenant: Tenant) -> None:
        claude = Claude(House("key", url, RoleModel("model-a")))
        gateway, room = Gateway(), Room(8)
        own = process_surroundings(VISITOR)
        self._around = Surroundings(
            owner=VISITOR,
            crew=own.crew,
            release=own.release,
            client=lambda asking: Metered(claude, gateway, POLICY, room, asking.book),
            desk=lambda _architecture: DESK,
        )
        self._visitor = Principal(tenant_id=tenant.pk, visitor=VISITOR)
        self._waiting: list[UUID] = []

    def submit(self, runs: int) -> None:
        """Have runs wait, each in a conversation of its own."""
        for _ in range(runs):
            talk = services.open_conversation(principal=self._visitor, now=clock.now())
            sent = services.submit_message(
                principal=self._visitor,
                conversation_id=talk.pk,
                text=QUESTION,
                now=clock.now(),
                wake=False,
            )
            self._waiting.append(cast(UUID, sent.run_id))

    def carry_out(self) -> None:
        """Carry out one that waits."""
        status = execute_run(self._waiting.pop(), self._around)
        if status != "completed":
            raise RuntimeError(f"the measured run ended as {status}")

    def both(self) -> None:
        self.submit(1)
        self.carry_out()
