"""What other rooms may ask of approvals."""

from __future__ import annotations

from approvals.rules import Origin, Outcome, OutcomeStatus
from approvals.services.audit import BadPlace, Verification, count_entries, record, verify
from approvals.services.gate import propose
from approvals.services.proposals import get_proposal, live_arguments
from approvals.services.switches import is_off, known_switches, set_switch

__all__ = [
    "BadPlace",
    "Origin",
    "Outcome",
    "OutcomeStatus",
    "Verification",
    "count_entries",
    "get_proposal",
    "is_off",
    "known_switches",
    "live_arguments",
    "propose",
    "record",
    "set_switch",
    "verify",
]
