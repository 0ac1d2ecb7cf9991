"""What a proposal is, what it may become, how much may be proposed and how entries are chained."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from dsupport.contract.errors import LimitReached
from dsupport.contract.risk import RiskTier
from dsupport.lib.canonical import digest


class ProposalStatus(StrEnum):
    """Where a proposal stands. Decided and done are two facts, so both have their own members."""

    PENDING = "pending"  # waits for a person
    APPROVED = "approved"  # a person agreed; not yet carried out
    REJECTED = "rejected"  # a person refused
    EXPIRED = "expired"  # nobody decided in time
    CANCELLED = "cancelled"  # the asker withdrew it
    SUPERSEDED = "superseded"  # an edit made a new proposal of it
    EXECUTING = "executing"  # being carried out
    EXECUTED = "executed"  # carried out, once
    CONFLICT = "conflict"  # something had changed since; nothing was done
    FAILED = "failed"  # the other side said no; nothing was done
    UNKNOWN = "unknown"  # the other side did not answer; it is looked up, never repeated
    RECORDED = "recorded"  # noted for a person to do elsewhere; no code performs it


_S = ProposalStatus
TRANSITIONS: Mapping[ProposalStatus, frozenset[ProposalStatus]] = MappingProxyType(
    {
        _S.PENDING: frozenset(
            {_S.APPROVED, _S.REJECTED, _S.EXPIRED, _S.CANCELLED, _S.SUPERSEDED, _S.CONFLICT}
        ),
        _S.APPROVED: frozenset({_S.EXECUTING, _S.CONFLICT, _S.EXPIRED, _S.CANCELLED}),
        _S.EXECUTING: frozenset({_S.EXECUTED, _S.CONFLICT, _S.FAILED, _S.UNKNOWN}),
        _S.UNKNOWN: frozenset({_S.EXECUTED, _S.FAILED}),
        _S.RECORDED: frozenset({_S.EXPIRED, _S.CANCELLED, _S.SUPERSEDED}),
        _S.FAILED: frozenset(),
        _S.CONFLICT: frozenset(),
        _S.EXECUTED: frozenset(),
        _S.REJECTED: frozenset(),
        _S.EXPIRED: frozenset(),
        _S.CANCELLED: frozenset(),
        _S.SUPERSEDED: frozenset(),
    }
)
# While a proposal is one of these, asking for the same thing again adds nothing.
LIVE = frozenset({_S.PENDING, _S.APPROVED, _S.EXECUTING, _S.UNKNOWN, _S.RECORDED})


class ConfirmationStatus(StrEnum):
    """Where a card stands that asks a customer for their yes."""

    ASKED = "asked"
    CONFIRMED = "confirmed"
    DECLINED = "declined"
    SUPERSEDED = "superseded"  # a newer card asks the same
    EXPIRED = "expired"


CONFIRM_WITHIN = timedelta(minutes=30)


class OutcomeStatus(StrEnum):
    """What the gate did with a request."""

    EXECUTED = "executed"
    WAITING = "waiting"
    PROPOSE_ONLY = "propose_only"
    REFUSED = "refused"
    DUPLICATE = "duplicate"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a request comes from.

    `key` names the place in a run (or an edge's own idempotency key) and is unique in a shop for
    life: the same key gets the recorded outcome again. `article_ids` are the articles whose text
    was before the model when it asked.
    """

    key: str
    run_id: str = ""
    conversation_id: str = ""
    article_ids: tuple[str, ...] = ()
    edited_by: str = ""  # the member of staff who made it of `replaces`
    replaces: str = ""
    expects: str = ""  # the hash that somebody was shown; anything else is refused


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a request. `message` is written by code and says what happens next."""

    status: OutcomeStatus
    proposal_id: str
    action: str
    tier: RiskTier | None
    code: str
    message: str
    result: Mapping[str, Any] = field(default_factory=dict)


# How long a proposal stays open for a decision. A low one is carried out at once.
LIFETIME: Mapping[RiskTier, timedelta] = MappingProxyType(
    {
        RiskTier.MEDIUM: timedelta(hours=24),
        RiskTier.HIGH: timedelta(hours=24),
        RiskTier.VERY_HIGH: timedelta(days=30),
    }
)


@dataclass(frozen=True, slots=True)
class Counts:
    """How many requests of a class have lately come from the same source."""

    conversation: int = 0
    article: int = 0
    customer: int = 0
    tenant: int = 0


@dataclass(frozen=True, slots=True)
class Limits:
    """How many requests of a class one source may bring: in an hour an article, else in a day."""

    conversation: int
    customer: int
    tenant: int
    article: int | None  # None: no limit


# What a person must look at is scarce, so one poisoned page or one talk cannot fill the queue.
# What runs at once costs nobody's time, and a popular article stands behind many such requests.
DECIDED_LIMITS = Limits(conversation=10, article=10, customer=20, tenant=2_000)
LOW_LIMITS = Limits(conversation=20, article=None, customer=200, tenant=20_000)
LIMIT_WINDOW = timedelta(hours=24)
ARTICLE_WINDOW = timedelta(hours=1)
_LIMIT_ADVICE = {
    "conversation": "This conversation has asked for too much today. Hand over to a person.",
    "article": "One article has led to too many requests. A person must look at it first.",
    "customer": "This customer has asked for too much today. Hand over to a person.",
    "tenant": "The shop has reached its requests for today. Hand over to a person.",
}


def limits_for(tier: RiskTier) -> Limits:
    """Return the limits of the class that a tier belongs to."""
    return LOW_LIMITS if tier is RiskTier.LOW else DECIDED_LIMITS


def tiers_counted_with(tier: RiskTier) -> frozenset[RiskTier]:
    """Return the tiers whose requests count together with this one's."""
    low = frozenset({RiskTier.LOW})
    return low if tier is RiskTier.LOW else frozenset(RiskTier) - low


