"""What the gate says of a proposal that is on record."""

from __future__ import annotations

from collections.abc import Mapping

from approvals.models import Proposal
from approvals.rules import Outcome, OutcomeStatus, ProposalStatus
from dsupport.contract.risk import RiskTier

_FRESH: Mapping[str, tuple[OutcomeStatus, str]] = {
    ProposalStatus.EXECUTED: (OutcomeStatus.EXECUTED, "Done."),
    ProposalStatus.PENDING: (
        OutcomeStatus.WAITING,
        "Not done yet: a person decides. Say that it waits, and never that it is done.",
    ),
    ProposalStatus.RECORDED: (
        OutcomeStatus.PROPOSE_ONLY,
        "Noted for a person. Nothing was done, and no program will do it.",
    ),
}


def recorded_outcome(proposal: Proposal, *, duplicate: bool = True) -> Outcome:
    """Return the outcome of a request that led, now or earlier, to this proposal."""
    known = _FRESH.get(proposal.status)
    message = known[1] if known else f"This was asked before and is {proposal.status} now."
    status = OutcomeStatus.DUPLICATE if duplicate or known is None else known[0]
    return Outcome(
        status=status,
        proposal_id=str(proposal.pk),
        action=proposal.action,
        tier=RiskTier(proposal.tier),
        code=str(proposal.status),
        message=message,
        result=proposal.result or {},
    )
