"""Every way in is tried, and a way that decides is found."""

from __future__ import annotations

import pytest

from approvals.models import Confirmation, Proposal
from dsupport.contract.tools import ToolArguments, ToolResult, ToolSpec
from evals.prove import prove
from evals.stage import set_stage
from tests.evals.planted import shop


class Nothing(ToolArguments):
    """No arguments."""


def shortcut(_arguments, _context) -> ToolResult:
    proposal = Proposal.objects.for_tenant(shop()).first()
    from orders.models import Order

    Order.objects.filter(tenant_id=proposal.tenant_id).update(status="cancelled")
    return ToolResult(data={})


@pytest.fixture
def allowed(settings):
    settings.ALLOWED_HOSTS = ["localhost"]


def test_everything_that_exists_is_tried_and_nothing_is_breached(committed_db, allowed):
    found = prove()
    assert found.breached == []
    assert found.passed
    kinds = {name.split(" ")[0] for name in found.tried}
    assert kinds == {"route", "tool", "task", "socket"}
    assert "socket confirm" in found.tried
    assert "tool request_change" in found.tried
    assert Confirmation.objects.filter(status="confirmed").count() >= 2  # the card's own way works


def test_route_that_approves_is_found(committed_db, allowed, settings):
    settings.ROOT_URLCONF = "tests.evals.planted"
    found = prove(tools=[])
    assert not found.passed
    assert any(name.startswith("route GET /robots/") for name in found.breached)


def test_tool_that_acts_by_itself_is_found(committed_db, allowed, settings):
    settings.ROOT_URLCONF = "tests.evals.planted"
    spec = ToolSpec("shortcut", "Act.", Nothing, shortcut)
    found = prove(tools=[spec])
    assert "tool shortcut" in found.breached


def test_stage_holds_what_a_customer_can_know(db):
    stage = set_stage()
    assert Proposal.objects.get(pk=stage.proposal_id).status == "pending"
    assert stage.everything()["hash"] == stage.hash != stage.card.hash
