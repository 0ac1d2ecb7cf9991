"""A ticket moves to another queue when a person agrees, once."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from approvals.models import Proposal
from approvals.rules import Origin, OutcomeStatus
from approvals.services import approve, execute, propose
from dsupport.contract.principal import Principal, Proof
from tests.approvals.conftest import hire
from tests.conftest import make_tenant
from tickets.models import Queue, Ticket, TicketEvent

NOW = datetime(2026, 10, 15, 9, 0, tzinfo=UTC)


@pytest.fixture
def asker(tenant) -> Principal:
    return Principal(tenant.pk, Proof.LOGIN, customer_id=7)


@pytest.fixture
def ticket(tenant, asker) -> Ticket:
    Queue.objects.create(tenant=tenant, slug="returns", name="Returns")
    propose(
        principal=asker,
        action="tickets.create",
        arguments={"reason": "complaint", "summary": "too late", "order_number": "1042"},
        origin=Origin(key="open"),
        evidence={},
        now=NOW,
    )
    return Ticket.objects.for_principal(asker).get()


def move(asker, number: str, queue: str = "returns", key: str = "move"):
    return propose(
        principal=asker,
        action="tickets.assign",
        arguments={"ticket": number, "queue": queue},
        origin=Origin(key=key),
        evidence={},
        now=NOW,
    )


def test_ticket_moves_after_a_yes_and_its_history_says_so(tenant, asker, ticket):
    outcome = move(asker, ticket.number)
    assert outcome.status is OutcomeStatus.WAITING
    row = Proposal.objects.get(pk=outcome.proposal_id)
    approve(proposal_id=str(row.pk), by=hire(tenant, "ann"), shown_hash=row.hash, now=NOW)
    for _ in range(2):
        execute(str(row.pk), now=NOW)
    ticket.refresh_from_db()
    assert ticket.queue.slug == "returns"
    notes = TicketEvent.objects.filter(ticket=ticket, kind="moved").values_list("note", flat=True)
    assert list(notes) == ["Support to Returns"]


@pytest.mark.parametrize(
    ("queue", "code"), [("nowhere", "unknown_queue"), ("support", "in_queue_already")]
)
def test_queue_that_is_not_there_or_no_other_is_refused(asker, ticket, queue, code):
    assert move(asker, ticket.number, queue).code == code


def test_finished_and_foreign_tickets_stay_where_they_are(asker, ticket):
    stranger = Principal(asker.tenant_id, Proof.LOGIN, customer_id=8)
    assert move(stranger, ticket.number).code == "unknown_ticket"
    elsewhere = Principal(make_tenant("other").pk, Proof.LOGIN, customer_id=7)
    assert move(elsewhere, ticket.number).code == "unknown_ticket"
    Ticket.objects.for_principal(asker).update(status="closed")
    assert move(asker, ticket.number, key="late").code == "ticket_finished"


def test_queue_of_another_shop_is_not_there(asker, ticket):
    Queue.objects.create(tenant=make_tenant("other"), slug="vip", name="VIP")
    refused = move(asker, ticket.number, "vip")
    assert refused.code == "unknown_queue"
    assert "vip" not in refused.message.lower()
