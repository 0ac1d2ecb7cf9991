"""The one way to a consequential effect, whoever asks: model, console, API, MCP or e-mail."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import connection, transaction
from django.db.models import Count, Q

from approvals import registry, rules
from approvals.errors import (
    AlreadyRejected,
    InvalidOrigin,
    KeyConflict,
    ShownDiffers,
)
from approvals.evidence import check_storable, clean, freeze, freeze_evidence, masked
from approvals.models import Effect, Proposal, is_live
from approvals.policy import people_needed
from approvals.registry import Execution
from approvals.rules import Counts, Origin, Outcome, OutcomeStatus, ProposalStatus
from approvals.services.audit import record
from approvals.services.commands import Command, Request, read_command
from approvals.services.outcomes import recorded_outcome
from approvals.services.switches import check_action_on
from dsupport.contract.errors import DomainError
from dsupport.contract.principal import Principal
from dsupport.contract.risk import RiskTier
from dsupport.lib.canonical import digest
from dsupport.lib.ids import new_id

log = logging.getLogger(__name__)

GATE_FAILED = "gate_failed"
_GATE_FAILED_ADVICE = "This could not be checked, so nothing was done. Hand over to a person."
_MAX_KEY = 200
_MAX_ID = 64
_MAX_ARTICLE = 120


def propose(
    *,
    principal: Principal,
    action: str,
    arguments: Mapping[str, Any],
    origin: Origin,
    evidence: Mapping[str, Any],
    now: datetime,
) -> Outcome:
    """Take a request for a consequential action through the gate and return what became of it.

    A LOW action is carried out here, in one transaction with its proposal and its audit entry;
    MEDIUM and HIGH wait for a person; VERY_HIGH is only noted. The same origin key gets the
    recorded outcome again. Nothing is raised: any trouble in here is a refusal that left no trace
    but its audit entry. Rows that the caller holds locked must not be needed by the action, for
    a shop's requests pass the gate one at a time.
    """
    request = Request(principal, action, arguments, origin, evidence, now)
    try:
        with transaction.atomic():
            return _pass_gate(request)
    except DomainError as error:
        return _refuse(request, error.code, error.message)
    except Exception:
        log.exception("The gate failed on %s, so it is refused", action)
        return _refuse(request, GATE_FAILED, _GATE_FAILED_ADVICE)


def _pass_gate(request: Request) -> Outcome:
    command = read_command(request)
    _check_origin(request.origin)
    _serialise(request.principal.tenant_id)
    replayed = _find_replayed(request, command)
    if replayed is not None:
        return recorded_outcome(replayed)
    action = command.action
    action.permit(request.principal, command.typed)
    state = action.read_allowed(request.principal, command.typed, request.now)
    if not action.always_on:
        check_action_on(action.name, request.principal.tenant_id)
        _check_limits(request, command.tier)
    proposal = _draft(request, command, state)
    _check_expected(request.origin, proposal)
    if command.tier is RiskTier.LOW:  # carried out at once, so none stands or was rejected
        return _execute(request, command, proposal)
    standing = _find_standing(request, proposal)
    if standing is not None:
        return _same_again(request, standing)
    return _file(request, command.tier, proposal)


def preview(
    *,
    principal: Principal,
    action: str,
    arguments: Mapping[str, Any],
    origin: Origin,
    evidence: Mapping[str, Any],
    now: datetime,
) -> Proposal:
    """Return what `propose` would file, judged the same way and filed nowhere.

    Raises the `DomainError` that `propose` would refuse with.
    """
    request = Request(principal, action, arguments, origin, evidence, now)
    with transaction.atomic():
        command = read_command(request)
        command.action.permit(principal, command.typed)
        state = command.action.read_allowed(principal, command.typed, now)
        if not command.action.always_on:
            check_action_on(command.action.name, principal.tenant_id)
            _check_limits(request, command.tier)
        proposal = _draft(request, command, state)
        _find_standing(request, proposal)
        return proposal


def _check_expected(origin: Origin, proposal: Proposal) -> None:
    if origin.expects and origin.expects != proposal.hash:
        raise ShownDiffers("Something has changed since this was shown. Ask for it again.")


def _check_origin(origin: Origin) -> None:
    if not 0 < len(origin.key) <= _MAX_KEY:
        raise InvalidOrigin(f"A request needs a key of 1 to {_MAX_KEY} characters.")
    if max(len(origin.run_id), len(origin.conversation_id)) > _MAX_ID:
        raise InvalidOrigin(f"Ids of runs and conversations have at most {_MAX_ID} characters.")
    check_storable([origin.key, origin.run_id, origin.conversation_id])


def _serialise(tenant_id: int) -> None:
    """Let a shop's requests pass one at a time, so that limits and duplicates are exact."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0)) FROM dsupport_tenant "
            "WHERE id = %s",
            [f"approvals/{tenant_id}", tenant_id],
        )
        if cursor.fetchone() is None:
            raise InvalidOrigin("There is no such shop.", code="unknown_shop")


