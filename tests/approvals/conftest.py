"""Actions, askers and shops for the tests of approvals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import connections, transaction
from pydantic import BaseModel, ConfigDict

from approvals import registry
from approvals.models import AuditEntry, Decision, Proposal
from approvals.registry import Action, Execution
from approvals.rules import Origin
from approvals.services import Outcome, propose, record, reject
from dsupport.contract.errors import Conflict
from dsupport.contract.principal import Principal, Proof
from dsupport.contract.risk import RiskTier

NOW = datetime(2026, 10, 15, 9, 0, tzinfo=UTC)


class Gift(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    order: str
    amount: int
    note: str = ""


class Desk:
    """A room with actions of every tier, whose effects are a list."""

    def __init__(self) -> None:
        self.done: list[Execution] = []
        self.state: dict[str, Any] = {"paid": 9980}
        self.closed = False
        self.broken: set[str] = set()

    def action(self, name: str, tier: RiskTier | None, **fields: Any) -> Action:
        executor = None if tier is RiskTier.VERY_HIGH else self._execute
        defaults: dict[str, Any] = {
            "arguments": Gift,
            "validate": self._validate,
            "snapshot": self._snapshot,
            "current": self._snapshot,
            "describe": self._describe,
            "execute": executor,
            "intent_key": lambda principal, gift: f"{principal.owner_key}/{name}/{gift.order}",
        }
        return Action(name=name, tier=tier, **{**defaults, **fields})

    def _breaks(self, where: str) -> None:
        if where in self.broken:
            raise ZeroDivisionError(where)

    def _validate(self, _principal: Principal, _gift: Gift, _now: datetime) -> None:
        self._breaks("validate")
        if self.closed:
            raise Conflict("The order is closed. Choose another.", code="order_closed")

    def _snapshot(self, _principal: Principal, _gift: Gift) -> Mapping[str, Any]:
        self._breaks("snapshot")
        return self.state

    def _describe(self, gift: Gift, _snapshot: Mapping[str, Any]) -> str:
        self._breaks("describe")
        return f"Give {gift.amount} on order {gift.order}"

    def _execute(self, _principal: Principal, gift: Gift, execution: Execution) -> dict[str, Any]:
        self.done.append(execution)
        self._breaks("execute")
        return {"given": gift.amount, "order": gift.order}


@pytest.fixture
def desk() -> Iterator[Desk]:
    room = Desk()
    with registry.extended(
        room.action("gifts.low", RiskTier.LOW),
        room.action("gifts.medium", RiskTier.MEDIUM),
        room.action("gifts.high", RiskTier.HIGH),
        room.action("gifts.very_high", RiskTier.VERY_HIGH),
        room.action("gifts.always", RiskTier.LOW, always_on=True, permit=registry.allow_anybody),
    ):
        yield room


@pytest.fixture
def customer(tenant) -> Principal:
    return Principal(tenant_id=tenant.pk, proof=Proof.LOGIN, customer_id=7)


def ask(
    principal: Principal,
    action: str = "gifts.low",
    arguments: Any = None,
    *,
    key: str = "run/1",
    conversation: str = "talk",
    articles: tuple[str, ...] = (),
    evidence: Mapping[str, Any] | None = None,
    now: datetime = NOW,
) -> Outcome:
    """Take one request through the gate; every part has a default."""
    return propose(
        principal=principal,
        action=action,
        arguments={"order": "1042", "amount": 500} if arguments is None else arguments,
        origin=Origin(key=key, run_id="run", conversation_id=conversation, article_ids=articles),
        evidence=evidence or {"words": ["please"]},
        now=now,
    )


def hire(tenant: Any, name: str, role: str = "approver", **fields: Any) -> Any:
    """Store a member of a shop's staff; no role makes them staff of no shop."""
    from django.contrib.auth import get_user_model

    from dsupport.models import Membership

    user = get_user_model().objects.create(username=name, is_staff=True, **fields)
    if role:
        Membership.objects.create(tenant=tenant, user=user, role=role)
    return user


def say(proposal: Proposal, kind: str, user: Any) -> None:
    """Store a person's word as the services do, without their judgement."""
    Decision.objects.create(
        proposal=proposal,
        kind=kind,
        user_id=user.pk,
        name=user.username,
        roles=[],
        shown_hash=proposal.hash,
        at=NOW,
    )


def turn_down(principal: Principal, **where: Any) -> None:
    """Have a person of the asker's shop reject what is pending."""
    for proposal in Proposal.objects.for_principal(principal).filter(status="pending", **where):
        tenant = proposal.tenant
        name = f"ann{tenant.pk}-{proposal.pk}"[:100]
        reject(
            proposal_id=str(proposal.pk),
            by=hire(tenant, name),
            reason_code="other",
            reason="No.",
            now=NOW,
        )


def note_thing(tenant_id: int | None = 1, subject: str = "thing:1", **detail: Any) -> AuditEntry:
    with transaction.atomic():
        return record(
            tenant_id=tenant_id,
            kind="test.noted",
            actor="staff:ann",
            subject=subject,
            detail=detail,
            now=NOW,
        )


def run_sql(alias: str, sql: str, *parameters: Any) -> list[Any]:
    with connections[alias].cursor() as cursor:
        cursor.execute(sql, parameters)
        return cursor.fetchall() if cursor.description else []
