"""The console's lists of proposals and audit entries, over HTTP."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from approvals.models import AuditEntry, Proposal
from dsupport.contract.principal import Principal, Proof
from dsupport.models import Membership
from tests.approvals.conftest import ask, note_thing, run_sql
from tests.conftest import make_tenant

LISTS = ["approvals/proposal", "approvals/auditentry"]


def signed_in(tenant=None, role: str = "", **fields) -> Client:
    user = User.objects.create_user("ann", is_staff=True, **fields)
    if tenant is not None:
        Membership.objects.create(user=user, tenant=tenant, role=role)
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def proposal(desk, customer) -> Proposal:
    ask(customer, "gifts.high", evidence={"words": ["<script>alert(1)</script>"]})
    return Proposal.objects.get()


@pytest.mark.parametrize("path", LISTS)
@pytest.mark.parametrize(
    ("role", "status"),
    [("approver", 200), ("operator", 200), ("auditor", 200), ("editor", 403), ("", 403)],
)
def test_list_is_for_those_who_work_on_cases(proposal, tenant, path, role, status):
    client = signed_in(tenant if role else None, role)
    assert client.get(f"/admin/{path}/").status_code == status


@pytest.mark.parametrize("path", LISTS)
def test_list_of_another_shop_is_empty_and_its_pages_are_missing(proposal, path):
    client = signed_in(make_tenant("other"), "admin")
    page = client.get(f"/admin/{path}/").content.decode()
    assert "Give 500" not in page
    assert "customer:7" not in page
    pk = proposal.pk if path.endswith("proposal") else AuditEntry.objects.get().pk
    assert client.get(f"/admin/{path}/{pk}/change/").status_code == 302
    assert client.get(f"/admin/{path}/{pk}/change/").headers["Location"] == "/admin/"


def test_proposal_page_shows_all_and_escapes(proposal, tenant):
    page = signed_in(tenant, "approver").get(f"/admin/approvals/proposal/{proposal.pk}/change/")
    text = page.content.decode()
    assert page.status_code == 200
    for part in ("Give 500 on order 1042", proposal.hash, "customer:7", "9980", "gifts.high"):
        assert part in text
    assert "<script>alert(1)" not in text
    assert "&lt;script&gt;alert(1)" in text
    assert f"q=proposal:{proposal.pk}" in text


@pytest.mark.parametrize("path", LISTS)
def test_pages_offer_no_way_to_change(proposal, tenant, path):
    client = signed_in(tenant, "admin", is_superuser=True)
    pk = proposal.pk if path.endswith("proposal") else AuditEntry.objects.get().pk
    before = Proposal.objects.values().get(), AuditEntry.objects.values().get()
    assert client.get(f"/admin/{path}/add/").status_code == 403
    assert client.post(f"/admin/{path}/add/", {}).status_code == 403
    assert client.post(f"/admin/{path}/{pk}/change/", {"reason": "x"}).status_code == 403
    assert client.get(f"/admin/{path}/{pk}/delete/").status_code == 403
    assert client.post(f"/admin/{path}/{pk}/delete/", {"post": "yes"}).status_code == 403
    gone = {"action": "delete_selected", "_selected_action": [str(pk)], "post": "yes"}
    client.post(f"/admin/{path}/", gone)
    assert (Proposal.objects.values().get(), AuditEntry.objects.values().get()) == before


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", True),
        ("customer:7", True),
        ("customer:8", False),
        ("talk", True),
        ("run", True),
        ("nonsense", False),
    ],
)
def test_proposals_are_found_by_what_people_have_at_hand(proposal, tenant, query, found):
    page = signed_in(tenant, "approver").get("/admin/approvals/proposal/", {"q": query})
    assert ("Give 500 on order 1042" in page.content.decode()) is found


def test_proposals_are_found_by_id_and_filtered(proposal, tenant):
    client = signed_in(tenant, "approver")
    for query, found in [
        ({"q": str(proposal.pk)}, True),
        ({"status__exact": "pending"}, True),
        ({"status__exact": "executed"}, False),
        ({"tier__exact": "HIGH"}, True),
        ({"decision": "late"}, True),
        ({"decision": "open"}, False),
    ]:
        page = client.get("/admin/approvals/proposal/", query).content.decode()
        assert ("Give 500 on order 1042" in page) is found, query


def test_audit_entries_are_found_by_subject_and_kind(proposal, tenant):
    client = signed_in(tenant, "auditor")
    for query, found in [
        ({"q": f"proposal:{proposal.pk}"}, True),
        ({"q": str(proposal.pk)}, True),
        ({"q": "switch:model"}, False),
        ({"kind": "proposal."}, True),
        ({"kind": "switch."}, False),
    ]:
        page = client.get("/admin/approvals/auditentry/", query).content.decode()
        assert ("proposal.pending" in page) is found, query


def test_audit_entry_page_links_to_its_proposal(proposal, tenant):
    entry = AuditEntry.objects.get()
    page = signed_in(tenant, "auditor").get(f"/admin/approvals/auditentry/{entry.pk}/change/")
    text = page.content.decode()
    assert f"/admin/approvals/proposal/{proposal.pk}/change/" in text
    assert entry.hash in text


def test_audit_of_the_system_is_for_superusers(tenant):
    note_thing(None, "switch:lights")
    assert "switch:lights" not in (
        signed_in(tenant, "admin").get("/admin/approvals/auditentry/").content.decode()
    )
    root = Client()
    root.force_login(User.objects.create_user("root", is_staff=True, is_superuser=True))
    assert "switch:lights" in root.get("/admin/approvals/auditentry/").content.decode()


def test_audit_entry_outlives_what_it_tells_about(tenant):
    note_thing(tenant.pk, "order:1")
    page = signed_in(None, is_superuser=True)
    User.objects.filter(username="ann").update(username="left")
    tenant.delete()
    entry = AuditEntry.objects.get()
    assert (entry.actor, entry.subject) == ("staff:ann", "order:1")
    assert "staff:ann" in page.get("/admin/approvals/auditentry/").content.decode()


@pytest.mark.parametrize("path", LISTS)
def test_list_counts_no_table_and_asks_little(desk, tenant, path):
    run_sql(
        "default",
        "INSERT INTO approvals_auditentry (tenant_id, at, kind, actor, subject, detail) "
        "SELECT %s, now(), 'a.b', 'x', 'n:' || n, '{}' FROM generate_series(1, 300) AS n",
        tenant.pk,
    )
    for number in range(60):
        ask(Principal(tenant.pk, Proof.LOGIN, customer_id=number), key=f"k{number}")
    client = signed_in(tenant, "approver")
    with CaptureQueriesContext(connection) as queries:
        page = client.get(f"/admin/{path}/")
    assert page.status_code == 200
    statements = [query["sql"] for query in queries.captured_queries]
    counting = [sql for sql in statements if "COUNT(" in sql.upper()]
    assert all("\"status\" = 'pending'" in sql for sql in counting)  # those by an index of its own
    assert len(statements) <= 15
    assert client.get(f"/admin/{path}/", {"p": "2"}).status_code == 200
