"""On the page of a proposal one edits it into another, and asks the customer before deciding."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse

from agents.models import Conversation, Message
from agents.services import open_conversation
from approvals.models import AuditEntry, Proposal
from approvals.services import reject
from dsupport.lib import clock
from tests.approvals.conftest import ask, hire
from tests.conftest import make_tenant


@pytest.fixture
def now():
    return clock.now()


@pytest.fixture
def talk(tenant, customer, now) -> Conversation:
    from orders.models import Customer

    Customer.objects.create(
        pk=customer.customer_id,
        tenant=tenant,
        external_id="c",
        first_name="Lena",
        email="l@example.org",
        currency="EUR",
    )
    return open_conversation(principal=customer, now=now)


@pytest.fixture
def proposal(desk, customer, talk, now) -> Proposal:
    outcome = ask(customer, "gifts.high", conversation=str(talk.pk), now=now)
    return Proposal.objects.get(pk=outcome.proposal_id)


def as_member(tenant, name: str = "ann", role: str = "approver") -> Client:
    client = Client()
    client.force_login(hire(tenant, name, role))
    return client


def put(client: Client, proposal: Proposal, **fields: str):
    address = reverse("admin:approvals_proposal_edit", args=[proposal.pk])
    form = {"hash": proposal.hash, "order": "1042", "amount": "300", "note": ""}
    return client.post(address, form | fields, follow=True)


def question(client: Client, proposal: Proposal, text: str = "Which one?", **fields: str):
    address = reverse("admin:agents_conversation_ask", args=[proposal.conversation_id, proposal.pk])
    return client.post(address, {"text": text, "client_id": "once", **fields}, follow=True)


def state_of(proposal: Proposal) -> str:
    return Proposal.objects.get(pk=proposal.pk).status


def test_form_shows_the_arguments_and_makes_a_new_request_of_them(tenant, proposal):
    client = as_member(tenant)
    form = client.get(reverse("admin:approvals_proposal_edit", args=[proposal.pk]))
    assert 'name="amount" value="500"' in form.content.decode()
    page = put(client, proposal)
    new = Proposal.objects.get(status="pending")
    assert page.redirect_chain[-1][0].endswith(f"{new.pk}/change/")
    assert (new.arguments["amount"], new.edited_by, state_of(proposal)) == (
        300,
        "ann",
        "superseded",
    )
    assert "somebody else must decide" in page.content.decode()


def test_what_the_gate_refuses_stays_in_the_form_and_changes_nothing(tenant, proposal):
    page = put(as_member(tenant), proposal, amount="three <b>")
    assert 'value="three &lt;b&gt;"' in page.content.decode()
    assert "amount" in str(next(iter(page.context["messages"])))
    assert [row.status for row in Proposal.objects.all()] == ["pending"]


@pytest.mark.parametrize("wrong", [{"hash": "0" * 64}, {"hash": ""}])
def test_form_of_another_request_edits_nothing(tenant, proposal, wrong):
    put(as_member(tenant), proposal, **wrong)
    assert Proposal.objects.count() == 1


def test_operators_and_other_shops_edit_and_ask_nothing(tenant, proposal):
    for client in (
        as_member(tenant, "olga", "operator"),
        as_member(make_tenant("other"), "eve", "admin"),
    ):
        assert put(client, proposal).status_code in {200, 404}
        question(client, proposal)
        assert [row.status for row in Proposal.objects.all()] == ["pending"]
        assert not Message.objects.exists()


def test_question_goes_to_the_customer_and_the_request_stays_open(tenant, talk, proposal):
    client = as_member(tenant)
    for _ in range(2):  # two clicks
        page = question(client, proposal)
    assert page.redirect_chain[-1][0].endswith(f"{proposal.pk}/change/")
    said = Message.objects.for_conversation(talk).get()
    assert (said.text, said.author, said.name) == ("Which one?", "staff", "ann")
    row = Proposal.objects.get(pk=proposal.pk)
    assert (row.status, row.claimed_by) == ("pending", "ann")
    assert Conversation.objects.for_worker(talk.pk).get().posture == "off"
    kinds = AuditEntry.objects.filter(subject=f"proposal:{proposal.pk}").values_list("kind")
    assert ("proposal.asked_back",) in kinds


def test_nothing_is_asked_about_what_is_decided_or_too_late(tenant, proposal, now):
    client, ben = as_member(tenant), hire(tenant, "ben")
    reject(proposal_id=str(proposal.pk), by=ben, reason_code="other", reason="no", now=now)
    page = question(client, proposal)
    assert "rejected already by ben" in page.content.decode()
    assert not Message.objects.exists()


def test_empty_question_is_refused_and_nothing_is_claimed(tenant, proposal):
    question(as_member(tenant), proposal, "  ")
    assert Proposal.objects.get(pk=proposal.pk).claimed_by == ""
    assert not AuditEntry.objects.filter(kind="proposal.asked_back").exists()


def test_request_from_no_conversation_offers_no_question(desk, tenant, customer, now):
    outcome = ask(customer, "gifts.high", conversation="cli", now=now)
    page = as_member(tenant).get(
        reverse("admin:approvals_proposal_change", args=[outcome.proposal_id])
    )
    assert "Edit…" in page.content.decode()
    assert "Ask the customer…" not in page.content.decode()


def test_buttons_go_when_the_time_is_over(desk, tenant, customer, now):
    outcome = ask(customer, "gifts.high", now=now - timedelta(hours=25))
    page = as_member(tenant).get(
        reverse("admin:approvals_proposal_change", args=[outcome.proposal_id])
    )
    assert "Edit…" not in page.content.decode()


def test_question_is_asked_in_the_conversation_of_its_own_request_alone(tenant, proposal):
    """The address names both; the words go where the request came from."""
    address = reverse("admin:agents_conversation_ask", args=[uuid4(), proposal.pk])
    assert as_member(tenant).post(address, {"text": "x"}).status_code == 404
    assert not Message.objects.exists()
