"""The queue of proposals in the console: its views, its order, and several at once."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse

from approvals.askers import name_askers
from approvals.models import AuditEntry, Decision, Proposal
from approvals.services import claim, reject
from approvals.waiting import View, count_waiting
from dsupport.contract.principal import Principal, Proof
from dsupport.lib import clock
from tests.approvals.conftest import ask, hire
from tests.conftest import make_tenant

QUEUE = "/admin/approvals/proposal/"


@pytest.fixture
def now():
    return clock.now()


@pytest.fixture
def ann(tenant):
    return hire(tenant, "ann")


@pytest.fixture
def console(ann) -> Client:
    client = Client()
    client.force_login(ann)
    return client


def person(tenant, number: int) -> Principal:
    return Principal(tenant.pk, Proof.LOGIN, customer_id=number)


def waiting(tenant, number: int, *, asked, action: str = "gifts.high") -> Proposal:
    """Have customer `number` ask for `number` on the order of that number."""
    arguments = {"order": f"o{number}", "amount": number}
    outcome = ask(
        person(tenant, number), action, arguments, key=f"k{number}", conversation="t", now=asked
    )
    return Proposal.objects.get(pk=outcome.proposal_id)


def shown(console: Client, **query: str) -> list[str]:
    page = console.get(QUEUE, query)
    assert page.status_code == 200
    return [row.description for row in page.context["cl"].result_list]


def test_views_show_what_their_names_say(desk, tenant, ann, console, now):
    plain = waiting(tenant, 1, asked=now - timedelta(hours=2))
    mine = waiting(tenant, 2, asked=now - timedelta(hours=1))
    soon = waiting(tenant, 3, asked=now - timedelta(hours=23, minutes=30))
    late = waiting(tenant, 4, asked=now - timedelta(hours=25))
    elsewhere = waiting(tenant, 5, asked=now, action="gifts.very_high")
    gone = waiting(tenant, 6, asked=now)
    claim(proposal_id=str(mine.pk), by=ann, now=now)
    reject(proposal_id=str(gone.pk), by=ann, reason_code="other", reason="no", now=now)
    words = {row.pk: row.description for row in Proposal.objects.all()}
    expected = {
        "open": [soon, plain, mine],  # whoever runs out of time first
        "mine": [mine],
        "free": [soon, plain],
        "soon": [soon],
        "elsewhere": [elsewhere],
        "late": [late],
    }
    for view, rows in expected.items():
        assert shown(console, decision=view) == [words[row.pk] for row in rows], view
    counts = count_waiting({tenant.pk}, name="ann", now=now).counts
    assert counts == {View(view): len(rows) for view, rows in expected.items()}
    assert set(shown(console)) == set(words.values())
    assert set(shown(console, decision="nonsense")) == set(words.values())


def test_counts_and_badge_are_of_ones_own_shops(desk, tenant, ann, console, now):
    waiting(tenant, 1, asked=now)
    waiting(make_tenant("other"), 2, asked=now)
    page = console.get(reverse("admin:approvals_proposal_badge"))
    assert ">1</span>" in page.content.decode()
    assert 'data-badge="' in console.get("/admin/").content.decode()
    assert count_waiting({tenant.pk}, name="ann", now=now).total == 1
    assert count_waiting(None, name="ann", now=now).total == 2


def test_line_names_the_customer_the_order_and_the_age(desk, tenant, console, now):
    from orders.models import Customer

    customer = Customer.objects.create(
        tenant=tenant,
        external_id="c",
        first_name="Lena",
        last_name="Vos",
        email="l@example.org",
        currency="EUR",
    )
    desk.state["order"] = "1042"
    waiting(tenant, customer.pk, asked=now - timedelta(hours=3))
    page = console.get(QUEUE).content.decode()
    assert "Lena Vos" in page
    assert ">1042<" in page
    assert "3 h" in page


def test_names_of_one_shop_are_not_told_to_another(tenant):
    from orders.models import Customer

    other = make_tenant("other")
    theirs = Customer.objects.create(
        tenant=other, external_id="c", first_name="Lena", email="l@example.org", currency="EUR"
    )
    key = f"customer:{theirs.pk}"
    named = name_askers([(tenant.pk, key), (other.pk, key), (tenant.pk, "visitor:abc")])
    assert named == {
        (tenant.pk, key): key,
        (other.pk, key): "Lena",
        (tenant.pk, "visitor:abc"): "Guest",
    }


def run_action(console: Client, name: str, *rows: Proposal, **fields: str):
    chosen = [str(row.pk) for row in rows]
    data = {"action": name, "_selected_action": chosen, **fields}
    return console.post(QUEUE, data, follow=True)


def test_several_are_claimed_at_once_and_none_is_let_go(desk, tenant, ann, console, now):
    first, second = (waiting(tenant, number, asked=now) for number in (1, 2))
    claim(proposal_id=str(first.pk), by=ann, now=now)
    page = run_action(console, "claim_selected", first, second)
    assert "Claimed: 1." in page.content.decode()
    assert set(Proposal.objects.values_list("claimed_by", flat=True)) == {"ann"}


def test_several_are_rejected_with_one_reason_after_a_page_that_names_them(
    desk, tenant, console, now
):
    rows = [waiting(tenant, number, asked=now) for number in (1, 2, 3)]
    asked = run_action(console, "reject_selected", *rows[:2]).content.decode()
    assert rows[0].description in asked
    assert rows[2].description not in asked
    assert set(Proposal.objects.values_list("status", flat=True)) == {"pending"}
    hashes = {f"hash-{row.pk}": row.hash for row in rows}
    again = run_action(console, "reject_selected", *rows[:2], code="other", reason=" ", **hashes)
    assert "Say why in a few words" in again.content.decode()
    assert not Decision.objects.exists()
    done = run_action(console, "reject_selected", *rows[:2], code="other", reason="no", **hashes)
    assert "Rejected: 2." in done.content.decode()
    states = Proposal.objects.order_by("description").values_list("status", flat=True)
    assert list(states) == ["rejected", "rejected", "pending"]
    assert AuditEntry.objects.filter(kind="proposal.rejected").count() == 2


def test_one_that_cannot_be_rejected_keeps_no_other_from_it(desk, tenant, console, now):
    late = waiting(tenant, 1, asked=now - timedelta(hours=25))
    fine, changed = (waiting(tenant, number, asked=now) for number in (2, 3))
    fields = {f"hash-{fine.pk}": fine.hash, f"hash-{changed.pk}": "0" * 64, "code": "other"}
    page = run_action(console, "reject_selected", late, fine, changed, reason="no", **fields)
    text = page.content.decode()
    assert "Rejected: 1." in text
    assert "The time to decide is over" in text
    assert "What you saw is not what waits here" in text


def test_nothing_is_approved_in_a_batch(desk, tenant, console, now):
    row = waiting(tenant, 1, asked=now)
    for name in ("approve", "approve_selected", "delete_selected"):
        run_action(console, name, row)
    assert Proposal.objects.get().status == "pending"
    listed = console.get(QUEUE).context["action_form"].fields["action"].choices
    assert [name for name, _ in listed] == ["", "claim_selected", "reject_selected"]


@pytest.mark.parametrize("role", ["operator", "auditor"])
def test_who_does_not_decide_has_no_batch_either(desk, tenant, now, role):
    client = Client()
    client.force_login(hire(tenant, "bob", role))
    row = waiting(tenant, 1, asked=now)
    run_action(client, "claim_selected", row)
    run_action(client, "reject_selected", row, code="other", reason="no")
    found = Proposal.objects.get()
    assert (found.status, found.claimed_by) == ("pending", "")
    assert "reject_selected" not in client.get(QUEUE).content.decode()


def test_batch_reaches_no_other_shop_and_needs_its_token(desk, tenant, console, ann, now):
    theirs = waiting(make_tenant("other"), 1, asked=now)
    run_action(console, "reject_selected", theirs, code="other", reason="no")
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(ann)
    own = waiting(tenant, 2, asked=now)
    data = {"action": "claim_selected", "_selected_action": [str(own.pk)]}
    assert strict.post(QUEUE, data).status_code == 403
    assert set(Proposal.objects.values_list("status", "claimed_by")) == {("pending", "")}


def test_what_is_decided_cannot_be_claimed(desk, tenant, ann, console, now):
    row = waiting(tenant, 1, asked=now - timedelta(hours=25))
    page = run_action(console, "claim_selected", row)
    assert "The time to decide is over" in page.content.decode()
    assert Proposal.objects.get().claimed_by == ""
