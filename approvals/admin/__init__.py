"""The console's pages of this room."""

from approvals.admin.audit import AuditEntryAdmin
from approvals.admin.proposals import ProposalAdmin
from approvals.admin.queue import badge

__all__ = ["AuditEntryAdmin", "ProposalAdmin", "badge"]
