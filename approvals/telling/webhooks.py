"""A shop's own program hears of every proposal, signed, in order, at least once, and again.

What is sent is the shop's audit chain, as far as it is about proposals: an entry is one event,
and its place in the chain is the event's id. Signatures follow the Standard Webhooks
specification 1.0 (standardwebhooks.com): HMAC-SHA-256 over `id.timestamp.body`.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import httpx2
from django.conf import settings
from django.db import transaction
from django.urls import reverse

from approvals.models import AuditEntry, WebhookPlace
from approvals.telling.stages import HOLD_SECONDS, next_try
from dsupport.contract.errors import InvalidInput
from dsupport.lib import clock
from dsupport.models import Tenant

log = logging.getLogger(__name__)

_BATCH = 100
_SECONDS = 10.0
_PREFIX = "whsec_"
_SHOWN = ("status", "action", "hash", "reason_code")  # no words of people


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a shop's events go, and the key that they are signed with."""

    url: str
    secret: bytes


@dataclass(frozen=True, slots=True)
class Event:
    """One event as it goes over the wire."""

    id: str
    at: datetime
    body: bytes

    def headers(self, secret: bytes, now: datetime) -> dict[str, str]:
        """Return the signed headers; the time is that of the attempt, the id is for life."""
        stamp = str(int(now.timestamp()))
        content = b".".join([self.id.encode(), stamp.encode(), self.body])
        mac = base64.b64encode(hmac.new(secret, content, hashlib.sha256).digest()).decode()
        return {
            "content-type": "application/json",
            "webhook-id": self.id,
            "webhook-timestamp": stamp,
            "webhook-signature": f"v1,{mac}",
        }


Post = Callable[[str, bytes, Mapping[str, str]], None]


def endpoint_of(tenant: Tenant) -> Endpoint | None:
    """Return a shop's endpoint from the settings; raise `InvalidInput` when its key is none."""
    found = settings.DSUPPORT_WEBHOOKS.get(tenant.slug)
    if not found:
        return None
    try:
        secret = base64.b64decode(found["secret"].removeprefix(_PREFIX), validate=True)
    except binascii.Error:
        secret = b""
    if len(secret) < 24:
        raise InvalidInput(
            f"The webhook secret of {tenant.slug} must be 24 bytes or more in base64.",
            code="bad_webhook_secret",
        )
    return Endpoint(found["url"], secret)


def send_events(tenant: Tenant, *, now: datetime, post: Post | None = None) -> int:
    """Send what the shop's webhook has not heard yet; return how many it took.

    The first failure ends it until the next try, so that nothing overtakes anything. A shop's
    first event is the first one after its webhook was set up.
    """
    endpoint = endpoint_of(tenant)
    place = _place(tenant, now) if endpoint else None
    if endpoint is None or place is None or not _take(place, now):
        return 0
    heard, began = 0, time.monotonic()
    for entry in _entries(tenant, place.seq):
        if time.monotonic() - began > HOLD_SECONDS:
            break  # the next look goes on, and nobody else has begun meanwhile
        event = event_of(entry)
        try:
            if event is not None:
                (post or _post)(endpoint.url, event.body, event.headers(endpoint.secret, now))
                heard += 1
        except (httpx2.HTTPError, OSError) as error:
            log.warning("The webhook of %s failed on %s: %s", tenant.slug, entry.seq, error)
            _store(place, error=str(error)[:200])
            return heard
        if not _advance(place, entry.seq):
            return heard  # somebody has asked for a replay
    _store(place, failures=0, error="", due_at=now)
    return heard


def replay(tenant: Tenant, *, after: int, now: datetime) -> None:
    """Have everything after a place of the chain sent again, with the ids it had."""
    place = _place(tenant, now)
    last = AuditEntry.objects.filter(tenant_id=tenant.pk).order_by("-seq").first()
    if not 0 <= after <= (last.seq if last else 0):
        raise InvalidInput(
            f"The chain has no place {after}. See: webhooks status", code="no_such_place"
        )
    _store(place, seq=after, failures=0, error="", due_at=now)


def event_of(entry: AuditEntry) -> Event | None:
    """Return what is told of an entry, None where it is about no proposal."""
    what, _, key = entry.subject.partition(":")
    if what != "proposal" or not entry.kind.startswith("proposal."):
        return None
    detail = json.loads(entry.detail)
    page = reverse("admin:approvals_proposal_change", args=[key])
    document = {
        "type": entry.kind,
        "timestamp": entry.at.isoformat(),
        "data": {
            "proposal": key,
            **{name: detail[name] for name in _SHOWN if name in detail},
            "url": f"{settings.DSUPPORT_URL}{page}",
        },
    }
    body = json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode()
    return Event(f"audit_{entry.tenant_id}_{entry.seq}", entry.at, body)


def _entries(tenant: Tenant, after: int) -> list[AuditEntry]:
    rows = AuditEntry.objects.filter(tenant_id=tenant.pk, seq__gt=after)
    return list(rows.order_by("seq")[:_BATCH])


def _place(tenant: Tenant, now: datetime) -> WebhookPlace:
    last = AuditEntry.objects.filter(tenant_id=tenant.pk).order_by("-seq").first()
    place, _ = WebhookPlace.objects.get_or_create(
        tenant=tenant, defaults={"seq": last.seq if last else 0, "due_at": now}
    )
    return place


def _take(place: WebhookPlace, now: datetime) -> bool:
    """Hold the place for one sender: others come back when this one should be long done."""
    with transaction.atomic():
        rows = WebhookPlace.objects.filter(pk=place.pk, due_at__lte=now, failures=place.failures)
        due = next_try(place.failures + 1, now)
        taken = rows.update(failures=place.failures + 1, due_at=due) == 1
    return bool(taken)


def _advance(place: WebhookPlace, seq: int) -> bool:
    """Go on from where this sender was; tell whether the place was still there."""
    held = WebhookPlace.objects.filter(pk=place.pk, seq=place.seq, failures=place.failures + 1)
    moved = held.update(seq=seq)
    place.seq = seq
    return bool(moved == 1)


def _store(place: WebhookPlace, **fields: Any) -> None:
    WebhookPlace.objects.filter(pk=place.pk).update(**fields)


def _post(url: str, body: bytes, headers: Mapping[str, str]) -> None:
    """Post one event; anything but a 2xx in time is a failure. Redirects are not followed."""
    answer = httpx2.post(
        url, content=body, headers=dict(headers), timeout=_SECONDS, follow_redirects=False
    )
    if not 200 <= answer.status_code < 300:
        raise OSError(f"it answered {answer.status_code}")


def send_all(*, post: Post | None = None) -> int:
    """Send what every shop's webhook has not heard yet."""
    heard = 0
    for tenant in Tenant.objects.filter(slug__in=list(settings.DSUPPORT_WEBHOOKS)):
        heard += send_events(tenant, now=clock.now(), post=post)
    return heard
