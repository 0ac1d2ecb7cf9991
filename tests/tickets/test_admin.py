"""The console's list of tickets, over HTTP."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from dsupport.models import Membership
from tests.conftest import make_tenant
from tests.tickets.conftest import open_for, wish
from tickets.models import Queue, Ticket


def signed_in(tenant, role: str) -> Client:
    user = User.objects.create_user("ann", is_staff=True)
    Membership.objects.create(user=user, tenant=tenant, role=role)
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def ticket(customer) -> Ticket:
    open_for(customer, wish("1042", summary="<b>Late</b> parcel", reason="complaint"))
    return open_for(customer, wish("1042", summary="Still late")).ticket


def test_ticket_page_shows_what_happened_and_escapes(ticket, tenant):
    page = signed_in(tenant, "operator").get(f"/admin/tickets/ticket/{ticket.pk}/change/")
    text = page.content.decode()
    assert page.status_code == 200
    for part in ("TKT-1001", "Order 1042: a complaint", "Still late", "Asked again", "Support"):
        assert part in text
    assert "<b>Late</b>" not in text
    assert "&lt;b&gt;Late&lt;/b&gt; parcel" in text


def test_ticket_list_is_scoped_to_the_persons_shops(ticket):
    other = make_tenant("other")
    Queue.objects.create(tenant=ticket.tenant, slug="vip", name="Very special queue")
    client = signed_in(other, "admin")
    page = client.get("/admin/tickets/ticket/").content.decode()
    assert "TKT-1001" not in page
    assert "Very special queue" not in page
    assert client.get(f"/admin/tickets/ticket/{ticket.pk}/change/").status_code == 302


def test_ticket_list_is_not_for_editors(ticket, tenant):
    assert signed_in(tenant, "editor").get("/admin/tickets/ticket/").status_code == 403


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({}, True),
        ({"q": "tkt-1001"}, True),
        ({"q": "1042"}, True),
        ({"q": "customer:7"}, True),
        ({"q": "TKT-1002"}, False),
        ({"status__exact": "open"}, True),
        ({"status__exact": "closed"}, False),
        ({"reason__exact": "complaint"}, True),
        ({"reason__exact": "no_answer"}, False),
        ({"queue": "x"}, True),
    ],
)
def test_ticket_list_finds_and_filters(ticket, tenant, query, found):
    page = signed_in(tenant, "operator").get("/admin/tickets/ticket/", query)
    assert page.status_code == 200
    assert ("Order 1042: a complaint" in page.content.decode()) is found


def test_ticket_pages_offer_no_way_to_change(ticket, tenant):
    client = signed_in(tenant, "admin")
    address = f"/admin/tickets/ticket/{ticket.pk}"
    assert client.get("/admin/tickets/ticket/add/").status_code == 403
    assert client.post(f"{address}/change/", {"status": "closed"}).status_code == 403
    assert client.post(f"{address}/delete/", {"post": "yes"}).status_code == 403
    assert Ticket.objects.get().status == "open"


def test_ticket_list_asks_little(customer, tenant):
    for number in range(60):
        open_for(customer, wish(str(number), talk=f"talk{number}"))
    client = signed_in(tenant, "operator")
    with CaptureQueriesContext(connection) as queries:
        assert client.get("/admin/tickets/ticket/").status_code == 200
    statements = [query["sql"] for query in queries.captured_queries]
    counted = [sql for sql in statements if "COUNT(" in sql.upper()]
    assert not [sql for sql in counted if "approvals_proposal" not in sql]  # the queue's badge
    assert len(statements) <= 15
