"""Carrying out what was approved: everything is read again, then it is done exactly once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import structlog
from django.db import transaction
from django.db.models import F, Q
from django.db.models.functions import Now

from approvals import policy, registry, rules
from approvals.evidence import freeze
from approvals.models import Decision, Effect, Proposal
from approvals.policy import Matter
from approvals.registry import Action, Execution
from approvals.rules import ProposalStatus
from approvals.services.audit import record
from approvals.services.decisions import read_decider
from approvals.services.switches import check_action_on
from dsupport.contract.errors import Conflict, DomainError, PortError
from dsupport.contract.principal import Principal
from dsupport.lib.queue import enqueue

log = structlog.get_logger(__name__)

TRIES = 5  # attempts at one proposal before a person must look
TAKEN_FOR = timedelta(seconds=60)  # after which a worker counts as gone
_BATCH = 100
_WORKING = (ProposalStatus.EXECUTING, ProposalStatus.UNKNOWN)


class Changed(Conflict):
    """Something is no longer as it was decided on; the code says what."""


@dataclass(frozen=True, slots=True)
class _Job:
    """A proposal with what is needed to carry it out."""

    proposal: Proposal
    action: Action
    principal: Principal
    arguments: Any

    def execution(self, now: datetime, remote: Mapping[str, Any]) -> Execution:
        proposal = self.proposal
        return Execution(
            proposal_id=str(proposal.pk),
            key=str(proposal.pk),
            now=now,
            run_id=proposal.run_id,
            conversation_id=proposal.conversation_id,
            evidence=proposal.evidence,
            snapshot=proposal.snapshot,
            remote=remote,
        )


def execute(proposal_id: str, *, now: datetime) -> str:
    """Carry out an approved proposal, or go on with one that a worker left; return its status.

    Whatever has changed since the decision makes it a conflict, and nothing is done. What happens
    at somebody else's is called outside any transaction, always under the same key; when it is
    unknown whether it happened, it is looked up before it is called again.
    """
    try:
        job = _take(proposal_id, now)
    except Changed as changed:
        return _give_up(proposal_id, changed, now)
    except Exception as error:
        # A fault of ours. The transaction is undone, so nothing happened; it is tried again.
        log.exception("execution.fault", proposal=proposal_id)
        return _fault(proposal_id, error, now)
    if job is None:
        return _status(proposal_id)
    remote = job.action.remote
    if remote is None:
        return _status(proposal_id)  # done inside the transaction that took it
    try:
        answer = _ask_outside(job, now)
    except PortError as error:
        return _in_trouble(job, error, now)
    return _finish(job, answer, now)


def executable(*, limit: int = _BATCH) -> list[str]:
    """Return what waits for a worker, or was left by one that is gone."""
    gone = Q(taken_at=None) | Q(taken_at__lt=Now() - TAKEN_FOR)
    waiting = Q(status__in=[ProposalStatus.APPROVED, *_WORKING])
    rows = Proposal.objects.filter(waiting & gone).order_by("decided_at")
    return [str(key) for key in rows.values_list("pk", flat=True)[:limit]]


# --- before anything is done ----------------------------------------------------------------


def _take(proposal_id: str, now: datetime) -> _Job | None:
    """Take it under lock; without a part outside, carry it out in the same transaction.

    None when it is another worker's or over. Raises `Changed` when it may not be carried out as
    it was decided; that transaction leaves nothing behind.
    """
    with transaction.atomic():
        free = Q(taken_at=None) | Q(taken_at__lt=Now() - TAKEN_FOR)
        takable = Q(status=ProposalStatus.APPROVED) | (Q(status__in=_WORKING) & free)
        rows = Proposal.objects.filter(takable, pk=proposal_id).select_for_update()
        proposal = rows.first()
        if proposal is None:
            return None
        job = _read(proposal)
        Proposal.objects.filter(pk=proposal.pk).update(tries=F("tries") + 1, taken_at=Now())
        if proposal.status != ProposalStatus.APPROVED:
            return job
        _check_unchanged(job, now)
        Proposal.objects.filter(pk=proposal.pk).update(status=ProposalStatus.EXECUTING)
        if job.action.remote is None:
            _act(job, {}, now)
        else:
            _record(proposal, "executing", now)
        return job


def _read(proposal: Proposal) -> _Job:
    action = registry.find_action(proposal.action)
    if action is None or action.execute is None:
        raise Changed("No program carries this out any more.", code="no_executor")
    arguments = action.arguments.model_validate_json(proposal.arguments_text, strict=True)
    return _Job(proposal, action, Principal.from_json(proposal.principal), arguments)


def _check_unchanged(job: _Job, now: datetime) -> None:
    """Read everything again that the decision rested on."""
    proposal = job.proposal
    if _hash_of(proposal) != proposal.hash:
        raise Changed("What is stored is not what was approved.", code="tampered")
    if proposal.policy_version != registry.policy_version():
        raise Changed("The shop's policy has changed since.", code="policy_changed")
    if proposal.decided_at is None or policy.is_too_old(proposal.decided_at, now):
        raise Changed("It was approved too long ago.", code="decision_too_old")
    _check_people(proposal)
    try:
        check_action_on(job.action.name, proposal.tenant_id)
        job.action.permit(job.principal, job.arguments)
        job.action.validate(job.principal, job.arguments, now)
        _, state = freeze(job.action.current(job.principal, job.arguments))
    except DomainError as error:
        raise Changed(error.message, code=error.code) from error
    part = policy.first_difference(proposal.snapshot, state)
    if part:
        raise Changed(f"Its {part} is no longer as it was when it was approved.", code="changed")


def _check_people(proposal: Proposal) -> None:
    """Those who agreed must still be allowed to, and be enough."""
    matter = Matter(proposal.principal.get("staff_id"), proposal.edited_by, proposal.amount)
    agreed = []
    rows = Decision.objects.for_proposal(proposal).filter(
        kind=Decision.Kind.APPROVE, shown_hash=proposal.hash
    )
    for row in rows:
        decider = read_decider(row.user_id, row.name, proposal.tenant_id)
        if decider is None:
            raise Changed(f"{row.name} may no longer approve.", code="approver_gone")
        try:
            policy.check_may_decide(decider, matter)
        except DomainError as error:
            raise Changed(f"{row.name}: {error.message}", code="approver_gone") from error
        agreed.append(decider)
    if not policy.is_enough(agreed, proposal.amount):
        raise Changed("Not enough people who may have agreed.", code="approver_gone")


def _hash_of(proposal: Proposal) -> str:
    return rules.proposal_hash(
        tenant_id=proposal.tenant_id,
        owner_key=proposal.owner_key,
        action=proposal.action,
        arguments=proposal.arguments,
        snapshot=proposal.snapshot,
        policy_version=proposal.policy_version,
    )


# --- doing it -------------------------------------------------------------------------------


def _act(job: _Job, answer: Mapping[str, Any], now: datetime) -> None:
    """Carry out inside the caller's transaction: effect, its record, the end of the proposal."""
    executor = job.action.execute
    if executor is None:
        raise Changed("No program carries this out any more.", code="no_executor")
    try:
        _, result = freeze(executor(job.principal, job.arguments, job.execution(now, answer)))
    except DomainError as error:
        raise Changed(error.message, code=error.code) from error
    proposal = job.proposal
    Effect.objects.create(
        proposal=proposal, tenant_id=proposal.tenant_id, action=proposal.action, at=now
    )
    done = Proposal.objects.filter(pk=proposal.pk, status__in=_WORKING).update(
        status=ProposalStatus.EXECUTED, executed_at=now, result=result, taken_at=None
    )
    if done != 1:
        raise RuntimeError("the proposal was taken away while it was carried out")
    _record(proposal, "executed", now, {"result": result})


