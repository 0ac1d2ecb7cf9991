"""What people decide on proposals: each decision is judged and made in one transaction, once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import transaction

from approvals import policy
from approvals.errors import (
    AlreadyDecided,
    DecisionForbidden,
    DecisionTooLate,
    ProposalNotFound,
    ShownDiffers,
)
from approvals.models import Decision, Proposal
from approvals.policy import Decider, Matter
from approvals.rules import Origin, Outcome, OutcomeStatus, ProposalStatus
from approvals.services.audit import record
from approvals.services.gate import propose
from approvals.services.proposals import get_proposal
from dsupport.contract.principal import Principal
from dsupport.lib.canonical import digest
from dsupport.lib.queue import enqueue
from dsupport.models import Membership

Staff = AbstractBaseUser | AnonymousUser
_BATCH = 200


def approve(*, proposal_id: str, by: Staff, shown_hash: str, now: datetime) -> Proposal:
    """Agree to exactly what was shown; return the proposal, approved or waiting for a second one.

    It is carried out by a worker after the commit. Raises a `DomainError` that says why not.
    """
    with transaction.atomic():
        proposal = _lock(proposal_id)
        decider = _decider(proposal, by)
        agreed = _agreed(proposal)
        policy.check_may_approve(decider, _matter(proposal, agreed))
        _check_open(proposal, shown_hash, now)
        policy.check_pace(_recent_approvals(decider, now))
        _store(proposal, decider, Decision.Kind.APPROVE, shown_hash, now)
        if policy.is_enough([*agreed, decider], proposal.amount):
            _decide(proposal, ProposalStatus.APPROVED, decider.name, now)
            enqueue("approvals.execute", proposal_id=str(proposal.pk))
        _tell(proposal, "approved", decider.name, now, {"hash": shown_hash})
    return proposal


def reject(
    *,
    proposal_id: str,
    by: Staff,
    reason_code: str,
    reason: str,
    now: datetime,
    shown_hash: str | None = None,
) -> Proposal:
    """Refuse a proposal, with a reason code and words; return it.

    `shown_hash` may be left out: refusing something that was not quite seen harms nobody.
    """
    policy.check_reason(reason_code, reason)
    with transaction.atomic():
        proposal = _lock(proposal_id)
        decider = _decider(proposal, by)
        policy.check_may_decide(decider, _matter(proposal, []))
        _check_open(proposal, shown_hash or proposal.hash, now)
        _store(proposal, decider, Decision.Kind.REJECT, proposal.hash, now)
        fields = {"reason_code": reason_code, "reason": reason.strip()}
        _decide(proposal, ProposalStatus.REJECTED, decider.name, now, **fields)
        _tell(proposal, "rejected", decider.name, now, fields)
    return proposal


def cancel(*, principal: Principal, proposal_id: str, now: datetime) -> Proposal:
    """Take back what this asker has asked for, while nobody has decided."""
    with transaction.atomic():
        found = _lock(proposal_id)
        if (found.tenant_id, found.owner_key) != (principal.tenant_id, principal.owner_key):
            raise ProposalNotFound("There is no such request. Nothing was changed.")
        _check_open(found, found.hash, now)
        _move(found, ProposalStatus.CANCELLED)
        _tell(found, "cancelled", principal.owner_key, now)
    return found


def claim(*, proposal_id: str, by: Staff, now: datetime) -> Proposal:
    """Say that this person looks at it, or has stopped to; it keeps nobody else from deciding."""
    with transaction.atomic():
        proposal = _lock(proposal_id)
        policy.check_may_decide(_decider(proposal, by), _matter(proposal, []))
        _check_open(proposal, proposal.hash, now)
        mine = proposal.claimed_by == by.get_username()
        proposal.claimed_by = "" if mine else by.get_username()
        proposal.claimed_at = None if mine else now
        proposal.save(update_fields=["claimed_by", "claimed_at"])
        kind = "released" if mine else "claimed"
        _record(proposal, kind, f"staff:{by.get_username()}", now)
    return proposal


def ask_back(
    *, proposal_id: str, by: Staff, say: Callable[[Proposal], object], now: datetime
) -> Proposal:
    """Have the customer asked before it is decided; it stays open, and this person looks at it.

    `say` speaks in the conversation, in the same transaction.
    """
    with transaction.atomic():
        proposal = _lock(proposal_id)
        policy.check_may_decide(_decider(proposal, by), _matter(proposal, []))
        _check_open(proposal, proposal.hash, now)
        say(proposal)
        proposal.claimed_by, proposal.claimed_at = by.get_username(), now
        proposal.save(update_fields=["claimed_by", "claimed_at"])
        _record(proposal, "asked_back", f"staff:{by.get_username()}", now)
    return proposal


def edit(*, proposal_id: str, by: Staff, arguments: Mapping[str, Any], now: datetime) -> Outcome:
    """Make a new proposal of it with other arguments, which its editor may not approve.

    It goes through the gate as the first one did, for the same asker. The old one is superseded
    when the new one waits, and stays as it is when the gate refuses. Both are one transaction:
    two requests never wait where one was meant.
    """
    with transaction.atomic():
        old = _lock(proposal_id)
        policy.check_may_decide(_decider(old, by), _matter(old, []))
        _check_open(old, old.hash, now)
        outcome = _propose_instead(old, by.get_username(), arguments, now)
        if outcome.status is OutcomeStatus.WAITING:
            _move(old, ProposalStatus.SUPERSEDED)
            actor = f"staff:{by.get_username()}"
            _tell(old, "superseded", actor, now, {"by": outcome.proposal_id})
    return outcome


def expire_due(*, now: datetime) -> int:
    """End what nobody has decided in time; return how many."""
    due = Proposal.objects.overdue(now).values_list("pk", flat=True)[:_BATCH]
    ended = 0
    for key in list(due):
        with transaction.atomic():
            proposal = _lock(str(key))
            waits = proposal.status in {ProposalStatus.PENDING, ProposalStatus.RECORDED}
            if waits and proposal.expires_at is not None and proposal.expires_at <= now:
                _move(proposal, ProposalStatus.EXPIRED)
                _tell(proposal, "expired", "clock", now)
                ended += 1
    return ended


def read_decider(user_id: int, name: str, tenant_id: int) -> Decider | None:
    """Return a member of staff with the roles they hold now; None when they may do nothing."""
    from django.contrib.auth import get_user_model

    found = get_user_model().objects.filter(pk=user_id, is_active=True, is_staff=True).first()
    if found is None or found.get_username() != name:
        return None
    held = Membership.objects.filter(user_id=user_id, tenant_id=tenant_id)
    roles = set(held.values_list("role", flat=True))
    return Decider(user_id, name, frozenset(roles | ({"admin"} if found.is_superuser else set())))


# --- inside ---------------------------------------------------------------------------------


def _lock(proposal_id: str) -> Proposal:
    known = get_proposal(proposal_id)
    rows = Proposal.objects.for_tenant(known.tenant_id).select_for_update()
    proposal: Proposal = rows.get(pk=known.pk)
    return proposal


def _decider(proposal: Proposal, by: Staff) -> Decider:
    found = read_decider(by.pk, by.get_username(), proposal.tenant_id) if by.pk else None
    if found is None:
        raise DecisionForbidden("Only approvers of this shop decide. Sign in as one.")
    return found


def _matter(proposal: Proposal, agreed: list[Decider]) -> Matter:
    return Matter(
        asked_by=proposal.principal.get("staff_id"),
        edited_by=proposal.edited_by,
        amount=proposal.amount,
        agreed=agreed,
    )


def _agreed(proposal: Proposal) -> list[Decider]:
    rows = Decision.objects.for_proposal(proposal).filter(kind=Decision.Kind.APPROVE)
    return [Decider(row.user_id, row.name, frozenset(row.roles)) for row in rows]


def _check_open(proposal: Proposal, shown_hash: str, now: datetime) -> None:
    if proposal.status != ProposalStatus.PENDING:
        by = f" by {proposal.decided_by}" if proposal.decided_by else ""
        raise AlreadyDecided(f"This is {proposal.status} already{by}. Nothing was changed.")
    if proposal.expires_at is None or now >= proposal.expires_at:
        raise DecisionTooLate("The time to decide is over. Have it asked for again.")
    if shown_hash != proposal.hash:
        raise ShownDiffers("What you saw is not what waits here. Open the proposal again.")


def _recent_approvals(decider: Decider, now: datetime) -> int:
    since = now - policy.PACE_WINDOW
    rows = Decision.objects.filter(user_id=decider.user_id, kind=Decision.Kind.APPROVE)
    return int(rows.filter(at__gt=since).count())


def _store(
    proposal: Proposal, decider: Decider, kind: Decision.Kind, shown_hash: str, now: datetime
) -> None:
    Decision.objects.create(
        proposal=proposal,
        kind=kind,
        user_id=decider.user_id,
        name=decider.name,
        roles=sorted(decider.roles),
        shown_hash=shown_hash,
        at=now,
    )


def _decide(
    proposal: Proposal, status: ProposalStatus, name: str, now: datetime, **fields: Any
) -> None:
    _move(proposal, status, decided_at=now, decided_by=name, **fields)


def _move(proposal: Proposal, status: ProposalStatus, **fields: Any) -> None:
    """Move on by one conditional update, and have the object say the same."""
    rows = Proposal.objects.filter(pk=proposal.pk, status=proposal.status)
    if rows.update(status=status, **fields) != 1:
        raise AlreadyDecided("Somebody else has just decided this. Open it again.")
    for name, value in {"status": status, **fields}.items():
        setattr(proposal, name, value)


def _propose_instead(
    old: Proposal, name: str, arguments: Mapping[str, Any], now: datetime
) -> Outcome:
    key = f"edit/{old.pk}/{digest('edit/1', {'by': name, 'arguments': dict(arguments)})[:32]}"
    return propose(
        principal=Principal.from_json(old.principal),
        action=old.action,
        arguments=arguments,
        origin=Origin(
            key=key,
            run_id=old.run_id,
            conversation_id=old.conversation_id,
            article_ids=tuple(old.article_ids),
            edited_by=name,
            replaces=str(old.pk),
        ),
        evidence=old.evidence,
        now=now,
    )


def _tell(
    proposal: Proposal,
    kind: str,
    actor: str,
    now: datetime,
    detail: Mapping[str, Any] | None = None,
) -> None:
    """Record it last, and have the conversation hear of it after the commit."""
    enqueue("agents.proposal_changed", proposal_id=str(proposal.pk))
    _record(proposal, kind, actor, now, detail)


def _record(
    proposal: Proposal,
    kind: str,
    actor: str,
    now: datetime,
    detail: Mapping[str, Any] | None = None,
) -> None:
    staff = kind in {"approved", "rejected"}
    record(
        tenant_id=proposal.tenant_id,
        kind=f"proposal.{kind}",
        actor=f"staff:{actor}" if staff else actor,
        subject=f"proposal:{proposal.pk}",
        detail={"status": str(proposal.status), "action": proposal.action, **(detail or {})},
        now=now,
    )
