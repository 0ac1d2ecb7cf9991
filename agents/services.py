"""Use cases of the chat: open a conversation, say something, cancel, ask for a person."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now

from agents import closings
from agents.desk import opens_text
from agents.errors import ConversationNotFound, RunNotFound, RunOver
from agents.manifest import current_manifest
from agents.models import Conversation, Message, Run
from agents.notify import announce
from agents.rules import RunStatus, check_message
from agents.store import NewEvent, append
from dsupport.contract.errors import InvalidInput
from dsupport.contract.principal import Principal
from dsupport.lib.queue import enqueue
from dsupport.models import Tenant
from tickets.tools import escalate

MAX_CLIENT_ID = 64


@dataclass(frozen=True, slots=True)
class Submitted:
    """What became of a message: its place in the stream, and the run that answers it."""

    message_id: UUID
    run_id: UUID | None  # None when no run answers: a yes or no to a card, or a person does
    seq: int
    duplicate: bool = False


def open_conversation(*, principal: Principal, now: datetime) -> Conversation:
    """Start a conversation that belongs to this asker."""
    conversation: Conversation = Conversation.objects.create(
        tenant_id=principal.tenant_id,
        customer_id=principal.customer_id,
        visitor=principal.visitor,
        created_at=now,
        updated_at=now,
    )
    return conversation


def get_conversation(*, principal: Principal, conversation_id: UUID | str) -> Conversation:
    """Return the asker's conversation; missing and foreign ones are refused alike."""
    found = _find_conversation(principal, conversation_id)
    if found is None:
        raise ConversationNotFound("There is no such conversation. Start a new one.")
    return found


def get_run(*, principal: Principal, run_id: UUID | str) -> Run:
    """Return a run of the asker's conversations; missing and foreign ones are refused alike."""
    key = _as_uuid(run_id)
    found = Run.objects.for_principal(principal).filter(pk=key).first() if key else None
    if found is None:
        raise RunNotFound("There is no such run. Check its id.")
    run: Run = found
    return run


def note_words(
    *, principal: Principal, conversation_id: UUID | str, text: str, client_id: str, now: datetime
) -> Submitted:
    """Store what the customer says without a run that answers it."""
    words = check_message(text)
    with transaction.atomic():
        conversation = _lock_conversation(principal, conversation_id)
        known = _find_sent(conversation, client_id)
        if known is not None:
            return known
        message = _store_words(conversation, principal, None, words, client_id, now)
        transaction.on_commit(lambda: announce(conversation.pk, message.seq))
    return Submitted(message.pk, None, message.seq)


def submit_message(
    *,
    principal: Principal,
    conversation_id: UUID | str,
    text: object,
    client_id: str = "",
    now: datetime,
    wake: bool = True,
) -> Submitted:
    """Store what the customer says and see to it that a run answers it.

    A message that arrives while a run is at work joins it: several messages in a row are one
    turn of talk. Where a person answers, there is no run. The same `client_id` is stored once.
    `wake=False` leaves the run to the caller.
    """
    words = check_message(text)
    if len(client_id) > MAX_CLIENT_ID:
        raise InvalidInput(f"client_id has at most {MAX_CLIENT_ID} characters. Use a UUID.")
    with transaction.atomic():
        conversation = _lock_conversation(principal, conversation_id)
        known = _find_sent(conversation, client_id)
        if known is not None:
            return known
        run = _active_run(conversation)
        if run is None and conversation.posture != Conversation.Posture.OFF:
            run = _new_run(conversation, now)
        message = _store_words(conversation, principal, run, words, client_id, now)
        if wake and run is not None and run.status == RunStatus.QUEUED:
            enqueue("agents.run", run_id=str(run.pk))
        transaction.on_commit(lambda: announce(conversation.pk, message.seq))
    return Submitted(message.pk, run.pk if run else None, message.seq)


def wake_assistant(conversation: Conversation, now: datetime) -> Run | None:
    """Have a run answer what the customer wrote last; None when somebody has, or one is at work.

    The caller holds the conversation locked.
    """
    said = Message.objects.for_conversation(conversation).exclude(author=Message.Author.SYSTEM)
    last = said.last()
    if last is None or last.author != Message.Author.CUSTOMER or _active_run(conversation):
        return None
    run = _new_run(conversation, now)
    Message.objects.filter(pk=last.pk, run=None).update(run=run)
    enqueue("agents.run", run_id=str(run.pk))
    return run


def cancel_run(*, principal: Principal, run_id: UUID | str, now: datetime) -> None:
    """Ask a run to stop. A waiting one ends at once, a running one at its next step."""
    run = get_run(principal=principal, run_id=run_id)
    by = principal.owner_key
    with transaction.atomic():
        waiting = Run.objects.filter(pk=run.pk, status=RunStatus.QUEUED).update(
            status=RunStatus.CANCELLED,
            cancel_asked_at=now,
            cancelled_by=by,
            finished_at=now,
            version=F("version") + 1,
        )
        if waiting:
            _say_cancelled(run, now)
            return
        asked = Run.objects.filter(pk=run.pk, status=RunStatus.RUNNING).update(
            cancel_asked_at=now, cancelled_by=by, version=F("version") + 1
        )
    if not asked:
        raise RunOver("This answer is already finished. There is nothing left to stop.")


