"""The customer's yes: a card shows exactly what would be asked for, and is answered once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from approvals import registry
from approvals.errors import AlreadyDecided, DecisionTooLate, ProposalNotFound, ShownDiffers
from approvals.models import Confirmation, Proposal
from approvals.rules import CONFIRM_WITHIN, ConfirmationStatus, Origin, Outcome
from approvals.services.audit import record
from approvals.services.gate import preview, propose
from dsupport.contract.principal import Principal
from dsupport.lib.ids import new_id


@dataclass(frozen=True, slots=True)
class Card:
    """What a customer is shown and asked to confirm. `lines` are pairs of a label and a text."""

    id: str
    hash: str
    title: str
    lines: tuple[tuple[str, str], ...]
    warning: str
    expires_at: datetime

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "hash": self.hash,
            "title": self.title,
            "lines": [{"label": label, "value": value} for label, value in self.lines],
            "warning": self.warning,
            "expires_at": self.expires_at.isoformat(),
        }


def ask_customer(
    *,
    principal: Principal,
    action: str,
    arguments: Mapping[str, Any],
    origin: Origin,
    evidence: Mapping[str, Any],
    now: datetime,
) -> Card:
    """Store and return a card for a request that the gate would take; nothing is asked for yet.

    A newer card of a conversation takes the place of one that asks for the same. Raises the
    `DomainError` that the gate would refuse with.
    """
    with transaction.atomic():
        draft = preview(
            principal=principal,
            action=action,
            arguments=arguments,
            origin=origin,
            evidence=evidence,
            now=now,
        )
        _supersede(principal, draft, now)
        card = _card(draft, now)
        Confirmation.objects.create(
            id=card.id,
            tenant_id=draft.tenant_id,
            owner_key=draft.owner_key,
            action=draft.action,
            arguments=draft.arguments,
            evidence=draft.evidence,
            article_ids=draft.article_ids,
            hash=draft.hash,
            intent_key=draft.intent_key,
            card=card.to_json(),
            run_id=draft.run_id,
            conversation_id=draft.conversation_id,
            created_at=now,
            expires_at=card.expires_at,
            status=ConfirmationStatus.ASKED,
        )
        _record(principal, card.id, "asked", now, {"hash": card.hash, "action": action})
    return card


def confirm(
    *, principal: Principal, confirmation_id: str, shown_hash: str, now: datetime
) -> Outcome:
    """Take the customer's yes to exactly what was shown, and ask for it.

    The state is read again: when it is no longer what was shown, the gate refuses.
    """
    with transaction.atomic():
        found = _answer(principal, confirmation_id, shown_hash, ConfirmationStatus.CONFIRMED, now)
        outcome = propose(
            principal=principal,
            action=found.action,
            arguments=found.arguments,
            origin=Origin(
                key=f"confirmation/{found.pk}",
                run_id=found.run_id,
                conversation_id=found.conversation_id,
                article_ids=tuple(found.article_ids),
                expects=found.hash,
            ),
            evidence=found.evidence,
            now=now,
        )
        made = Proposal.objects.for_principal(principal).filter(
            origin_key=f"confirmation/{found.pk}"
        )
        Confirmation.objects.filter(pk=found.pk).update(proposal=made.first())
        _record(principal, str(found.pk), "confirmed", now, {"outcome": outcome.code})
    return outcome


def decline(*, principal: Principal, confirmation_id: str, now: datetime) -> None:
    """Take the customer's no; the card can be answered no more."""
    with transaction.atomic():
        _answer(principal, confirmation_id, None, ConfirmationStatus.DECLINED, now)
        _record(principal, confirmation_id, "declined", now, {})


def read_card(*, principal: Principal, confirmation_id: str) -> Confirmation:
    """Return a card that was shown to this asker; missing and foreign ones are refused alike."""
    rows = Confirmation.objects.for_principal(principal)
    found: Confirmation | None = rows.filter(pk=_key(confirmation_id)).first()
    if found is None:
        raise ProposalNotFound("There is no such card. Nothing was changed.")
    return found


def open_cards(*, principal: Principal, conversation_id: str, now: datetime) -> list[Confirmation]:
    """Return the cards of a conversation that this asker can still answer, oldest first."""
    rows = Confirmation.objects.for_principal(principal).asked(now)
    return list(rows.filter(conversation_id=conversation_id).order_by("created_at", "pk"))


def _supersede(principal: Principal, draft: Proposal, now: datetime) -> None:
    Confirmation.objects.for_principal(principal).filter(
        conversation_id=draft.conversation_id,
        intent_key=draft.intent_key,
        status=ConfirmationStatus.ASKED,
    ).update(status=ConfirmationStatus.SUPERSEDED, answered_at=now)


def _answer(
    principal: Principal,
    confirmation_id: str,
    shown_hash: str | None,
    status: ConfirmationStatus,
    now: datetime,
) -> Confirmation:
    """Answer a card by one conditional update; say precisely why not."""
    rows = Confirmation.objects.for_principal(principal).filter(pk=_key(confirmation_id))
    found: Confirmation | None = rows.select_for_update().first()
    if found is None:
        raise ProposalNotFound("There is no such card. Nothing was changed.")
    if found.status != ConfirmationStatus.ASKED:
        raise AlreadyDecided(f"This card is {found.status} already. Nothing was changed.")
    if now >= found.expires_at:
        raise DecisionTooLate("This card is too old. Ask for it again.")
    if shown_hash is not None and shown_hash != found.hash:
        raise ShownDiffers("This is not what the card shows. Ask for it again.")
    rows.filter(status=ConfirmationStatus.ASKED).update(status=status, answered_at=now)
    return found


def _card(draft: Proposal, now: datetime) -> Card:
    action = registry.get_action(draft.action)
    typed = action.arguments.model_validate_json(draft.arguments_text, strict=True)
    lines = [
        (change.what, f"{change.before} → {change.after}" if change.before != "–" else change.after)
        for change in action.changes(typed, draft.snapshot)
    ]
    return Card(
        id=str(new_id()),
        hash=draft.hash,
        title=draft.description,
        lines=tuple(lines),
        warning="" if action.undo else "This cannot be undone.",
        expires_at=now + CONFIRM_WITHIN,
    )


def _key(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise ProposalNotFound("There is no such card. Nothing was changed.") from None


def _record(
    principal: Principal, key: str, kind: str, now: datetime, detail: Mapping[str, Any]
) -> None:
    record(
        tenant_id=principal.tenant_id,
        kind=f"confirmation.{kind}",
        actor=principal.owner_key,
        subject=f"confirmation:{key}",
        detail=detail,
        now=now,
    )
