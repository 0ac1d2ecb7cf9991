"""People in a conversation: they watch, take over, speak and hand back, and it is on record."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import transaction

from agents.errors import ConversationNotFound, UnknownPosture
from agents.models import Conversation, Message, Run
from agents.notify import announce
from agents.rules import check_message
from agents.services import message_data, wake_assistant
from agents.store import NewEvent, append
from approvals.models import Proposal
from approvals.services import ask_back, record
from dsupport.access import works_for
from dsupport.contract.errors import Forbidden

Staff = AbstractBaseUser | AnonymousUser
Posture = Conversation.Posture
MAX_REASON = 300
_WHY = {
    Posture.AUTO: "Handed back to the assistant",
    Posture.DRAFT_ONLY: "A person reads before it is sent",
    Posture.OFF: "A person took over",
}


def set_posture(
    *, conversation_id: UUID | str, posture: str, by: Staff, reason: str = "", now: datetime
) -> Conversation:
    """Say who answers from now on; return the conversation.

    An answer that is being drafted meets the change under the same lock in which it would be
    posted, so it comes either before or not at all. Handed back, the assistant answers what
    the customer wrote last, if nobody has.
    """
    if posture not in set(Posture):
        raise UnknownPosture(f"Choose one of: {', '.join(Posture)}.")
    with transaction.atomic():
        talk = _lock(conversation_id, by)
        if talk.posture == posture:
            return talk
        seq = append(talk.pk, [_move(talk, posture, by, reason, now)], run_id=None, now=now)[-1]
        if posture == Posture.AUTO:
            wake_assistant(talk, now)
        transaction.on_commit(lambda: announce(talk.pk, seq))
        _record(talk, by, now)
    return talk


def speak(
    *, conversation_id: UUID | str, text: object, by: Staff, client_id: str = "", now: datetime
) -> Message:
    """Say something to the customer as a person, by name; the assistant is silent from then on.

    Where a person reads the assistant's drafts already, it goes on drafting. The same
    `client_id` is said once.
    """
    words = check_message(text)
    with transaction.atomic():
        talk = _lock(conversation_id, by)
        said = Message.objects.for_conversation(talk)
        known: Message | None = said.filter(client_id=client_id).first() if client_id else None
        if known is not None:
            return known
        joined = talk.posture == Posture.AUTO
        message = Message(
            conversation=talk,
            author=Message.Author.STAFF,
            name=name_of(by),
            text=words,
            client_id=client_id,
            created_at=now,
        )
        events = [NewEvent("message", message_data(message), now)]
        if joined:
            events.insert(0, _move(talk, Posture.OFF, by, "", now))
        message.seq = append(talk.pk, events, run_id=None, now=now)[-1]
        message.save(force_insert=True)
        transaction.on_commit(lambda: announce(talk.pk, message.seq))
        if joined:
            _record(talk, by, now)
    return message


def ask_customer_back(
    *, proposal_id: str, text: object, by: Staff, client_id: str = "", now: datetime
) -> Proposal:
    """Ask the customer about a request before it is decided, as a person and by name."""

    def say(proposal: Proposal) -> None:
        talk = proposal.conversation_id
        speak(conversation_id=talk, text=text, by=by, client_id=client_id, now=now)

    return ask_back(proposal_id=proposal_id, by=by, say=say, now=now)


def unsent_draft(conversation: Conversation) -> str:
    """Return what the assistant would have said after the last message of a person, or nothing."""
    spoken = Message.objects.for_conversation(conversation).filter(author=Message.Author.STAFF)
    last = spoken.last()
    runs = Run.objects.for_tenants({conversation.tenant_id}).filter(
        conversation=conversation, ending="a_person_answers"
    )
    if last is not None:
        runs = runs.filter(finished_at__gt=last.created_at)
    newest = runs.order_by("finished_at").last()
    return newest.detail if newest else ""


def name_of(by: Staff) -> str:
    """Return how a member of staff is named to customers."""
    return str(by.get_full_name() or by.get_username())[:80]  # type: ignore[union-attr]


def _lock(conversation_id: UUID | str, by: Staff) -> Conversation:
    """Lock a conversation for a person who works for its shop; others do not learn of it."""
    talk: Conversation | None = None
    with suppress(ValueError):
        rows = Conversation.objects.for_worker(UUID(str(conversation_id)))
        talk = rows.select_for_update(no_key=True).first()
    if talk is None:
        raise ConversationNotFound("There is no such conversation. Look in the list.")
    if not works_for(by, talk.tenant_id):
        raise Forbidden("Only staff who work on this shop's cases speak here. Ask one of them.")
    return talk


def _move(talk: Conversation, posture: str, by: Staff, reason: str, now: datetime) -> NewEvent:
    talk.posture, talk.posture_by, talk.posture_at = posture, by.get_username(), now
    talk.posture_reason = (reason.strip() or _WHY[Posture(posture)])[:MAX_REASON]
    fields = ["posture", "posture_by", "posture_at", "posture_reason"]
    talk.save(update_fields=fields)
    data: dict[str, Any] = {"posture": posture, "by": "staff", "name": name_of(by), "role": ""}
    return NewEvent("posture.changed", data, now)


def _record(talk: Conversation, by: Staff, now: datetime) -> None:
    record(
        tenant_id=talk.tenant_id,
        kind="conversation.posture",
        actor=f"staff:{by.get_username()}",
        subject=f"conversation:{talk.pk}",
        detail={"posture": str(talk.posture), "reason": talk.posture_reason},
        now=now,
    )
