"""Reading proposals on behalf of staff and commands."""

from __future__ import annotations

from uuid import UUID

from approvals.errors import ProposalNotFound
from approvals.models import Proposal


def get_proposal(proposal_id: str) -> Proposal:
    """Return a proposal by its id; raise `ProposalNotFound` when there is none."""
    try:
        key = UUID(proposal_id)
    except ValueError:
        raise ProposalNotFound(_ADVICE) from None
    proposal: Proposal | None = Proposal.objects.select_related("tenant").filter(pk=key).first()
    if proposal is None:
        raise ProposalNotFound(_ADVICE)
    return proposal


_ADVICE = "There is no proposal of this id. `manage.py approvals list` shows them."
