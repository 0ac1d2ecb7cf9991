"""Carrying out a run: claim it, answer, post; and end it coherently when it cannot be answered."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import partial
from math import ceil
from threading import Event
from time import monotonic
from typing import cast
from uuid import UUID

import structlog
from django.db import DatabaseError, InterfaceError, OperationalError, connection

from agents import endings
from agents.ahead import look_ahead
from agents.answer import AnswerForm
from agents.assembly import Architecture, build_desk
from agents.context import assemble
from agents.desk import turn_context
from agents.endings import Posted
from agents.errors import RunStopped, StopCause
from agents.evidence import Evidence
from agents.guardrails import GUARDRAILS
from agents.intents import intent_labels
from agents.journal import RunJournal
from agents.lease import claim_run, heartbeat, postpone_run, release_run
from agents.notify import announce
from agents.ports import Crew
from agents.providers import Asking, client_for
from agents.review import Desk, produce_answer
from agents.rules import Limits
from agents.scope import Meter, RunScope
from agents.store import Briefing, Hold, read_briefing
from agents.talk import Talk, as_talk
from agents.threads import Threads
from agents.toolkit import all_tools
from agents.tracing import RUN_PLACE
from dsupport.contract.llm import ChatMessage, LLMClient
from dsupport.contract.principal import Principal
from dsupport.contract.tools import ToolContext
from dsupport.lib import clock
from dsupport.lib.queue import enqueue
from orders.tools import describe_asker, private_lines

log = structlog.get_logger(__name__)
DEFAULT_LIMITS = Limits()
_leaving = Event()
MAX_ROUNDS = 3  # how often newer words of the customer may make a finished draft start over


def configured_desk(architecture: Architecture) -> Desk:
    """Return the agents of an architecture with the tools that the rooms offer."""
    return build_desk(architecture, all_tools(), intent_labels())


@dataclass(frozen=True)
class Surroundings:
    """What a process gives to the runs it carries out."""

    owner: str
    crew: Crew
    release: Callable[[], None]
    draining: Callable[[], bool] = lambda: False
    now: Callable[[], datetime] = clock.now
    limits: Limits = DEFAULT_LIMITS
    client: Callable[[Asking], LLMClient] = client_for
    desk: Callable[[Architecture], Desk] = configured_desk


def process_surroundings(owner: str) -> Surroundings:
    """Return the surroundings of a worker: threads, and connections given back when idle."""
    return Surroundings(
        owner=owner, crew=Threads(give_back), release=give_back, draining=_leaving.is_set
    )


def drain() -> None:
    """Have every run of this process let go at its next step, because the process is to end."""
    _leaving.set()


def give_back() -> None:
    """Return this thread's database connection to the pool."""
    connection.close()


def execute_run(run_id: UUID, around: Surroundings) -> str | None:
    """Carry out a run to its end and return its status; None when it is left to somebody else.

    Trouble with the database leaves the run to the sweeper: the lease runs out and another
    attempt goes on from the journal. Everything else ends the run with a message.
    """
    if around.draining():
        return None  # its owner's name must not claim again what it has passed along
    hold = claim_run(run_id, around.owner, around.now())
    if hold is None:
        return endings.give_up(run_id, now=around.now())
    with heartbeat().holding(hold), structlog.contextvars.bound_contextvars(run=str(run_id)):
        try:
            return _attempt(hold, around)
        except (OperationalError, InterfaceError) as error:
            log.warning("run.database_lost", error=str(error))
            around.release()
            return None


def _attempt(hold: Hold, around: Surroundings) -> str | None:
    briefing = read_briefing(hold.run_id)
    announce_here = partial(announce, briefing.conversation_id)
    announce_here(briefing.last_seq)
    journal = RunJournal(
        hold, briefing, clock=around.now, announce=announce_here, release=around.release
    )
    work = _Work(briefing, around, journal, monotonic())
    try:
        with journal.trace.span(RUN_PLACE, "desk"):
            return work.answer()
    except RunStopped as stop:
        return work.stop(stop)
    except DatabaseError:
        raise
    except Exception as error:
        # The top of a run, a fault of ours: recorded, the customer is told, staff get a ticket.
        log.exception("run.fault")
        work.fail(error)
        raise


