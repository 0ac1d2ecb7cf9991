"""The console's first page says what needs this person, counted in their own shops."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client

from approvals.models import Proposal
from approvals.services import approve, reject
from dsupport.lib import clock
from tests.approvals.conftest import ask, hire
from tests.conftest import make_tenant


@pytest.fixture
def now():
    return clock.now()


@pytest.fixture
def home(tenant):
    """Give the cards of the page, by name, as a member of this shop's staff sees them."""

    def look(role: str = "approver", name: str = "ann") -> dict:
        client = Client()
        client.force_login(hire(tenant, name, role))
        page = client.get("/admin/")
        assert page.status_code == 200
        return {card.name: card for card in [*page.context["needs"], *page.context["today"]]}

    return look


def wait(principal, number: int, *, asked) -> Proposal:
    arguments = {"order": f"o{number}", "amount": number}
    outcome = ask(principal, "gifts.high", arguments, key=f"k{number}", now=asked)
    return Proposal.objects.get(pk=outcome.proposal_id)


def test_what_waits_is_counted_in_ones_own_shops(desk, tenant, customer, home, now):
    from dsupport.contract.principal import Principal, Proof

    wait(customer, 1, asked=now - timedelta(hours=3))
    wait(customer, 2, asked=now)
    wait(Principal(make_tenant("other").pk, Proof.LOGIN, customer_id=7), 3, asked=now)
    cards = home()
    assert (cards["To decide"].figure, cards["Unclaimed"].figure) == ("2", "2")
    assert cards["To decide"].more.split() == ["oldest", "3", "h"]
    assert not cards["Within the hour"].urgent


def test_what_runs_out_of_time_is_urgent(desk, customer, home, now):
    wait(customer, 1, asked=now - timedelta(hours=23, minutes=30))
    card = home()["Within the hour"]
    assert (card.figure, card.urgent) == ("1", True)
    assert card.link.endswith("?decision=soon")


def test_nobody_sees_a_queue_that_is_not_theirs_to_decide(desk, customer, home, now):
    wait(customer, 1, asked=now)
    cards = home("editor", "ed")
    assert "To decide" not in cards
    assert "Time to a decision" not in cards
    assert "Talks that wait for a person" in cards


def test_time_to_a_decision_is_the_median_of_today(desk, tenant, customer, home, now):
    ann = hire(tenant, "ben")
    for number, minutes in [(1, 1), (2, 5), (3, 59)]:
        wait(customer, number, asked=now - timedelta(minutes=minutes))
    for row in Proposal.objects.filter(tenant=tenant):
        reject(proposal_id=str(row.pk), by=ann, reason_code="other", reason="no", now=now)
    assert home()["Time to a decision"].figure.split() == ["5", "min"]


def test_what_was_approved_waits_no_longer(desk, tenant, customer, home, now):
    row = wait(customer, 1, asked=now)
    approve(proposal_id=str(row.pk), by=hire(tenant, "ben"), shown_hash=row.hash, now=now)
    card = home()["To decide"]
    assert (card.figure, card.more) == ("0", "nothing waits")
