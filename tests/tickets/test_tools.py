from __future__ import annotations

import json
import logging
from concurrent.futures import ThreadPoolExecutor
from typing import get_args

import pytest
from django.db import connection
from pydantic import ValidationError

from approvals.models import AuditEntry, Proposal
from approvals.registry import get_action
from approvals.services import verify
from dsupport.contract.principal import Principal, Proof
from dsupport.contract.risk import RiskTier
from dsupport.contract.tools import ErrorCategory, ToolContext
from dsupport.models import Switch
from tests.conftest import make_tenant
from tests.tickets.conftest import NOW
from tickets.models import Ticket
from tickets.rules import Reason
from tickets.tools import TOOLS, CreateTicketArguments, create_ticket, escalate

HITS = {"hits": [{"doc_id": "returns", "score": "0.71"}, {"doc_id": "returns"}]}


def context(principal: Principal, key: str = "run/1", **fields) -> ToolContext:
    defaults = {
        "run_id": "run",
        "conversation_id": "talk",
        "customer_words": ("I want a person",),
        "evidence": HITS,
    }
    return ToolContext(principal=principal, now=NOW, key=key, **{**defaults, **fields})


def arguments(**fields) -> CreateTicketArguments:
    return CreateTicketArguments(**{"reason": "complaint", "summary": "Late parcel.", **fields})


def hand_over(principal: Principal, **fields):
    defaults = {
        "reason": Reason.LIMIT_REACHED,
        "summary": "Too many turns.",
        "order_number": None,
        "conversation_id": "talk",
        "run_id": "run",
        "key": "run/ending",
        "now": NOW,
        "evidence": HITS,
    }
    return escalate(principal=principal, **{**defaults, **fields})


def turn_off(name: str) -> None:
    Switch.objects.create(name=name, off=True, changed_by="ann", changed_at=NOW, reason="test")


def test_create_ticket_goes_through_the_gate(customer):
    result = create_ticket(arguments(order_number="#1042"), context(customer))
    assert not result.is_error
    assert result.ticket == "TKT-1001"
    assert result.data == {
        "ticket": "TKT-1001",
        "already_open": False,
        "queue": "Support",
        "subject": "Order 1042: a complaint",
        "reason": "complaint",
    }
    proposal = Proposal.objects.get()
    assert (proposal.action, proposal.tier, proposal.status) == (
        "tickets.create",
        "LOW",
        "executed",
    )
    assert proposal.description == "Open a ticket: Order 1042: a complaint"
    assert proposal.evidence["words"] == ["I want a person"]
    assert proposal.article_ids == ["returns"]
    ticket = Ticket.objects.get()
    assert (ticket.proposal_id, ticket.run_id) == (str(proposal.pk), "run")
    assert ticket.evidence == proposal.evidence
    assert AuditEntry.objects.get().kind == "proposal.executed"


def test_create_ticket_again_finds_the_open_one(customer):
    create_ticket(arguments(order_number="1042"), context(customer, "run/1"))
    result = create_ticket(arguments(), context(customer, "run/2"))
    assert (result.ticket, result.data["already_open"]) == ("TKT-1001", True)
    assert Proposal.objects.latest("id").description.startswith("Add to ticket TKT-1001")


def test_create_ticket_repeated_key_gives_the_recorded_answer(customer):
    first = create_ticket(arguments(), context(customer))
    again = create_ticket(arguments(), context(customer))
    assert again.data == first.data
    assert Ticket.objects.get().events.count() == 1
    assert Proposal.objects.count() == 1


def test_create_ticket_for_a_stranger_works(tenant):
    result = create_ticket(arguments(), context(Principal(tenant.pk, visitor="v1")))
    assert result.ticket == "TKT-1001"


def test_create_ticket_switched_off_is_an_error_the_model_can_act_on(customer):
    turn_off("action:tickets.create")
    result = create_ticket(arguments(), context(customer))
    assert result.is_error
    assert (result.category, result.data["error"]) == (ErrorCategory.FORBIDDEN, "switched_off")
    assert not Ticket.objects.exists()


def test_create_ticket_flood_reaches_the_limit(customer):
    results = [
        create_ticket(arguments(order_number=str(number)), context(customer, f"run/{number}"))
        for number in range(25)
    ]
    refused = [result for result in results if result.is_error]
    assert {result.category for result in refused} == {ErrorCategory.LIMIT}
    assert Ticket.objects.count() == 20


