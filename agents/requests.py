"""What a talk says of requests that act: the customer's yes or no, and what becomes of it."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from agents import closings
from agents.consent import Consent, read_consent
from agents.models import Conversation, Message
from agents.pace import check_pace
from agents.services import Submitted, note_words, post_system, submit_message
from agents.store import NewEvent
from approvals.services import (
    Outcome,
    OutcomeStatus,
    confirm,
    decline,
    get_proposal,
    open_cards,
    read_card,
)
from dsupport.contract.errors import Conflict
from dsupport.contract.principal import Principal

_DONE = frozenset({"executed", "conflict", "failed", "unknown"})
_SILENT = frozenset({"approved", "executing", "superseded", "unknown"})


def receive_message(
    *,
    principal: Principal,
    conversation_id: UUID | str,
    text: object,
    client_id: str = "",
    now: datetime,
) -> Submitted:
    """Take what comes in at a door, within the pace that is allowed.

    An unmistakable yes or no while exactly one card is open answers that card, and no run is
    made. Everything else is a message like any.
    """
    check_pace(principal)
    consent = read_consent(text) if isinstance(text, str) else Consent.UNCLEAR
    if isinstance(text, str) and consent is not Consent.UNCLEAR:
        cards = open_cards(principal=principal, conversation_id=str(conversation_id), now=now)
        if len(cards) == 1:
            said = note_words(
                principal=principal,
                conversation_id=conversation_id,
                text=text,
                client_id=client_id,
                now=now,
            )
            if not said.duplicate:
                answer_card(
                    principal=principal,
                    confirmation_id=cards[0].pk,
                    shown_hash=cards[0].hash,
                    yes=consent is Consent.YES,
                    now=now,
                )
            return said
    return submit_message(
        principal=principal,
        conversation_id=conversation_id,
        text=text,
        client_id=client_id,
        now=now,
    )


def answer_card(
    *,
    principal: Principal,
    confirmation_id: UUID | str,
    shown_hash: str,
    yes: bool,
    now: datetime,
) -> Outcome | None:
    """Take the customer's answer to a card and say in the talk what becomes of it.

    None for a no. A yes that the gate refuses, because something changed, is told as well.
    """
    key = str(confirmation_id)
    card = read_card(principal=principal, confirmation_id=key)
    with transaction.atomic():
        if not yes:
            decline(principal=principal, confirmation_id=key, now=now)
            _say(card.conversation_id, closings.DECLINED, _answered(key, "declined", now), now)
            return None
        outcome = confirm(principal=principal, confirmation_id=key, shown_hash=shown_hash, now=now)
        if outcome.status is OutcomeStatus.REFUSED:
            text = closings.refused_text(outcome.message)
            _say(card.conversation_id, text, _answered(key, "refused", now), now)
            return outcome
        created = _created(key, outcome, card.card["title"], now)
        _say(card.conversation_id, closings.REQUESTED, created, now)
    return outcome


def tell_progress(proposal_id: str, *, now: datetime) -> None:
    """Say in the talk of a proposal what has become of it; each status is told once."""
    proposal = get_proposal(proposal_id)
    conversation = _conversation(proposal.conversation_id)
    if conversation is None or proposal.tier == "LOW":
        return
    status = str(proposal.status)
    if status == "pending":
        return
    key = f"proposal/{proposal.pk}/{status}"
    kind = "proposal.executed" if status in _DONE else "proposal.decided"
    text = closings.progress_text(status, proposal.description, proposal.reason_code)
    data = {"id": proposal_id, "state": status, "text": text, "title": proposal.description}
    with transaction.atomic():
        Conversation.objects.for_worker(conversation.pk).select_for_update().get()
        told = Message.objects.for_conversation(conversation).filter(client_id=key)
        if told.exists():
            return
        post_system(
            conversation.pk,
            text,
            events=[NewEvent(kind, data, now)],
            now=now,
            client_id=key,
            silent=status in _SILENT,
        )


def _say(conversation_id: str, text: str, event: NewEvent, now: datetime) -> None:
    conversation = _conversation(conversation_id)
    if conversation is None:
        raise Conflict("The talk of this card is gone. Nothing was changed.")
    post_system(conversation.pk, text, events=[event], now=now)


def _answered(key: str, state: str, now: datetime) -> NewEvent:
    data: dict[str, Any] = {"card": key, "state": state, "text": ""}
    return NewEvent("proposal.decided", data, now)


def _created(key: str, outcome: Outcome, title: str, now: datetime) -> NewEvent:
    proposal = get_proposal(outcome.proposal_id)
    data: dict[str, Any] = {
        "card": key,
        "id": outcome.proposal_id,
        "state": str(proposal.status),
        "title": title,
        "tier": proposal.tier,
        "expires_at": proposal.expires_at.isoformat() if proposal.expires_at else None,
        "text": closings.REQUESTED,
    }
    return NewEvent("proposal.created", data, now)


def _conversation(conversation_id: str) -> Conversation | None:
    try:
        key = UUID(conversation_id)
    except ValueError:
        return None
    found: Conversation | None = Conversation.objects.for_worker(key).first()
    return found
