"""How a run ends: an answer, a hand-over, a cancellation. Each is one transaction, once."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from django.db import transaction

from agents import closings
from agents.answer import AnswerForm
from agents.desk import opens_text
from agents.errors import StopCause
from agents.evidence import Evidence
from agents.intents import route_of
from agents.journal import RunJournal
from agents.models import Conversation, Message, Run
from agents.notify import announce
from agents.rules import MAX_ATTEMPTS, RunStatus
from agents.scope import RunScope
from agents.services import message_data
from agents.store import (
    Briefing,
    Ending,
    Locked,
    NewEvent,
    NewMessage,
    finish,
    has_newer_words,
    lock_run,
    read_briefing,
)
from agents.talk import Talk, as_talk
from dsupport.contract.tools import Source
from dsupport.lib.ids import new_id
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
    journal: RunJournal,
    form: AnswerForm,
    scope: RunScope,
    talk: Talk,
    *,
    force: bool,
    now: datetime,
) -> Posted:
    """Post a checked answer and end the run, if nothing has changed that forbids it.

    Judged under locks in the transaction that posts: the hold, a wish to cancel, the posture
    (a person may have taken over), and whether the customer has written more since. `force`
    posts in spite of newer words.
    """
    with transaction.atomic():
        run = lock_run(journal.hold)
        if run is None:
            return Posted.LOST
        if run.cancel_asked:
            return Posted.CANCELLED
        if has_newer_words(run.conversation_id, talk.upto) and not force:
            return Posted.NEWER_WORDS
        status = RunStatus.HANDED_OVER if form.escalated else RunStatus.COMPLETED
        if run.posture == Conversation.Posture.AUTO:
            document = answer_document(form, scope)
            cited = [(source["doc_id"], source["heading"]) for source in document["sources"]]
            mark_cited(principal=scope.principal, run_id=str(journal.hold.run_id), cited=cited)
            message, events = _answer(document, scope, now)
            _end(journal, run, Ending(status.value, now), scope, events, message)
        else:
            ending = Ending(status.value, now, "a_person_answers", form.answer)
            _end(journal, run, ending, scope, [])
    return Posted(status.value)


def hand_over(
    journal: RunJournal,
    briefing: Briefing,
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
    ticket = _open_ticket(briefing, scope.evidence, talk, reason=reason, now=now)
    opens = opens_text(briefing.shop, now)
    status = RunStatus.HANDED_OVER if cause else RunStatus.FAILED
    message, said = _system(closings.hand_over_text(cause, ticket, opens), ticket, now)
    events = [_escalated(reason, ticket, opens, scope.evidence, now), said]
    ending = Ending(status.value, now, cause.value if cause else "fault", detail)
    return _finish(journal, ending, scope, events, message, aloud=False)


def finish_cancelled(journal: RunJournal, scope: RunScope, *, now: datetime) -> str | None:
    """End a run that somebody cancelled; what was already done is told."""
    message, said = _system(closings.cancelled_text(scope.evidence.tickets), "", now)
    ending = Ending(RunStatus.CANCELLED.value, now, "cancelled")
    return _finish(journal, ending, scope, [said], message)


def give_up(run_id: UUID, *, now: datetime) -> str | None:
    """End a run that has used up its attempts, with a ticket; None when it is not such a run."""
    spent = Run.objects.claimable().filter(pk=run_id, attempt__gte=MAX_ATTEMPTS)
    if not spent.exists():
        return None
    briefing = read_briefing(run_id)
    talk = as_talk(briefing.messages)
    evidence = Evidence(words=talk.words)
    ticket = _open_ticket(briefing, evidence, talk, reason="tool_failure", now=now)
    opens = opens_text(briefing.shop, now)
    message, said = _system(closings.hand_over_text(None, ticket, opens), ticket, now)
    escalated = _escalated("tool_failure", ticket, opens, evidence, now)
    ending = Ending(RunStatus.FAILED.value, now, "attempts_used_up")
    with transaction.atomic():
        run = spent.select_related("conversation").select_for_update(no_key=True).first()
        if run is None:
            return None
        alone = run.conversation.posture == Conversation.Posture.AUTO
        seq = finish(
            run_id,
            briefing.conversation_id,
            ending,
            events=[*([escalated, said] if alone else []), _finished(ending, None)],
            message=message if alone else None,
        )
        transaction.on_commit(lambda: announce(briefing.conversation_id, seq))
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


def _open_ticket(
    briefing: Briefing, evidence: Evidence, talk: Talk, *, reason: str, now: datetime
) -> str:
    """Open the ticket of an ending, or take the one that this run has opened already."""
    if evidence.tickets:
        return evidence.tickets[0]
    words = " / ".join(talk.words)
    result = escalate(
        principal=talk.principal,
        reason=reason,
        summary=f"The assistant could not finish. The customer wrote: {words[:1_500]}",
        order_number=None,
        conversation_id=str(briefing.conversation_id),
        run_id=str(briefing.run_id),
        key=f"{briefing.run_id}/ending",
        now=now,
        evidence=evidence_document(evidence),
    )
    return result.ticket


def _finish(
    journal: RunJournal,
    ending: Ending,
    scope: RunScope,
    events: list[NewEvent],
    message: NewMessage,
    *,
    aloud: bool = True,
) -> str | None:
    """End a run with a message; unless `aloud`, in silence where a person answers."""
    with transaction.atomic():
        run = lock_run(journal.hold)
        if run is None:
            return None
        if aloud or run.posture == Conversation.Posture.AUTO:
            _end(journal, run, ending, scope, events, message)
        else:
            _end(journal, run, ending, scope, [])
    return ending.status


def _answer(
    document: dict[str, Any], scope: RunScope, now: datetime
) -> tuple[NewMessage, list[NewEvent]]:
    """Return the answer's message and what the stream says of it."""
    answer = Message.Author.ASSISTANT
    message = NewMessage(new_id(), answer, document["answer"], document, "answer")
    data = {
        **document,
        "message_id": str(message.id),
        "needs": "identity" if _needs_identity(document, scope) else None,
        "notice": scope.meter.notice,
    }
    events = [NewEvent("answer", data, now, key="answer")]
    if document["ticket_id"]:
        opens = str(scope.context.get("desk_opens", ""))
        reason = _ticket_reason(scope.evidence)
        events.insert(0, _escalated(reason, document["ticket_id"], opens, scope.evidence, now))
    return message, events