def _find_replayed(request: Request, command: Command) -> Proposal | None:
    """Return what the same origin key led to; refuse a key that once meant something else.

    This comes before everything that looks at the state, because the state has changed by what
    the first passage did.
    """
    rows = Proposal.objects.for_tenant(request.principal.tenant_id)
    found: Proposal | None = rows.filter(origin_key=request.origin.key).first()
    if found is None:
        return None
    same = (found.owner_key, found.action, found.arguments_text) == (
        request.principal.owner_key,
        command.action.name,
        command.text,
    )
    if not same:
        raise KeyConflict("This key was used for another request. Ask again under a new one.")
    return found


def _check_limits(request: Request, tier: RiskTier) -> None:
    limits = rules.limits_for(tier)
    origin, principal, now = request.origin, request.principal, request.now
    since, tiers = now - rules.LIMIT_WINDOW, rules.tiers_counted_with(tier)
    exempt = [action.name for action in registry.all_actions() if action.always_on]
    rows = Proposal.objects.for_tenant(principal.tenant_id).counting(
        since, tiers=tiers, exempt=exempt
    )
    counted = {"tenant": Q(), "customer": Q(owner_key=principal.owner_key)}
    if origin.conversation_id:
        counted["conversation"] = Q(conversation_id=origin.conversation_id)
    if limits.article is not None:
        lately = Q(created_at__gt=now - rules.ARTICLE_WINDOW)
        for index, name in enumerate(_articles(origin)):
            counted[f"article_{index}"] = lately & Q(article_ids__contains=[name])
    found = rows.aggregate(**{name: Count("pk", filter=q) for name, q in counted.items()})
    by_article = [count for name, count in found.items() if name.startswith("article_")]
    counts = Counts(
        conversation=found.get("conversation", 0),
        article=max(by_article, default=0),
        customer=found["customer"],
        tenant=found["tenant"],
    )
    rules.check_limits(counts, limits)


def _articles(origin: Origin) -> list[str]:
    return sorted({clean(name, _MAX_ARTICLE) for name in origin.article_ids})


def _draft(request: Request, command: Command, state: Mapping[str, Any]) -> Proposal:
    """Build the proposal, not yet stored: content, state it rests on, evidence, hash, expiry."""
    principal, origin, action = request.principal, request.origin, command.action
    _, snapshot = freeze(state)
    evidence = freeze_evidence(request.evidence)
    amount = action.amount(command.typed, snapshot)
    policy = registry.policy_version()
    return Proposal(
        id=new_id(),
        tenant_id=principal.tenant_id,
        owner_key=principal.owner_key,
        principal=principal.to_json(),
        action=action.name,
        tier=command.tier,
        arguments=command.arguments,
        arguments_text=command.text,
        snapshot=snapshot,
        evidence=evidence,
        evidence_digest=rules.evidence_digest(evidence),
        policy_version=policy,
        hash=rules.proposal_hash(
            tenant_id=principal.tenant_id,
            owner_key=principal.owner_key,
            action=action.name,
            arguments=command.arguments,
            snapshot=snapshot,
            policy_version=policy,
        ),
        description=action.describe(command.typed, snapshot),
        intent_key=_short(action.intent_key(principal, command.typed)),
        origin_key=origin.key,
        run_id=origin.run_id,
        conversation_id=origin.conversation_id,
        article_ids=_articles(origin),
        created_at=request.now,
        expires_at=rules.expiry(command.tier, request.now),
        amount_minor=amount.minor if amount else None,
        currency=amount.currency if amount else "",
        people=people_needed(amount),
        edited_by=origin.edited_by,
    )


def _short(key: str) -> str:
    return key if len(key) <= _MAX_KEY else digest("intent/1", key)


