"""How soon the console shows its pages when audit and events have very many rows."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median
from typing import Any

from django.contrib.auth import get_user_model
from django.db import connection, connections
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from agents.models import Conversation, Event, Run
from approvals.models import AuditEntry
from dsupport.models import Membership, Tenant

MAX_SECONDS, MAX_QUERIES = 1.0, 15
_LOOKS = 3
_A_RUN = 1_000  # events

# The chain's hashes are of the right form and mean nothing: lists do not read them.
_AUDIT = """
INSERT INTO approvals_auditentry
    (id, tenant_id, seq, at, recorded_at, kind, actor, subject, detail, prev_hash, hash)
SELECT n, CASE WHEN n %% 10 = 0 THEN %(other)s ELSE %(ours)s END, n,
    now() - make_interval(secs => %(rows)s - n), now(),
    (ARRAY['proposal.pending', 'proposal.approved', 'proposal.executed', 'switch.set'])[n %% 4 + 1],
    'customer:' || n %% 5000, 'proposal:' || n / 4, '{}',
    md5((n - 1)::text) || md5(n::text), md5(n::text) || md5((n + 1)::text)
FROM generate_series(1, %(rows)s) AS n
"""
_TYPES = ("model.called", "model.replied", "tool.called", "tool.returned")
_DATA = {"tool": "get_order", "model": "a-model", "text": "a look"}


@dataclass(frozen=True, slots=True)
class Look:
    """One page: the median of its seconds and how many queries it takes."""

    name: str
    seconds: float
    queries: int

    @property
    def passed(self) -> bool:
        return self.seconds < MAX_SECONDS and self.queries <= MAX_QUERIES


def fill(rows: int) -> Tenant:
    """Store this many audit entries and events, as the owner, in two shops; return the larger."""
    ours = Tenant.objects.create(slug="many", name="Many")
    other = Tenant.objects.create(slug="few", name="Few")
    with connections["owner"].cursor() as cursor:
        cursor.execute("ALTER TABLE approvals_auditentry DISABLE TRIGGER USER")
        cursor.execute(_AUDIT, {"ours": ours.pk, "other": other.pk, "rows": rows})
        cursor.execute("ALTER TABLE approvals_auditentry ENABLE TRIGGER USER")
    for place in range(max(1, rows // _A_RUN)):
        _store_run(other if place % 10 == 9 else ours, timezone.now() - timedelta(minutes=place))
    with connections["owner"].cursor() as cursor:
        cursor.execute("ANALYZE")
    return ours


def _store_run(tenant: Tenant, at: datetime) -> None:
    """Store a talk with one run of a thousand events."""
    talk = Conversation.objects.create(
        tenant=tenant, visitor="v", last_seq=_A_RUN, created_at=at, updated_at=at
    )
    run = Run.objects.create(
        tenant=tenant,
        conversation=talk,
        status="completed",
        provider="offline",
        architecture="solo",
        created_at=at,
        started_at=at,
        finished_at=at + timedelta(seconds=1),
    )
    Event.objects.bulk_create(
        Event(
            conversation=talk,
            run=run,
            seq=place + 1,
            type=_TYPES[place % 4],
            span=f"s{place}",
            agent="solo",
            data=_DATA,
            at=at + timedelta(milliseconds=place),
        )
        for place in range(_A_RUN)
    )


def look(tenant: Tenant) -> list[Look]:
    """Open the pages as an administrator of the shop and return what each took."""
    user: Any = get_user_model().objects.create_user("looker", is_staff=True)
    Membership.objects.create(tenant=tenant, user=user, role="admin")
    client = Client(SERVER_NAME="localhost", raise_request_exception=True)
    client.force_login(user)
    client.get("/admin/")  # imports and templates are not the question
    return [_look(client, name, address) for name, address in _pages(tenant).items()]


def _pages(tenant: Tenant) -> Mapping[str, str]:
    entry = AuditEntry.objects.filter(tenant_id=tenant.pk).latest("id")
    run = Run.objects.for_tenants({tenant.pk}).latest("created_at")
    talk = Conversation.objects.for_worker(run.conversation_id).get()
    event = Event.objects.for_run(run.pk).latest("seq")
    audit, events = "/admin/approvals/auditentry/", "/admin/agents/event/"
    return {
        "home": "/admin/",
        "audit": audit,
        "audit, page 50": f"{audit}?p=50",
        "audit, a kind": f"{audit}?kind=switch.",
        "audit, a kind that is rare": f"{audit}?kind=staff.",
        "audit, a subject": f"{audit}?q={entry.subject}",
        "audit, one entry": f"{audit}{entry.pk}/change/",
        "events": events,
        "events, a type": f"{events}?type__exact=tool.called",
        "events, a run": f"{events}?q={run.pk}",
        "events, one": f"{events}{event.pk}/change/",
        "runs": "/admin/agents/run/",
        "a run and its trace": f"/admin/agents/run/{run.pk}/change/",
        "conversations": "/admin/agents/conversation/",
        "a conversation": f"/admin/agents/conversation/{talk.pk}/change/",
        "the queue": "/admin/approvals/proposal/?decision=open",
    }


def _look(client: Client, name: str, address: str) -> Look:
    took, queries = [], 0
    for _ in range(_LOOKS):
        with CaptureQueriesContext(connection) as captured:
            began = time.perf_counter()
            answer = client.get(address)
            took.append(time.perf_counter() - began)
        if answer.status_code != 200:
            raise RuntimeError(f"{address} answered {answer.status_code}")
        queries = max(queries, len(captured))
    return Look(name, median(took), queries)
