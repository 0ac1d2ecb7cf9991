"""E-mails about what waits: whom, in which words, and that each goes out."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from datetime import datetime
from smtplib import SMTPException
from typing import Any
from zoneinfo import ZoneInfo

from django.conf import settings
from django.core.mail import EmailMessage
from django.urls import reverse

from approvals.models import Notice, Proposal
from approvals.telling.stages import HOLD_SECONDS, Stage, is_told, next_try, stage_at
from dsupport.lib import clock
from dsupport.lib.spans import short_span
from dsupport.models import Membership

log = logging.getLogger(__name__)

_BATCH = 200
_FIRST_WORDS = {
    Stage.WAITING: "Waits for a decision",
    Stage.REMINDER: "Still waits for a decision",
    Stage.ESCALATION: "Nobody has decided, and the time is running out",
}


def plan_notices(*, now: datetime) -> None:
    """Note down who is to be told of what waits now."""
    waiting = Proposal.objects.pending(now).order_by("expires_at")
    told = set(Notice.objects.filter(proposal__in=waiting).values_list("proposal_id", "stage"))
    staff: dict[int, list[tuple[Any, set[str]]]] = {}
    planned: list[Notice] = []
    for proposal in waiting.iterator(chunk_size=_BATCH):
        stage = stage_at(proposal.created_at, _end_of(proposal), now)
        if stage is None or (proposal.pk, stage) in told:
            continue
        if proposal.tenant_id not in staff:
            staff[proposal.tenant_id] = _staff_of(proposal.tenant_id)
        planned += [
            Notice(proposal=proposal, stage=stage, user_id=user.pk, address=user.email, due_at=now)
            for user, roles in staff[proposal.tenant_id]
            if is_told(stage, roles, proposal.amount) and not _is_own(proposal, user)
        ]
    Notice.objects.bulk_create(planned, ignore_conflicts=True, batch_size=_BATCH)


def send_notices(*, now: datetime, send: Callable[[EmailMessage], object] | None = None) -> int:
    """Send what is due, each outside any transaction; return how many went out."""
    sent, began = 0, time.monotonic()
    for notice in list(Notice.objects.due(now).select_related("proposal__tenant")[:_BATCH]):
        if time.monotonic() - began > HOLD_SECONDS:
            break  # the next look goes on
        if _take(notice, now) and _send(notice, now, send or _deliver):
            sent += 1
    return sent


def compose(notice: Notice, now: datetime) -> EmailMessage:
    """Return the e-mail: what code wrote about the proposal, and a link that opens nothing alone.

    No word of a customer or a model is in it, and the link carries no right: who follows it
    signs in first.
    """
    proposal, stage = notice.proposal, Stage(notice.stage)
    zone, end = ZoneInfo(proposal.tenant.timezone), _end_of(proposal)
    words = " ".join(proposal.description.split())
    address = reverse("admin:approvals_proposal_change", args=[proposal.pk])
    lines = [
        f"{_FIRST_WORDS[stage]}:",
        "",
        f"  {words}",
        "",
        f"Risk    {proposal.get_tier_display()}",
        *([f"Amount  {proposal.amount}"] if proposal.amount else []),
        f"Until   {end.astimezone(zone):%-d %B %Y, %H:%M} ({short_span(end - now)} left)",
        "",
        "Look at it and decide:",
        f"{settings.DSUPPORT_URL}{address}",
        "",
        "Nothing is done before somebody decides. Whoever opens the link has to sign in.",
    ]
    subject = f"{' '.join(proposal.tenant.name.split())}: {words}"[:150]
    return EmailMessage(
        subject,
        "\n".join(lines),
        to=[notice.address],
        headers={"Auto-Submitted": "auto-generated", "X-DSupport-Proposal": str(proposal.pk)},
    )


def _staff_of(tenant_id: int) -> list[tuple[Any, set[str]]]:
    rows = Membership.objects.filter(tenant_id=tenant_id, user__is_active=True, user__is_staff=True)
    found: dict[int, tuple[Any, set[str]]] = {}
    for row in rows.exclude(user__email="").select_related("user").order_by("user_id"):
        found.setdefault(row.user_id, (row.user, set()))[1].add(row.role)
    return list(found.values())


def _end_of(proposal: Proposal) -> datetime:
    """Return until when it can be decided; the database has one for whatever waits."""
    if proposal.expires_at is None:
        raise ValueError("only what waits has an end")
    return proposal.expires_at


def _is_own(proposal: Proposal, user: Any) -> bool:
    """Tell whether somebody asked for it or edited it, and so may not decide."""
    asked_by = proposal.principal.get("staff_id")
    return user.pk == asked_by or user.get_username() == proposal.edited_by


def _take(notice: Notice, now: datetime) -> bool:
    """Keep others from sending it meanwhile; a sender that dies is followed by the next try."""
    rows = Notice.objects.filter(pk=notice.pk, attempts=notice.attempts, sent_at=None)
    notice.attempts += 1
    due = next_try(notice.attempts, now)
    return bool(rows.update(attempts=notice.attempts, due_at=due) == 1)


def _send(notice: Notice, now: datetime, send: Callable[[EmailMessage], object]) -> bool:
    rows = Notice.objects.filter(pk=notice.pk)
    if notice.proposal.status != "pending":
        rows.update(sent_at=now, error="decided before it was sent")
        return False
    try:
        send(compose(notice, now))
    except (OSError, SMTPException) as error:
        log.warning("E-mail to user %s failed: %s", notice.user_id, error)
        rows.update(error=str(error)[:200])
        return False
    rows.update(sent_at=clock.now(), error="")
    return True


def _deliver(message: EmailMessage) -> object:
    return message.send()
