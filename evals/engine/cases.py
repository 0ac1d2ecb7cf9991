"""The same run by the engine: without a database, with its journal in one, and whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Any, cast
from uuid import UUID

from agents import services
from agents.adapters.vendors.claude import Claude
from agents.adapters.vendors.house import House, RoleModel
from agents.evidence import Evidence
from agents.guardrails import GUARDRAILS
from agents.journal import RunJournal
from agents.lease import claim_run
from agents.metered import Metered
from agents.notify import announce
from agents.ports import Journal, Trace
from agents.providers import POLICY
from agents.review import produce_answer
from agents.rules import Limits
from agents.runner import Surroundings, execute_run, give_back, process_surroundings
from agents.scope import RunScope
from agents.store import Briefing, Hold, read_briefing
from agents.threads import Threads
from dsupport.contract.llm import ChatMessage, LLMClient, ModelReply
from dsupport.contract.principal import Principal
from dsupport.contract.tools import ToolContext, ToolResult
from dsupport.lib import clock
from dsupport.lib.gateway import Gateway, Room
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
        return nullcontext()

    def emit(self, _type: str, _data: Any, *, place: str) -> None:
        """Say nothing."""


@contextmanager
def claude_at(url: str) -> Iterator[Claude]:
    """Hold the adapter for a server inside the block."""
    claude = Claude(House("key", url, RoleModel("model-a")))
    try:
        yield claude
    finally:
        claude.close()


def guards_alone(claude: Claude) -> Callable[[], None]:
    """Return a run of the engine with every check and no database."""
    client = Metered(claude, Gateway(), POLICY, Room(8), lambda _booking: None)
    crew = Threads(lambda: None)
    principal = Principal(tenant_id=1, visitor=VISITOR)

    def once() -> None:
        _produce(client, crew, principal, _NoJournal(), _NoTrace())

    return once


def _produce(
    client: LLMClient, crew: Threads, principal: Principal, journal: Journal, trace: Trace
) -> None:
    now = clock.now()
    scope = RunScope(
        principal=principal,
        context={"today": now.date().isoformat()},
        evidence=Evidence(words=[QUESTION]),
        client=client,
        journal=journal,
        trace=trace,
        parallel=crew,
        guardrails=GUARDRAILS,
        limits=Limits(),
        elapsed=lambda: 0.0,
        stop_asked=lambda: None,
        act=crew.act,
        tool_context=lambda place: ToolContext(principal=principal, now=now, key=place),
    )
    produce_answer(DESK, (ChatMessage.user(QUESTION),), scope, "m1/")


class Waiting:
    """Runs that wait to be carried out, each in a conversation of its own."""

    def __init__(self, tenant: Tenant) -> None:
        self.visitor = Principal(tenant_id=tenant.pk, visitor=VISITOR)

    def submit(self) -> UUID:
        talk = services.open_conversation(principal=self.visitor, now=clock.now())
        sent = services.submit_message(
            principal=self.visitor,
            conversation_id=talk.pk,
            text=QUESTION,
            now=clock.now(),
            wake=False,
        )
        return cast(UUID, sent.run_id)


class Journalled:
    """The engine with its journal: every step, event and booking of a held run in PostgreSQL."""

    def __init__(self, claude: Claude, tenant: Tenant) -> None:
        self._claude, self._gateway, self._room = claude, Gateway(), Room(8)
        self._crew = Threads(give_back)
        self._waiting = Waiting(tenant)
        self._held: list[tuple[Hold, Briefing]] = []

    def claim(self, runs: int) -> None:
        """Hold runs that nothing has been done of yet."""
        for _ in range(runs):
            hold = claim_run(self._waiting.submit(), VISITOR, clock.now())
            if hold is None:
                raise RuntimeError("a run to be measured was taken by somebody else")
            self._held.append((hold, read_briefing(hold.run_id)))

    def once(self) -> None:
        """Produce one's answer; what has happened is in the database when this returns."""
        hold, briefing = self._held.pop()
        hint = partial(announce, briefing.conversation_id)
        journal = RunJournal(hold, briefing, clock=clock.now, announce=hint, release=give_back)
        client = Metered(self._claude, self._gateway, POLICY, self._room, journal.book)
        _produce(client, self._crew, self._waiting.visitor, journal, journal.trace)
        journal.settle()


class WholeRuns:
    """Runs that are claimed, journalled, posted and ended in PostgreSQL."""

    def __init__(self, claude: Claude, tenant: Tenant) -> None:
        gateway, room = Gateway(), Room(8)
        own = process_surroundings(VISITOR)
        self._around = Surroundings(
            owner=VISITOR,
            crew=own.crew,
            release=own.release,
            client=lambda asking: Metered(claude, gateway, POLICY, room, asking.book),
            desk=lambda _architecture: DESK,
        )
        self._tenant = Waiting(tenant)
        self._waiting: list[UUID] = []

    def submit(self, runs: int) -> None:
        """Have runs wait."""
        self._waiting += [self._tenant.submit() for _ in range(runs)]

    def carry_out(self) -> None:
        """Carry out one that waits."""
        status = execute_run(self._waiting.pop(), self._around)
        if status != "completed":
            raise RuntimeError(f"the measured run ended as {status}")

    def both(self) -> None:
        self.submit(1)
        self.carry_out()
