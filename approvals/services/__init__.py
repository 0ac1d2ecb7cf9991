"""What other rooms may ask of approvals."""

from __future__ import annotations

from approvals.rules import Origin, Outcome, OutcomeStatus
from approvals.services.audit import BadPlace, Verification, count_entries, record, verify
from approvals.services.decisions import approve, cancel, claim, edit, expire_due, reject
from approvals.services.execution import executable, execute
from approvals.services.gate import propose
from approvals.services.proposals import get_proposal, live_arguments
from approvals.services.switches import is_off, known_switches, set_switch

__all__ = [
    "BadPlace",
    "Origin",
    "Outcome",
    "OutcomeStatus",
    "Verification",
    "approve",
    "cancel",
    "claim",
    "count_entries",
    "edit",
    "executable",
    "execute",
    "expire_due",
    "get_proposal",
    "is_off",
    "known_switches",
    "live_arguments",
    "propose",
    "record",
    "reject",
    "set_switch",
    "verify",
]
