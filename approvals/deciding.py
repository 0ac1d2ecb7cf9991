"""What an approver sees of a proposal: everything computed now, and what they may do about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from approvals import policy, registry
from approvals.evidence import freeze
from approvals.models import Decision, Proposal
from approvals.policy import Decider, Matter, Reason
from approvals.registry import Change, RuleVerdict
from approvals.rules import LIVE, ProposalStatus
from approvals.services.decisions import read_decider
from dsupport.contract.errors import DomainError
from dsupport.contract.principal import Principal

REASON_WORDS = {
    Reason.NOT_ELIGIBLE: "The rules do not allow it",
    Reason.WRONG_DETAILS: "Details are wrong",
    Reason.WRONG_AMOUNT: "The amount is wrong",
    Reason.NO_EVIDENCE: "Not enough to go by",
    Reason.SUSPICIOUS: "Looks suspicious",
    Reason.WITHDRAWN: "The customer has withdrawn it",
    Reason.ELSEWHERE: "Done elsewhere already",
    Reason.OTHER: "Another reason",
}


@dataclass(frozen=True, slots=True)
class DecisionPage:
    """The decision part of a proposal's page. No word in it comes from a model.

    `warnings` are in the open; `refusal` says why this person may not approve, empty when they
    may; `can_reject` whether the other button works.
    """

    proposal: Proposal
    changes: Sequence[Change]
    verdicts: Sequence[RuleVerdict]
    warnings: Sequence[str]
    undo: str
    refusal: str
    can_reject: bool
    agreed: Sequence[Decision]
    others: Sequence[Proposal]
    time_left: str
    is_open: bool
    reasons: Sequence[tuple[str, str]]


def read_decision(proposal: Proposal, user: Any, *, now: datetime) -> DecisionPage:
    """Compute the page of a proposal for a person, from the database as it is now."""
    is_open = proposal.status == ProposalStatus.PENDING and bool(
        proposal.expires_at and proposal.expires_at > now
    )
    action = registry.find_action(proposal.action)
    agreed = list(Decision.objects.for_proposal(proposal))
    decider = read_decider(user.pk, user.get_username(), proposal.tenant_id)
    changes, verdicts, warnings = _read_now(proposal, action, now) if action else ((), (), ())
    return DecisionPage(
        proposal=proposal,
        changes=changes,
        verdicts=verdicts,
        warnings=[*(warnings if is_open else ()), *_warn_of_people(proposal, agreed)],
        undo=(action.undo if action else None) or "This cannot be undone.",
        refusal=_refusal(proposal, decider, agreed),
        can_reject=decider is not None and not _refusal(proposal, decider, [], reject=True),
        agreed=agreed,
        others=_others(proposal),
        time_left=_left(proposal, now) if is_open else "",
        is_open=is_open,
        reasons=[(code.value, words) for code, words in REASON_WORDS.items()],
    )


def _read_now(
    proposal: Proposal, action: registry.Action, now: datetime
) -> tuple[Sequence[Change], Sequence[RuleVerdict], list[str]]:
    """Return before and after, the rules, and what has changed since it was proposed."""
    principal = Principal.from_json(proposal.principal)
    arguments = action.arguments.model_validate_json(proposal.arguments_text, strict=True)
    if proposal.status != ProposalStatus.PENDING:
        return action.changes(arguments, proposal.snapshot), (), []
    try:
        with transaction.atomic():
            _, state = freeze(action.snapshot(principal, arguments))
            verdicts = action.verdicts(principal, arguments, now)
    except DomainError as error:
        shown = action.changes(arguments, proposal.snapshot)
        return shown, (), [f"It cannot be read any more: {error.message}"]
    part = policy.first_difference(proposal.snapshot, state)
    warnings = [f"Changed since it was asked for: {part.replace('_', ' ')}."] if part else []
    broken = [verdict.text for verdict in verdicts if not verdict.holds]
    return action.changes(arguments, state), verdicts, [*warnings, *broken]


def _warn_of_people(proposal: Proposal, agreed: Sequence[Decision]) -> list[str]:
    if proposal.people < 2:
        return []
    names = ", ".join(decision.name for decision in agreed) or "nobody yet"
    return [f"Two people must agree to this amount. So far: {names}."]


def _refusal(
    proposal: Proposal,
    decider: Decider | None,
    agreed: Sequence[Decision],
    *,
    reject: bool = False,
) -> str:
    if decider is None:
        return "Only approvers of this shop decide."
    matter = Matter(
        asked_by=proposal.principal.get("staff_id"),
        edited_by=proposal.edited_by,
        amount=proposal.amount,
        agreed=[Decider(word.user_id, word.name, frozenset(word.roles)) for word in agreed],
    )
    try:
        if reject:
            policy.check_may_decide(decider, matter)
        else:
            policy.check_may_approve(decider, matter)
    except DomainError as error:
        return error.message
    return ""


def _others(proposal: Proposal) -> list[Proposal]:
    """Return what else of this asker's waits or runs."""
    rows = Proposal.objects.for_tenant(proposal.tenant_id).filter(
        owner_key=proposal.owner_key, status__in=list(LIVE)
    )
    return list(rows.exclude(pk=proposal.pk).exclude(tier="LOW")[:5])


def _left(proposal: Proposal, now: datetime) -> str:
    left = (proposal.expires_at or now) - now
    hours, rest = divmod(int(left / timedelta(minutes=1)), 60)
    return f"{hours} h {rest} min" if hours else f"{rest} min"
