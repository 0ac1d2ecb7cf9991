"""One question answers it all: who asked, what was shown, who decided, what was done."""

from __future__ import annotations

import pytest

from approvals.models import AuditEntry, Proposal
from approvals.services import approve, execute
from dsupport.contract.errors import NotFound
from dsupport.lib import clock
from evals.explain import explain
from evals.stage import set_stage
from tests.approvals.conftest import hire
from tickets.tools import escalate


@pytest.fixture
def stage(db):
    return set_stage()


def test_proposal_is_explained_from_the_words_to_the_effect(stage):
    ann = hire(stage.tenant, "ann")
    approve(proposal_id=stage.proposal_id, by=ann, shown_hash=stage.hash, now=clock.now())
    execute(stage.proposal_id, now=clock.now())
    found = explain(stage.proposal_id)
    assert found["asked"]["who"] == stage.customer.owner_key
    assert found["shown"]["hash"] == found["proposed"]["hash"] == stage.hash
    assert [word["who"] for word in found["decided"]] == ["ann"]
    assert (found["carried_out"]["status"], found["carried_out"]["key"]) == (
        "executed",
        stage.proposal_id,
    )
    kinds = [line.split(" ")[2] for line in found["audit"]]
    assert kinds == ["proposal.pending", "proposal.approved", "proposal.executed"]


def test_card_ticket_and_audit_entry_are_explained(stage):
    assert explain(stage.card.id)["card"]["answer"] == "asked"
    ticket = escalate(
        principal=stage.customer,
        reason="customer_request",
        summary="Please call.",
        order_number=None,
        conversation_id=stage.conversation_id,
        run_id="",
        key="k1",
        now=clock.now(),
        evidence={},
    ).ticket
    assert len(explain(ticket.lower())["opened_by"]) == 1
    entry = AuditEntry.objects.filter(kind="proposal.pending").get()
    assert explain(f"audit:{entry.pk}")["proposed"]["id"] == str(
        Proposal.objects.get(tier="MEDIUM").pk
    )


@pytest.mark.parametrize(
    "name", ["nonsense", "TKT-1", "audit:0", "audit:x", "0198f000-0000-7000-8000-000000000000"]
)
def test_what_is_not_known_is_said_with_what_to_give(db, name):
    with pytest.raises(NotFound):
        explain(name)
