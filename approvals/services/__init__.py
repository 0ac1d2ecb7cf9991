"""What other rooms may ask of approvals."""

from __future__ import annotations

from approvals.rules import Origin, Outcome, OutcomeStatus
from approvals.services.audit import BadPlace, Verification, count_entries, record, verify
from approvals.services.confirmations import (
    Card,
    ask_customer,
    confirm,
    decline,
    open_cards,
    read_card,
)
from approvals.services.decisions import (
    approve,
    ask_back,
    cancel,
    claim,
    edit,
    expire_due,
    reject,
)
from approvals.services.execution import executable, execute
from approvals.services.gate import propose
from approvals.services.proposals import get_proposal, live_arguments
from approvals.services.switches import is_off, known_switches, set_switch

__all__ = [
    "BadPlace",
    "Card",
    "Origin",
    "Outcome",
    "OutcomeStatus",
    "Verification",
    "approve",
    "ask_back",
    "ask_customer",
    "cancel",
    "claim",
    "confirm",
    "count_entries",
    "decline",
    "edit",
    "executable",
    "execute",
    "expire_due",
    "get_proposal",
    "is_off",
    "known_switches",
    "live_arguments",
    "open_cards",
    "propose",
    "read_card",
    "record",
    "reject",
    "set_switch",
    "verify",
]