@pytest.mark.parametrize(
    "fields",
    [
        {"reason": "boredom"},
        {"summary": ""},
        {"summary": "   "},
        {"summary": "x" * 2_001},
        {"summary": 5},
        {"order_number": 1042},
        {"order_number": "1" * 51},
        {"customer_id": 8},
        {"email": "x@example.com"},
    ],
)
def test_create_ticket_arguments_are_strict(fields):
    with pytest.raises(ValidationError):
        arguments(**fields)


def test_create_ticket_offers_every_reason_and_no_identity():
    schema = TOOLS[0].schema()
    assert set(schema["properties"]) == {"reason", "summary", "order_number"}
    assert schema["additionalProperties"] is False
    offered = CreateTicketArguments.model_fields["reason"].annotation
    assert set(get_args(offered)) == {reason.value for reason in Reason}
    assert TOOLS[0].writes


def test_create_ticket_unstorable_words_are_refused(customer):
    result = create_ticket(arguments(summary="a\x00b"), context(customer))
    assert (result.category, result.data["error"]) == (
        ErrorCategory.INVALID_INPUT,
        "invalid_arguments",
    )


def test_escalate_works_with_everything_off(customer):
    turn_off("actions")
    turn_off("action:tickets.create")
    turn_off("action:tickets.escalate")  # set behind the service's back
    turn_off("tool:create_ticket")
    result = hand_over(customer)
    assert (result.ticket, result.is_error) == ("TKT-1001", False)
    assert Ticket.objects.get().reason == "limit_reached"
    entry = AuditEntry.objects.get()
    assert json.loads(entry.detail)["action"] == "tickets.escalate"


def test_escalate_works_beyond_the_limits(customer):
    for number in range(25):
        create_ticket(arguments(order_number=str(number)), context(customer, f"run/{number}"))
    assert hand_over(customer, conversation_id="other").ticket == "TKT-1021"


def test_escalate_shares_the_ticket_with_the_tool(customer):
    create_ticket(arguments(order_number="1042"), context(customer))
    result = hand_over(customer)
    assert (result.ticket, result.data["already_open"]) == ("TKT-1001", True)


def test_escalate_repeated_gives_the_same_ticket(customer):
    assert hand_over(customer).ticket == hand_over(customer).ticket
    assert Proposal.objects.count() == 1


def test_escalate_same_key_in_other_words_still_works(customer):
    hand_over(customer)
    result = hand_over(customer, summary="Other words.")
    assert (result.ticket, result.is_error) == ("TKT-1001", False)
    assert hand_over(customer, summary="Other words.").data == result.data


@pytest.mark.parametrize(
    "fields",
    [
        {"summary": ""},
        {"summary": "\x00\ud800 " * 3_000},
        {"summary": "x" * 9_000},
        {"order_number": "#"},
        {"order_number": "9" * 400},
        {"order_number": "1\x00"},
        {"evidence": {}},
        {"evidence": {"hits": [{"doc_id": "a\x00"}], "share": 0.5, "at": NOW}},
        {"conversation_id": ""},
    ],
)
def test_escalate_whatever_code_hands_in_works(customer, fields):
    assert hand_over(customer, **fields).ticket == "TKT-1001"


def test_escalate_unknown_reason_is_logged_and_works(customer, caplog):
    with caplog.at_level(logging.ERROR):
        assert hand_over(customer, reason="boredom").ticket == "TKT-1001"
    assert "boredom" in caplog.text
    assert Ticket.objects.get().reason == "action_needed"


def test_actions_are_low_and_only_the_fallback_is_always_on():
    create, fallback = get_action("tickets.create"), get_action("tickets.escalate")
    assert create.tier is fallback.tier is RiskTier.LOW
    assert (create.always_on, fallback.always_on) == (False, True)


def test_hundred_attempts_at_once_open_one_ticket(committed_db):
    customer = Principal(make_tenant().pk, Proof.LOGIN, customer_id=7)

    def one(index: int):
        try:
            if index % 2:
                return hand_over(customer, key=f"k{index}")
            spec = context(customer, f"k{index}", conversation_id=f"talk{index // 20}")
            return create_ticket(arguments(order_number="1042"), spec)
        finally:
            connection.close()

    with ThreadPoolExecutor(20) as pool:
        results = list(pool.map(one, range(100)))
    assert not any(result.is_error for result in results)
    # The order is one problem; the talk that names none may be one more.
    problems = list(Ticket.objects.values_list("problem", flat=True))
    assert len({result.ticket for result in results}) == len(problems) == len(set(problems)) <= 2
    assert Proposal.objects.count() == AuditEntry.objects.count() == 100
    assert verify().ok