def request_person(*, principal: Principal, conversation_id: UUID | str, now: datetime) -> str:
    """Pass a conversation to a person at the customer's wish; return the ticket's number.

    No model is asked, and what runs for this conversation is stopped.
    """
    conversation = get_conversation(principal=principal, conversation_id=conversation_id)
    last = (
        Message.objects.for_conversation(conversation).filter(author=Message.Author.CUSTOMER).last()
    )
    result = escalate(
        principal=principal,
        reason="customer_request",
        summary=f"The customer asked for a person. Last said: {last.text[:1_000] if last else '-'}",
        order_number=None,
        conversation_id=str(conversation.pk),
        run_id="",
        key=f"person/{conversation.pk}/{last.pk if last else '-'}",
        now=now,
        evidence={"words": [last.text] if last else []},
    )
    opens = opens_text(Tenant.objects.get(pk=conversation.tenant_id), now)
    for run in Run.objects.for_principal(principal).filter(conversation=conversation).active():
        try:
            cancel_run(principal=principal, run_id=run.pk, now=now)
        except RunOver:
            continue
    with transaction.atomic():
        post_system(
            conversation.pk,
            closings.person_text(result.ticket, opens),
            events=[_escalated("customer_request", result.ticket, opens, now)],
            now=now,
            ticket=result.ticket,
        )
    return result.ticket


def post_system(
    conversation_id: UUID,
    text: str,
    *,
    events: list[NewEvent],
    now: datetime,
    run_id: UUID | None = None,
    ticket: str = "",
    client_id: str = "",
    silent: bool = False,
) -> None:
    """Append a message of the desk itself and its events inside the caller's transaction.

    A message of the same `client_id` is stored once. A `silent` one is on record without being
    shown as a message.
    """
    message = Message(
        conversation_id=conversation_id,
        run_id=run_id,
        author=Message.Author.SYSTEM,
        text=text,
        form={"ticket_id": ticket} if ticket else None,
        client_id=client_id,
        created_at=now,
    )
    said = [] if silent else [NewEvent("message", message_data(message), now)]
    seqs = append(conversation_id, [*events, *said], run_id=run_id, now=now)
    message.seq = seqs[-1]
    message.save(force_insert=True)
    transaction.on_commit(lambda: announce(conversation_id, seqs[-1]))


def message_data(message: Message) -> dict[str, object]:
    """Return what a `message` event carries."""
    label = {"assistant": "AI", "staff": "person"}.get(message.author, "system")
    return {
        "id": str(message.pk),
        "author": message.author,
        "name": message.name,
        "text": message.text,
        "client_id": message.client_id,
        "label": "customer" if message.author == Message.Author.CUSTOMER else label,
    }


def _find_conversation(principal: Principal, conversation_id: UUID | str) -> Conversation | None:
    key = _as_uuid(conversation_id)
    if key is None:
        return None
    found: Conversation | None = (
        Conversation.objects.for_principal(principal).filter(pk=key).first()
    )
    return found


def _lock_conversation(principal: Principal, conversation_id: UUID | str) -> Conversation:
    found = _find_conversation(principal, conversation_id)
    if found is None:
        raise ConversationNotFound("There is no such conversation. Start a new one.")
    mine = Conversation.objects.for_principal(principal).filter(pk=found.pk)
    conversation: Conversation = mine.select_for_update().get()
    if conversation.customer_id is None and principal.customer_id is not None:
        Conversation.objects.filter(pk=conversation.pk).update(customer_id=principal.customer_id)
    return conversation


def _find_sent(conversation: Conversation, client_id: str) -> Submitted | None:
    if not client_id:
        return None
    message = Message.objects.for_conversation(conversation).filter(client_id=client_id).first()
    if message is None:
        return None
    return Submitted(message.pk, message.run_id, message.seq, duplicate=True)


def _active_run(conversation: Conversation) -> Run | None:
    run: Run | None = conversation.runs.active().first()
    return run


def _new_run(conversation: Conversation, now: datetime) -> Run:
    run: Run = Run.objects.create(
        tenant_id=conversation.tenant_id,
        conversation=conversation,
        provider=settings.DSUPPORT_PROVIDER,
        architecture=settings.DSUPPORT_ARCHITECTURE,
        manifest=current_manifest(settings.DSUPPORT_PROVIDER),
        created_at=now,
        woken_at=Now(),
    )
    return run


def _store_words(
    conversation: Conversation,
    principal: Principal,
    run: Run | None,
    words: str,
    client_id: str,
    now: datetime,
) -> Message:
    message = Message(
        conversation=conversation,
        run=run,
        author=Message.Author.CUSTOMER,
        text=words,
        client_id=client_id,
        principal=principal.to_json(),
        created_at=now,
    )
    said = NewEvent("message", message_data(message), now)
    run_id = run.pk if run is not None else None
    message.seq = append(conversation.pk, [said], run_id=run_id, now=now)[-1]
    message.save(force_insert=True)
    return message


def _say_cancelled(run: Run, now: datetime) -> None:
    finished = NewEvent("run.finished", {"status": RunStatus.CANCELLED.value}, now, key="end")
    post_system(
        run.conversation_id,
        closings.cancelled_text([]),
        events=[finished],
        now=now,
        run_id=run.pk,
    )


def _escalated(reason: str, ticket: str, opens: str, now: datetime) -> NewEvent:
    text = closings.passed_on([], [])
    data = {"reason": reason, "ticket": ticket, "opens": opens, "text": text}
    return NewEvent("escalated", data, now)


def _as_uuid(value: UUID | str) -> UUID | None:
    if isinstance(value, UUID):
        return value
    try:
        return UUID(value)
    except (ValueError, AttributeError, TypeError):
        return None