def check_limits(counts: Counts, limits: Limits) -> None:
    """Raise `LimitReached` (code `limit:<source>`) when one more request would pass a limit."""
    for source, advice in _LIMIT_ADVICE.items():
        limit = getattr(limits, source)
        if limit is not None and getattr(counts, source) >= limit:
            raise LimitReached(advice, code=f"limit:{source}")


def expiry(tier: RiskTier, now: datetime) -> datetime | None:
    """Return until when a proposal of this tier can be decided; None when it needs no decision."""
    lifetime = LIFETIME.get(tier)
    return None if lifetime is None else now + lifetime


def proposal_hash(
    *,
    tenant_id: int,
    owner_key: str,
    action: str,
    arguments: Mapping[str, Any],
    snapshot: Mapping[str, Any],
    policy_version: str,
) -> str:
    """Return the digest that a decision is bound to: who, what exactly, seen in which state."""
    return digest(
        "proposal/1",
        {
            "tenant": tenant_id,
            "owner": owner_key,
            "action": action,
            "arguments": arguments,
            "snapshot": snapshot_digest(snapshot),
            "policy": policy_version,
        },
    )


def snapshot_digest(snapshot: Mapping[str, Any]) -> str:
    return digest("snapshot/1", snapshot)


def evidence_digest(evidence: Mapping[str, Any]) -> str:
    return digest("evidence/1", evidence)


# --- switches -------------------------------------------------------------------------------

MODEL_SWITCH = "model"
ACTIONS_SWITCH = "actions"
_SWITCH_NAME = re.compile(r"model|actions|action:[a-z][a-z0-9_.]{0,70}|tool:[A-Za-z][\w.-]{0,70}")
# Stopping is safe, so whoever is on duty may; starting again is for who answers for the shop.
_MAY_STOP = frozenset({"admin", "operator", "senior_approver", "approver"})
_MAY_START = frozenset({"admin", "operator"})


def action_switch(action: str) -> str:
    return f"action:{action}"


def is_switch_name(name: str) -> bool:
    """Tell whether a switch of this name could mean something."""
    return _SWITCH_NAME.fullmatch(name) is not None


def stands_off_unread(name: str) -> bool:
    """Tell how a switch counts that cannot be read.

    What writes counts as off, and so does the model, whose place the offline rules take. A tool
    counts as on: reading help stays up, and a tool that writes meets the gate, which is off.
    """
    return not name.startswith("tool:")


def may_switch(*, off: bool, roles: Collection[str], is_superuser: bool) -> bool:
    """Tell whether these roles (in the shop, or in any shop for the whole system) suffice."""
    return is_superuser or bool(set(roles) & (_MAY_STOP if off else _MAY_START))


# --- the audit chain ------------------------------------------------------------------------

CHAIN_DOMAIN = "dsupport.audit/1"
GENESIS = "0" * 64


@dataclass(frozen=True, slots=True)
class EntryFacts:
    """An audit entry as it stands in the table."""

    tenant_id: int | None
    seq: int
    at: datetime
    recorded_at: datetime
    kind: str
    actor: str
    subject: str
    detail: str
    prev_hash: str


def entry_hash(entry: EntryFacts) -> str:
    """Return the hash of an entry, computed the way the database does, by other code.

    Every field carries its length in bytes, so no two entries run together into the same text.
    """
    fields = (
        CHAIN_DOMAIN,
        "" if entry.tenant_id is None else str(entry.tenant_id),
        str(entry.seq),
        _instant(entry.at),
        _instant(entry.recorded_at),
        entry.kind,
        entry.actor,
        entry.subject,
        entry.detail,
        entry.prev_hash,
    )
    parts = []
    for text in fields:
        raw = text.encode()
        parts.append(f"{len(raw)}:".encode() + raw)
    return hashlib.sha256(b"".join(parts)).hexdigest()


def _instant(value: datetime) -> str:
    return value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