class _Work:
    """One attempt at a run, with what it has gathered so far."""

    def __init__(
        self, briefing: Briefing, around: Surroundings, journal: RunJournal, started: float
    ) -> None:
        self.run, self.around, self.journal = briefing, around, journal
        self.started = started
        self.meter = Meter()
        self.talk: Talk = as_talk(briefing.messages)
        journal.owner_key = self.talk.principal.owner_key
        self.scope = self._scope()

    def answer(self) -> str | None:
        """Draft, check and post; start over when the customer has written more meanwhile."""
        for round_number in range(MAX_ROUNDS):
            form = self._produce()
            last = round_number == MAX_ROUNDS - 1
            posted = endings.post_answer(
                self.journal, form, self.scope, self.talk, force=last, now=self.around.now()
            )
            if posted is not Posted.NEWER_WORDS:
                return self._done(posted)
            self.talk = as_talk(read_briefing(self.run.run_id).messages)
            self.scope = self._scope()
        raise AssertionError("the last round posts")

    def stop(self, stop: RunStopped) -> str | None:
        """End the run as its cause asks: let go, pass along, say it was cancelled, or hand over."""
        if not self.journal.flush():
            log.info("run.lost")
            return None
        if stop.cause is StopCause.DRAINING:
            self._pass_along()
            return None
        if stop.cause is StopCause.WAIT:
            self._lay_aside(float(stop.detail))
            return None
        if stop.cause is StopCause.CANCELLED:
            return endings.finish_cancelled(self.journal, self.scope, now=self.around.now())
        log.warning("run.stopped", cause=stop.cause.value, detail=stop.detail)
        return endings.hand_over(
            self.journal,
            self.run,
            self.scope,
            self.talk,
            cause=stop.cause,
            detail=stop.detail,
            now=self.around.now(),
        )

    def _pass_along(self) -> None:
        """Let another worker go on from the journal, at once."""
        log.info("run.passed_along")
        release_run(self.journal.hold)
        enqueue("agents.run", run_id=str(self.run.run_id))

    def _lay_aside(self, seconds: float) -> None:
        """Wait for a vendor without a worker; the customer hears of it, and may cancel."""
        minutes = ceil(seconds / 60)
        text = f"The model is busy. I go on within {minutes} minute{'s' if minutes > 1 else ''}…"
        self.journal.trace.emit("run.waiting", {"text": text, "seconds": seconds}, place="wait")
        log.info("run.laid_aside", seconds=seconds)
        if self.journal.flush():
            postpone_run(self.journal.hold, seconds)

    def _stop_asked(self) -> StopCause | None:
        asked = self.journal.stop_asked()
        return asked or (StopCause.DRAINING if self.around.draining() else None)

    def fail(self, error: Exception) -> None:
        detail = "".join(traceback.format_exception(error, limit=-6))[-4_000:]
        if not self.journal.flush():
            return
        endings.hand_over(
            self.journal,
            self.run,
            self.scope,
            self.talk,
            cause=None,
            detail=detail,
            now=self.around.now(),
        )

    def _produce(self) -> AnswerForm:
        architecture = cast(Architecture, self.run.architecture)
        desk = self.around.desk(architecture)
        if self.run.provider == "offline":  # its rules quote, and the bands of the search decide
            desk = replace(desk, judge=None)
        place = f"m{self.talk.upto}/"
        messages = assemble(self.talk.past, self.talk.words)
        if self.run.provider != "offline":
            words = messages[-1]
            today = date.fromisoformat(self.scope.context["today"])
            found = look_ahead(desk.producer, self.scope, f"{place}ahead", today=today)
            messages = (*messages[:-1], ChatMessage(words.role, (*words.parts, *found)))
        return produce_answer(desk, messages, self.scope, place)

    def _done(self, posted: Posted) -> str | None:
        if posted is Posted.LOST:
            self.journal.flush()  # what was spent is booked, whoever holds the run now
            return None
        if posted is Posted.CANCELLED:
            return endings.finish_cancelled(self.journal, self.scope, now=self.around.now())
        return posted.value

    def _scope(self) -> RunScope:
        now = self.around.now()
        principal = self.talk.principal
        context = turn_context(
            self.run.shop,
            now=now,
            asker=describe_asker(principal),
            intents=intent_labels(),
        )
        evidence = Evidence(
            words=self.talk.words,
            earlier_words=self.talk.earlier_words,
            context={key: value for key, value in context.items() if key != "intents"},
            known_tickets=self.talk.tickets,
        )
        return RunScope(
            principal=principal,
            context=context,
            evidence=evidence,
            client=self.around.client(self._asking(principal)),
            journal=self.journal,
            trace=self.journal.trace,
            parallel=self.around.crew,
            guardrails=GUARDRAILS,
            limits=self.around.limits,
            elapsed=lambda: monotonic() - self.started,
            stop_asked=self._stop_asked,
            act=self.around.crew.act,
            tool_context=partial(self._tool_context, evidence),
            meter=self.meter,
        )

    def _asking(self, principal: Principal) -> Asking:
        return Asking(
            provider=self.run.provider,
            tenant_id=self.run.tenant_id,
            owner_key=principal.owner_key,
            now=self.around.now,
            book=self.journal.book,
            may_wait=self.run.waits == 0,
            private=private_lines(principal) if self.run.provider != "offline" else (),
            release=self.around.release,
        )

    def _tool_context(self, evidence: Evidence, place: str) -> ToolContext:
        return ToolContext(
            principal=self.talk.principal,
            now=self.around.now(),
            key=f"{self.run.run_id}/{place}",
            run_id=str(self.run.run_id),
            conversation_id=str(self.run.conversation_id),
            customer_words=tuple(self.talk.words),
            earlier_words=tuple(self.talk.earlier_words),
            evidence=endings.evidence_document(evidence),
        )
