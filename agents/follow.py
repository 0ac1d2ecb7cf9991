"""Following a run from a terminal: wake a worker when one lives, else carry it out here."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Thread
from typing import Any
from uuid import UUID

from django.db import connection

from agents.feed import events_after
from agents.lease import process_owner
from agents.liveness import worker_is_alive
from agents.models import Message, Run
from agents.rules import ACTIVE, RunStatus
from agents.runner import execute_run, process_surroundings
from approvals.models import Proposal
from dsupport.lib.queue import enqueue

_LOOK_EVERY = 0.05


@dataclass(frozen=True)
class Outcome:
    """A run that has ended, with everything that was said of it."""

    run: Run
    events: list[dict[str, Any]]
    answer: dict[str, Any] | None
    closing: str  # what the desk itself said, when there is no answer

    @property
    def status(self) -> str:
        return str(self.run.status)

    def document(self) -> dict[str, Any]:
        """Return the run as one JSON document; see the interface of `ask`."""
        run = self.run
        return {
            "run_id": str(run.pk),
            "status": run.status,
            "ending": run.ending,
            "answer": self.answer or {**_EMPTY, "answer": self.closing},
            "proposals": [_proposal(found) for found in _proposals(run)],
            "usage": {
                "model_calls": run.model_calls,
                "input_tokens": run.input_tokens,
                "output_tokens": run.output_tokens,
                "cost_usd": round(run.cost / 1_000_000, 6),
            },
            "trace": self.events,
        }


def _proposals(run: Run) -> Any:
    return Proposal.objects.for_tenant(run.tenant_id).filter(run_id=str(run.pk)).order_by("id")


def _proposal(proposal: Proposal) -> dict[str, Any]:
    return {
        "id": str(proposal.pk),
        "action": proposal.action,
        "arguments": proposal.arguments,
        "tier": proposal.tier,
        "status": proposal.status,
        "hash": proposal.hash,
        "expires_at": proposal.expires_at.isoformat() if proposal.expires_at else None,
    }


_EMPTY: dict[str, Any] = {
    "answer": "",
    "intent": "other",
    "sources": [],
    "confidence": 0.0,
    "escalated": False,
    "ticket_id": None,
}


def follow_run(run_id: UUID, *, on_event: Callable[[dict[str, Any]], None]) -> Outcome:
    """Have a waiting run carried out and report its events as they happen."""
    here = None
    if worker_is_alive():
        enqueue("agents.run", run_id=str(run_id))
    else:
        here = Thread(target=_carry_out, args=(run_id,), name="run")
        here.start()
    events: list[dict[str, Any]] = []
    conversation_id = Run.objects.for_worker(run_id).values_list("conversation_id", flat=True).get()
    while True:
        here_ended = here is not None and not here.is_alive()
        over = here_ended or not _is_active(run_id)
        for event in events_after(conversation_id, events[-1]["seq"] if events else 0):
            events.append(event)
            on_event(event)
        if over:
            break
        time.sleep(_LOOK_EVERY)
    if here is not None:
        here.join()
    return _read_outcome(run_id, events)


def _carry_out(run_id: UUID) -> None:
    try:
        execute_run(run_id, process_surroundings(process_owner()))
    finally:
        connection.close()


def _is_active(run_id: UUID) -> bool:
    status = Run.objects.for_worker(run_id).values_list("status", flat=True).get()
    return RunStatus(status) in ACTIVE


def _read_outcome(run_id: UUID, events: list[dict[str, Any]]) -> Outcome:
    run = Run.objects.for_worker(run_id).select_related("conversation").get()
    said = Message.objects.for_run(run)
    answer = said.filter(author=Message.Author.ASSISTANT).first()
    closing = said.filter(author=Message.Author.SYSTEM).last()
    form = answer.form if answer else None
    if form is None and closing is not None and closing.form:
        form = {**_EMPTY, "answer": closing.text, "escalated": True, **closing.form}
    return Outcome(run, events, form, closing.text if closing else "")