def _system(text: str, ticket: str, now: datetime) -> tuple[NewMessage, NewEvent]:
    """Return a message of the desk itself and what the stream says of it."""
    form = {"ticket_id": ticket} if ticket else None
    message = Message(id=new_id(), author=Message.Author.SYSTEM, text=text)
    said = NewEvent("message", message_data(message), now, key="closing")
    return NewMessage(message.pk, message.author, text, form, "message"), said


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


def _end(
    journal: RunJournal,
    run: Locked,
    ending: Ending,
    scope: RunScope,
    events: list[NewEvent],
    message: NewMessage | None = None,
) -> None:
    """Write the end of a locked run and say so; hints go out when the transaction commits."""
    ending = replace(ending, usage=scope.meter.usage)
    seq = finish(
        journal.hold.run_id,
        run.conversation_id,
        ending,
        events=[*events, _finished(ending, scope)],
        message=message,
        pending=journal.take(),
        attempt=journal.hold.attempt,
    )
    transaction.on_commit(lambda: announce(run.conversation_id, seq))


def _finished(ending: Ending, scope: RunScope | None) -> NewEvent:
    usage = ending.usage
    data = {
        "status": ending.status,
        "ending": ending.ending,
        "ms": round(scope.elapsed() * 1000) if scope else None,
        "model_calls": usage.model_calls if usage else None,
        "cost": usage.cost if usage else None,
    }
    return NewEvent("run.finished", data, ending.at, key="end")
