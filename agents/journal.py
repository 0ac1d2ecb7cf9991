"""Resume is running again: finished steps come from the database, new ones go there."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from datetime import datetime
from threading import Lock
from time import perf_counter
from typing import Any

from pydantic import TypeAdapter

from agents.errors import RunStopped, StopCause
from agents.metered import Booking
from agents.models import Step
from agents.store import Briefing, Hold, NewAttempt, NewStep, Pending, write
from agents.tracing import Tracer
from dsupport.contract.llm import ModelReply
from dsupport.contract.tools import ToolResult

_asking: ContextVar[str] = ContextVar("asking", default="")
_REPLY = TypeAdapter(ModelReply)
_RESULT = TypeAdapter(ToolResult)


class RunJournal:
    """The journal of one attempt at a run. Safe to use from the parallel calls of a turn.

    What happens is kept until somebody settles it, which is one round trip: before a model is
    asked, around whatever writes, and when a look-up takes its time. `announce` is told the
    stream's last number after each write; `clock` gives the shop's time; `release` gives the
    database connection back.
    """

    def __init__(
        self,
        hold: Hold,
        briefing: Briefing,
        *,
        clock: Callable[[], datetime],
        announce: Callable[[int], None],
        release: Callable[[], None],
    ) -> None:
        self.hold = hold
        self.owner_key = ""  # who is asking, for the ledger
        self._new_steps: list[NewStep] = []
        self._booked: list[NewAttempt] = []
        self._booked_ever: list[str] = []  # the places, to tell attempts apart
        self._lock = Lock()
        self._clock = clock
        self._announce = announce
        self._release = release
        self.lost = False
        self.cancel_asked = briefing.cancel_asked
        self.resumed = 0
        self._steps = briefing.steps
        self.trace = Tracer(hold.run_id, clock=clock, known=briefing.said)

    def model(self, place: str, ask: Callable[[], ModelReply]) -> ModelReply:
        """Return the recorded reply of a model call, or make the call and record it."""
        if place in self._steps:
            self.resumed += 1
            return _REPLY.validate_python(self._steps[place])
        self._release()
        started = perf_counter()
        asking = _asking.set(place)
        try:
            reply = ask()
        finally:
            _asking.reset(asking)
        data = {
            "model": reply.model,
            "stop": reply.stop.value,
            "ms": round((perf_counter() - started) * 1000),
            "input_tokens": reply.usage.input_tokens,
            "output_tokens": reply.usage.output_tokens,
            "cost": reply.usage.cost,
            "notice": reply.notice,
            "text": "Thinking…",
            "tools": [call.name for call in reply.calls],
        }
        self.trace.emit("model.called", data, place=place)
        self._keep(place, Step.Kind.MODEL, _REPLY.dump_python(reply, mode="json"))
        return reply

    def tool(
        self, place: str, act: Callable[[], ToolResult], *, writes: bool = False
    ) -> ToolResult:
        """Return the recorded result of a tool call, or make the call and record it.

        One that writes is settled before and after it acts.
        """
        if place in self._steps:
            self.resumed += 1
            return _RESULT.validate_python(self._steps[place])
        if writes:
            self.settle()
        result = act()
        self._keep(place, Step.Kind.TOOL, _RESULT.dump_python(result, mode="json"))
        if writes:
            self.settle()
        return result

    def book(self, booking: Booking) -> None:
        """Book one attempt at a vendor. One that failed is told and written at once.

        One that brought a reply is written together with the step it belongs to.
        """
        attempt = self._attempt(booking)
        with self._lock:
            self._booked.append(attempt)
            number = sum(1 for other in self._booked_ever if other == attempt.place)
            self._booked_ever.append(attempt.place)
        if booking.code:
            data = {
                "text": "The model did not answer. Going on…",
                "provider": booking.provider,
                "code": booking.code,
                "ms": attempt.ms,
                "cost": attempt.cost,
            }
            where = f"{attempt.place}#{self.hold.attempt}.{number}"
            self.trace.emit("model.failed", data, place=where)
            self.settle()

    def _attempt(self, booking: Booking) -> NewAttempt:
        return NewAttempt(
            owner_key=self.owner_key,
            place=_asking.get()[:200],
            provider=booking.provider,
            role=booking.role,
            model=booking.model,
            code=booking.code,
            input_tokens=booking.usage.input_tokens,
            output_tokens=booking.usage.output_tokens,
            cached_tokens=booking.usage.cached_tokens,
            cost=booking.usage.cost,
            ms=round(booking.seconds * 1000),
            at=self._clock(),
        )

    def stop_asked(self) -> StopCause | None:
        """Return why the run must end now: its hold is lost, or somebody cancelled it."""
        if self.lost:
            return StopCause.LOST
        return StopCause.CANCELLED if self.cancel_asked else None

    def settle(self) -> None:
        """Write down what has happened; `RunStopped(LOST)` when the hold no longer stands."""
        if not self.flush():
            raise RunStopped(StopCause.LOST)

    def flush(self) -> bool:
        """Write down what has happened; tell whether the hold stands, as far as is known."""
        pending = self.take()
        if pending:
            written = write(self.hold, pending)
            self._release()
            self.lost = self.lost or not written.held
            self.cancel_asked = self.cancel_asked or written.cancel_asked
            if written.held and pending.events:
                self._announce(written.last_seq)
        return not self.lost

    def take(self) -> Pending:
        """Return what is not written yet, for the statement that will write it."""
        with self._lock:
            steps, self._new_steps = self._new_steps, []
            booked, self._booked = self._booked, []
        return Pending(self.trace.take(), steps, booked)

    def _keep(self, place: str, kind: str, result: dict[str, Any]) -> None:
        step = NewStep(place, kind, result, self._clock())
        with self._lock:
            self._new_steps.append(step)