def _find_standing(request: Request, proposal: Proposal) -> Proposal | None:
    """Return a live proposal of the same intent; refuse what a person has just rejected."""
    rows = Proposal.objects.for_principal(request.principal).filter(action=proposal.action)
    if request.origin.replaces:
        rows = rows.exclude(pk=request.origin.replaces)
    rejected = Q(
        status=ProposalStatus.REJECTED,
        hash=proposal.hash,
        conversation_id=proposal.conversation_id,
    )
    standing = is_live(request.now) & Q(intent_key=proposal.intent_key)
    found: list[Proposal] = list(rows.filter(rejected | standing))
    if any(row.status == ProposalStatus.REJECTED for row in found):
        raise AlreadyRejected("A person has rejected exactly this. Hand over instead of repeating.")
    return found[0] if found else None


def _file(request: Request, tier: RiskTier, proposal: Proposal) -> Outcome:
    """Store what waits for a person, or what is only noted for one."""
    only_noted = tier is RiskTier.VERY_HIGH
    proposal.status = ProposalStatus.RECORDED if only_noted else ProposalStatus.PENDING
    proposal.save(force_insert=True)
    _record_filed(request, proposal, f"proposal.{proposal.status}")
    return recorded_outcome(proposal, duplicate=False)


def _execute(request: Request, command: Command, proposal: Proposal) -> Outcome:
    """Carry out a LOW action: the row comes first, so the origin key guards the effect."""
    executor = command.action.execute
    if executor is None:
        raise registry.RegistrationError(f"{command.action.name} has no executor")
    proposal.status = ProposalStatus.EXECUTING
    proposal.save(force_insert=True)
    context = Execution(
        proposal_id=str(proposal.pk),
        key=str(proposal.pk),
        now=request.now,
        run_id=request.origin.run_id,
        conversation_id=request.origin.conversation_id,
        evidence=proposal.evidence,
    )
    _, result = freeze(executor(request.principal, command.typed, context))
    Effect.objects.create(
        proposal=proposal,
        tenant_id=proposal.tenant_id,
        action=proposal.action,
        at=request.now,
    )
    changed = Proposal.objects.filter(pk=proposal.pk, status=ProposalStatus.EXECUTING).update(
        status=ProposalStatus.EXECUTED, executed_at=request.now, result=result
    )
    if changed != 1:
        raise RuntimeError("the proposal was taken away while it was carried out")
    proposal.status, proposal.executed_at, proposal.result = (
        ProposalStatus.EXECUTED,
        request.now,
        result,
    )
    _record_filed(request, proposal, "proposal.executed")
    return recorded_outcome(proposal, duplicate=False)


def _same_again(request: Request, standing: Proposal) -> Outcome:
    """Answer a second wish for the same thing with the first proposal."""
    record(
        tenant_id=standing.tenant_id,
        kind="proposal.duplicate",
        actor=request.principal.owner_key,
        subject=f"proposal:{standing.pk}",
        detail={"origin": request.origin.key, "run": request.origin.run_id},
        now=request.now,
    )
    return recorded_outcome(standing)


def _record_filed(request: Request, proposal: Proposal, kind: str) -> None:
    record(
        tenant_id=proposal.tenant_id,
        kind=kind,
        actor=proposal.owner_key,
        subject=f"proposal:{proposal.pk}",
        detail={
            "action": proposal.action,
            "tier": proposal.tier,
            "hash": proposal.hash,
            "evidence": proposal.evidence_digest,
            "policy": proposal.policy_version,
            "expires_at": proposal.expires_at and proposal.expires_at.isoformat(),
            "run": proposal.run_id,
            "conversation": proposal.conversation_id,
            "origin": proposal.origin_key,
            "result": proposal.result,
        },
        now=request.now,
    )


def _refuse(request: Request, code: str, message: str) -> Outcome:
    action = registry.find_action(request.action)
    tier = action.tier if action else None
    try:
        with transaction.atomic():
            _record_refusal(request, code, message, tier)
    except Exception:
        # Nothing was done, so the refusal stands; that it left no trace must be seen.
        log.exception("The refusal of %s (%s) could not be recorded", request.action, code)
    return Outcome(OutcomeStatus.REFUSED, "", request.action, tier, code, message)


def _record_refusal(request: Request, code: str, message: str, tier: RiskTier | None) -> None:
    origin = request.origin
    record(
        tenant_id=request.principal.tenant_id,
        kind="proposal.refused",
        actor=request.principal.owner_key,
        subject=f"action:{request.action}",
        detail={
            "code": code,
            "message": message,
            "tier": tier,
            "arguments": masked(request.arguments),
            "run": origin.run_id,
            "conversation": origin.conversation_id,
            "origin": origin.key,
        },
        now=request.now,
    )
