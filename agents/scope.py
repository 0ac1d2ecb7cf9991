"""Everything one run carries with it, handed down as values and callables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from threading import Lock
from typing import Any

from agents.errors import RunStopped, StopCause
from agents.evidence import Evidence
from agents.guardrails import Guardrail, Situation
from agents.ports import Journal, Parallel, Trace
from agents.rules import Limits, find_overrun
from dsupport.contract.errors import PortError
from dsupport.contract.llm import LLMClient, ModelReply, ModelRequest, Usage
from dsupport.contract.principal import Principal
from dsupport.contract.tools import ToolContext, ToolResult, ToolSpec


class Meter:
    """Adds up what a run consumed, and keeps what is to be said of it. Agents share one."""

    def __init__(self) -> None:
        self._usage = Usage()
        self._notice = ""
        self._lock = Lock()

    def add(self, reply: ModelReply) -> None:
        with self._lock:
            self._usage += reply.usage
            self._notice = reply.notice or self._notice

    @property
    def usage(self) -> Usage:
        with self._lock:
            return self._usage

    @property
    def notice(self) -> str:
        """Return why the offline rules stood in, if they did for any step."""
        with self._lock:
            return self._notice


@dataclass(frozen=True)
class RunScope:
    """The surroundings of one run.

    `elapsed` gives the seconds of this attempt; `stop_asked` says why the run must end now, if
    it must (cancelled, or its lease lost); `act` runs a tool's body within its time limit.
    """

    principal: Principal
    context: Mapping[str, Any]
    evidence: Evidence
    client: LLMClient
    journal: Journal
    trace: Trace
    parallel: Parallel
    guardrails: Sequence[Guardrail]
    limits: Limits
    elapsed: Callable[[], float]
    stop_asked: Callable[[], StopCause | None]
    act: Callable[[ToolSpec, Any, ToolContext, Callable[[], None]], ToolResult]
    tool_context: Callable[[str], ToolContext]
    meter: Meter = field(default_factory=Meter)

    @property
    def situation(self) -> Situation:
        return Situation(self.principal, self.evidence)

    def check(self, *, settle: bool = True) -> None:
        """Write down what has happened; stop when somebody asked for it or at a limit.

        Before look-ups that are likely to be quick, writing can wait: see `Crew.act`.
        """
        if settle:
            self.journal.settle()
        cause = self.stop_asked() or find_overrun(self.limits, self.meter.usage, self.elapsed())
        if cause is not None:
            raise RunStopped(cause)

    def ask(
        self, call: Callable[[ModelRequest], ModelReply], request: ModelRequest, place: str
    ) -> ModelReply:
        """Ask the model through the journal and book what it consumed."""
        try:
            reply = self.journal.model(place, partial(call, request))
        except PortError as error:
            raise RunStopped(StopCause.MODEL_DOWN, error.message) from error
        self.meter.add(reply)
        return reply

    @property
    def time_left(self) -> float:
        return max(self.limits.seconds - self.elapsed(), 0.0)
