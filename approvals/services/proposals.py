"""Reading proposals on behalf of staff and commands."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from approvals.errors import ProposalNotFound
from approvals.models import Proposal
from approvals.rules import LIVE


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


def live_arguments(*, tenant_id: int, action: str, order: str) -> list[dict[str, Any]]:
    """Return the arguments of what was asked for an order (`snapshot["order"]`) and is not done."""
    rows = Proposal.objects.for_tenant(tenant_id).filter(
        action=action, status__in=list(LIVE), snapshot__order=order
    )
    return list(rows.values_list("arguments", flat=True))


_ADVICE = "There is no proposal of this id. `manage.py approvals list` shows them."
