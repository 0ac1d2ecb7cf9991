"""How a run ends: an answer, a hand-over, a cancellation. Each is one transaction, once."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import F

from agents import closings
from agents.answer import AnswerForm
from agents.desk import opens_text
from agents.errors import StopCause
from agents.evidence import Evidence
from agents.intents import route_of
from agents.models import Conversation, Message, Run
from agents.notify import announce
from agents.rules import MAX_ATTEMPTS, RunStatus
from agents.scope import RunScope
from agents.services import message_data
from agents.store import Hold, NewEvent, append
from agents.talk import Talk, read_talk
from dsupport.contract.tools import Source
from dsupport.models import Tenant
from knowledge.tools import mark_cited
from tickets.tools import escalate


class Posted(StrEnum):
    """What became of an answer that was ready to post."""

    COMPLETED = "completed"
    HANDED_OVER = "handed_over"
    NEWER_WORDS = "newer_words"
    CANCELLED = "cancelled"
    LOST = "lost"


def post_answer(
    hold: Hold, form: AnswerForm, scope: RunScope, talk: Talk, *, force: bool, now: datetime
) -> Posted:
    """Post a checked answer and end the run, if nothing has changed that forbids it.

    Judged under locks in the transaction that posts: the hold, a wish to cancel, the posture
    (a person may have taken over), and whether the customer has written more since. `force`
    posts in spite of newer words.
    """
    with transaction.atomic():
        run = _lock(hold)
        if run is None:
            return Posted.LOST
        if run.cancel_asked_at is not None:
            return Posted.CANCELLED
        conversation = Conversation.objects.for_run(run).select_for_update().get()
        if _has_newer_words(conversation, talk) and not force:
            return Posted.NEWER_WORDS
        status = RunStatus.HANDED_OVER if form.escalated else RunStatus.COMPLETED
        document = answer_document(form, scope)
        if conversation.posture == Conversation.Posture.AUTO:
            _store_answer(run, document, scope, now)
            cited = [(source["doc_id"], source["heading"]) for source in document["sources"]]
            mark_cited(principal=scope.principal, run_id=str(run.pk), cited=cited)
            _end(run, status, scope, now=now)
        else:
            _end(run, status, scope, now=now, ending="a_person_answers", detail=form.answer)
    return Posted(status.value)


def hand_over(
    hold: Hold,
    run: Run,
    scope: RunScope,
    talk: Talk,
    *,
    cause: StopCause | None,
    detail: str,
    now: datetime,
) -> str | None:
    """Open a ticket and tell the customer; the path of every ending without an answer.

    `cause` is None for a fault of ours, which ends the run as failed.
    """
    reason = closings.TICKET_REASON.get(cause, "tool_failure") if cause else "tool_failure"
    ticket = _open_ticket(run, scope.evidence, talk, reason=reason, now=now)
    opens = opens_text(Tenant.objects.get(pk=run.tenant_id), now)
    text = closings.hand_over_text(cause, ticket, opens)
    status = RunStatus.HANDED_OVER if cause else RunStatus.FAILED

    def post(locked: Run) -> None:
        escalated = _escalated(reason, ticket, opens, scope.evidence, now)
        _store_system(locked, text, ticket, now, before=[escalated])
        ending = cause.value if cause else "fault"
        _end(locked, status, scope, now=now, ending=ending, detail=detail)

    return _finish(hold, post, status)


def finish_cancelled(hold: Hold, scope: RunScope, *, now: datetime) -> str | None:
    """End a run that somebody cancelled; what was already done is told."""
    text = closings.cancelled_text(scope.evidence.tickets)

    def post(locked: Run) -> None:
        _store_system(locked, text, "", now)
        _end(locked, RunStatus.CANCELLED, scope, now=now, ending="cancelled")

    return _finish(hold, post, RunStatus.CANCELLED)


def give_up(run_id: UUID, *, now: datetime) -> str | None:
    """End a run that has used up its attempts, with a ticket; None when it is not such a run."""
    run = (
        Run.objects.claimable()
        .filter(pk=run_id, attempt__gte=MAX_ATTEMPTS)
        .select_related("conversation")
        .first()
    )
    if run is None:
        return None
    talk = read_talk(run.conversation)
    evidence = Evidence(words=talk.words)
    ticket = _open_ticket(run, evidence, talk, reason="tool_failure", now=now)
    opens = opens_text(Tenant.objects.get(pk=run.tenant_id), now)
    text = closings.hand_over_text(None, ticket, opens)
    with transaction.atomic():
        locked = Run.objects.claimable().select_for_update().filter(pk=run_id).first()
        if locked is None:
            return None
        escalated = _escalated("tool_failure", ticket, opens, evidence, now)
        _store_system(locked, text, ticket, now, before=[escalated])
        _end(locked, RunStatus.FAILED, None, now=now, ending="attempts_used_up")
    return RunStatus.FAILED.value


def answer_document(form: AnswerForm, scope: RunScope) -> dict[str, Any]:
    """Return the answer as programs get it: sources resolved to title, heading and version."""
    sources = [_resolve(cited.doc_id, cited.heading, scope.evidence) for cited in form.sources]
    return {
        "answer": form.answer,
        "intent": form.intent,
        "sources": [source for source in sources if source],
        "confidence": round(form.confidence, 3),
        "escalated": form.escalated,
        "ticket_id": form.ticket_id,
    }


def evidence_document(evidence: Evidence) -> dict[str, Any]:
    """Return what the gate freezes with a proposal: words, results, passages with scores."""
    return {
        "words": list(evidence.words),
        "results": [
            {
                "tool": item.tool,
                "trust": item.result.trust,
                "is_error": item.result.is_error,
                "data": item.result.data,
            }
            for item in evidence.seen
        ],
        "hits": [
            {
                "doc_id": source.doc_id,
                "heading": source.heading,
                "version": source.version,
                "score": f"{source.score:.4f}",
                "trust": "article",
            }
            for source in evidence.sources
        ],
    }


def _resolve(doc_id: str, heading: str, evidence: Evidence) -> dict[str, Any]:
    found = [source for source in evidence.sources if source.doc_id == doc_id]
    if not found:
        return {}
    best: Source = next((s for s in found if s.heading == heading), found[0])
    return {
        "doc_id": best.doc_id,
        "title": best.title,
        "heading": best.heading,
        "version": best.version,
    }


def _open_ticket(run: Run, evidence: Evidence, talk: Talk, *, reason: str, now: datetime) -> str:
    """Open the ticket of an ending, or take the one that this run has opened already."""
    if evidence.tickets:
        return evidence.tickets[0]
    words = " / ".join(talk.words)
    result = escalate(
        principal=talk.principal,
        reason=reason,
        summary=f"The assistant could not finish. The customer wrote: {words[:1_500]}",
        order_number=None,
        conversation_id=str(run.conversation_id),
        run_id=str(run.pk),
        key=f"{run.pk}/ending",
        now=now,
        evidence=evidence_document(evidence),
    )
    return result.ticket


def _lock(hold: Hold) -> Run | None:
    run: Run | None = (
        Run.objects.for_worker(hold.run_id)
        .select_for_update()
        .filter(lease_owner=hold.owner, attempt=hold.attempt, status=RunStatus.RUNNING)
        .first()
    )
    return run


def _finish(hold: Hold, post: Callable[[Run], None], status: RunStatus) -> str | None:
    with transaction.atomic():
        run = _lock(hold)
        if run is None:
            return None
        Conversation.objects.for_run(run).select_for_update().get()
        post(run)
    return status.value


def _has_newer_words(conversation: Conversation, talk: Talk) -> bool:
    return (
        Message.objects.for_conversation(conversation)
        .filter(author=Message.Author.CUSTOMER, seq__gt=talk.upto)
        .exists()
    )


def _store_answer(run: Run, document: dict[str, Any], scope: RunScope, now: datetime) -> None:
    message = Message(
        conversation_id=run.conversation_id,
        run=run,
        author=Message.Author.ASSISTANT,
        text=document["answer"],
        form=document,
        created_at=now,
    )
    needs = "identity" if _needs_identity(document, scope) else None
    data = {
        **document,
        "message_id": str(message.pk),
        "needs": needs,
        "notice": scope.meter.notice,
    }
    events = [NewEvent("answer", data, now, key="answer")]
    if document["ticket_id"]:
        opens = str(scope.context.get("desk_opens", ""))
        reason = _ticket_reason(scope.evidence)
        events.insert(0, _escalated(reason, document["ticket_id"], opens, scope.evidence, now))
    message.seq = append(run.conversation_id, events, run_id=run.pk, now=now)[-1]
    message.save(force_insert=True)


def _needs_identity(document: dict[str, Any], scope: RunScope) -> bool:
    """Tell whether the chat should offer to sign in: a question about orders, from nobody known."""
    about_orders = route_of(document["intent"]) in {"orders", "action"}
    return scope.principal.is_anonymous and about_orders and not document["escalated"]


def _ticket_reason(evidence: Evidence) -> str:
    for item in evidence.seen:
        if item.result.ticket and isinstance(item.result.data, dict):
            return str(item.result.data.get("reason", "customer_request"))
    return "customer_request"


def _escalated(reason: str, ticket: str, opens: str, evidence: Evidence, now: datetime) -> NewEvent:
    titles = list(dict.fromkeys(source.title for source in evidence.sources))
    text = closings.passed_on(evidence.orders, titles)
    data = {"reason": reason, "ticket": ticket, "opens": opens, "text": text}
    return NewEvent("escalated", data, now, key="escalated")


def _store_system(
    run: Run, text: str, ticket: str, now: datetime, *, before: list[NewEvent] | None = None
) -> None:
    message = Message(
        conversation_id=run.conversation_id,
        run=run,
        author=Message.Author.SYSTEM,
        text=text,
        form={"ticket_id": ticket} if ticket else None,
        created_at=now,
    )
    said = NewEvent("message", message_data(message), now, key="closing")
    message.seq = append(run.conversation_id, [*(before or []), said], run_id=run.pk, now=now)[-1]
    message.save(force_insert=True)


def _end(
    run: Run,
    status: RunStatus,
    scope: RunScope | None,
    *,
    now: datetime,
    ending: str = "",
    detail: str = "",
) -> None:
    """Write the end of a locked run and say so; hints go out when the transaction commits."""
    usage = scope.meter.usage if scope else None
    Run.objects.filter(pk=run.pk).update(
        status=status,
        ending=ending,
        detail=detail,
        finished_at=now,
        lease_owner="",
        lease_until=None,
        version=F("version") + 1,
        model_calls=usage.model_calls if usage else F("model_calls"),
        input_tokens=usage.input_tokens if usage else F("input_tokens"),
        output_tokens=usage.output_tokens if usage else F("output_tokens"),
        cost=usage.cost if usage else F("cost"),
    )
    data = {
        "status": status.value,
        "ending": ending,
        "ms": round(scope.elapsed() * 1000) if scope else None,
        "model_calls": usage.model_calls if usage else None,
        "cost": usage.cost if usage else None,
    }
    finished = NewEvent("run.finished", data, now, key="end")
    seq = append(run.conversation_id, [finished], run_id=run.pk, now=now)[-1]
    transaction.on_commit(lambda: announce(run.conversation_id, seq))