def _ask_outside(job: _Job, now: datetime) -> Mapping[str, Any]:
    """Call the other side, or look up what an earlier call came to before calling again."""
    remote, execution = job.action.remote, job.execution(now, {})
    if remote is None:
        return {}
    if job.proposal.status in _WORKING:
        known = remote.look_up(job.principal, job.arguments, execution)
        if known is not None:
            return known
    return remote.call(job.principal, job.arguments, execution)


def _finish(job: _Job, answer: Mapping[str, Any], now: datetime) -> str:
    """Record what the other side has done. It happened, so nothing can make it a conflict."""
    try:
        with transaction.atomic():
            rows = Proposal.objects.filter(pk=job.proposal.pk, status__in=_WORKING)
            if rows.select_for_update().first() is None:
                return _status(str(job.proposal.pk))
            _act(job, answer, now)
    except Changed as changed:
        log.error("execution.unrecorded", proposal=str(job.proposal.pk), problem=changed.message)
        return _mark(job.proposal, ProposalStatus.UNKNOWN, changed, now)
    return ProposalStatus.EXECUTED.value


def _in_trouble(job: _Job, error: PortError, now: datetime) -> str:
    """Nothing happened for certain: failed. Else it is unknown, and looked up later."""
    if not error.retryable:
        return _mark(job.proposal, ProposalStatus.FAILED, error, now)
    if job.proposal.tries + 1 >= TRIES:
        log.error("execution.unknown_for_long", proposal=str(job.proposal.pk))
    return _mark(job.proposal, ProposalStatus.UNKNOWN, error, now)


def _mark(proposal: Proposal, status: ProposalStatus, error: Any, now: datetime) -> str:
    with transaction.atomic():
        rows = Proposal.objects.filter(pk=proposal.pk, status__in=_WORKING)
        rows.exclude(status=status).update(status=status, problem=error.message)
        _record(proposal, status.value, now, {"code": error.code, "problem": error.message})
    return _status(str(proposal.pk))


def _give_up(proposal_id: str, changed: Changed, now: datetime) -> str:
    """End what may not be carried out as it was decided. Nothing was done."""
    with transaction.atomic():
        rows = Proposal.objects.filter(pk=proposal_id, status=ProposalStatus.APPROVED)
        proposal = rows.select_for_update().first()
        if proposal is not None:
            rows.update(status=ProposalStatus.CONFLICT, problem=changed.message)
            detail = {"code": changed.code, "problem": changed.message}
            _record(proposal, "conflict", now, detail)
    return _status(proposal_id)


def _fault(proposal_id: str, error: Exception, now: datetime) -> str:
    """Count an attempt that fell over; after some, a person must look."""
    rows = Proposal.objects.filter(pk=proposal_id, status=ProposalStatus.APPROVED)
    rows.update(tries=F("tries") + 1, taken_at=Now())
    if rows.filter(tries__gte=TRIES).exists():
        problem = f"It could not be carried out: {type(error).__name__}."
        return _give_up(proposal_id, Changed(problem, code="fault"), now)
    return _status(proposal_id)


def _status(proposal_id: str) -> str:
    return str(Proposal.objects.values_list("status", flat=True).get(pk=proposal_id))


def _record(
    proposal: Proposal, kind: str, now: datetime, detail: Mapping[str, Any] | None = None
) -> None:
    enqueue("agents.proposal_changed", proposal_id=str(proposal.pk))
    record(
        tenant_id=proposal.tenant_id,
        kind=f"proposal.{kind}",
        actor="worker",
        subject=f"proposal:{proposal.pk}",
        detail={"action": proposal.action, "key": str(proposal.pk), **(detail or {})},
        now=now,
    )
