"""Tickets: what a person is to look after, one for each customer and problem."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from django.db import models
from django.db.models import Q

from dsupport.contract.principal import Principal
from tickets.rules import REASON_TEXT, UNFINISHED, Reason, TicketStatus, is_about_order

_REASONS = [(reason.value, REASON_TEXT[reason]) for reason in Reason]
_STATUSES = [(status.value, status.value.capitalize()) for status in TicketStatus]
_UNFINISHED = sorted(status.value for status in UNFINISHED)


class Queue(models.Model):
    """Where tickets of a kind wait."""

    tenant = models.ForeignKey("dsupport.Tenant", on_delete=models.CASCADE, related_name="+")
    slug = models.SlugField(max_length=40)
    name = models.CharField(max_length=80)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["tenant", "slug"], name="queue_slug_is_taken_once")
        ]

    def __str__(self) -> str:
        return self.name


class TicketCounter(models.Model):
    """The last ticket number of a shop; whoever opens a ticket holds this row locked."""

    tenant = models.OneToOneField(
        "dsupport.Tenant", on_delete=models.CASCADE, primary_key=True, related_name="+"
    )
    value = models.BigIntegerField()

    def __str__(self) -> str:
        return f"{self.tenant_id}: {self.value}"


class TicketQuerySet(models.QuerySet["Ticket"]):
    def for_principal(self, principal: Principal) -> TicketQuerySet:
        """Return the asker's own tickets, in their own shop."""
        return self.filter(tenant_id=principal.tenant_id, owner_key=principal.owner_key)

    def for_tenants(self, tenant_ids: Collection[int] | None) -> TicketQuerySet:
        """Return the tickets of some shops, for staff; None means all, for who runs the desk."""
        return self if tenant_ids is None else self.filter(tenant_id__in=tenant_ids)

    def unfinished(self) -> TicketQuerySet:
        return self.filter(status__in=_UNFINISHED)

    def of_problem(self, problem: str, conversation_id: str) -> TicketQuerySet:
        """Return tickets that count as this problem.

        The same order is the same problem everywhere. Within one conversation, a ticket that
        names no order is about whatever the conversation is about, and the other way round.
        """
        same = Q(problem=problem)
        if conversation_id:
            talk = Q(conversation_id=conversation_id)
            same |= talk & ~Q(problem__startswith="order:") if is_about_order(problem) else talk
        return self.filter(same)


class Ticket(models.Model):
    tenant = models.ForeignKey("dsupport.Tenant", on_delete=models.CASCADE, related_name="+")
    number = models.CharField(max_length=24)
    queue = models.ForeignKey(Queue, on_delete=models.PROTECT, related_name="tickets")
    owner_key = models.CharField(max_length=120)
    customer_id = models.BigIntegerField(null=True, blank=True)
    conversation_id = models.CharField(max_length=64, blank=True)
    run_id = models.CharField(max_length=64, blank=True)
    order_number = models.CharField(max_length=50, blank=True)
    problem = models.CharField(max_length=120)
    reason = models.CharField(max_length=24, choices=_REASONS)
    subject = models.CharField(max_length=200)
    summary = models.TextField()
    status = models.CharField(max_length=8, choices=_STATUSES, default=TicketStatus.OPEN.value)
    evidence = models.JSONField(default=dict, blank=True)
    proposal_id = models.CharField(max_length=36, blank=True)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    objects: Any = TicketQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "number"], name="ticket_number_is_taken_once"
            ),
            models.UniqueConstraint(
                fields=["tenant", "owner_key", "problem"],
                condition=Q(status__in=_UNFINISHED),
                name="one_open_ticket_per_problem",
            ),
            models.CheckConstraint(
                condition=Q(status__in=[status.value for status in TicketStatus]),
                name="ticket_status_is_known",
            ),
            models.CheckConstraint(
                condition=Q(reason__in=[reason.value for reason in Reason]),
                name="ticket_reason_is_known",
            ),
        ]
        indexes = [
            models.Index(fields=["tenant", "owner_key", "conversation_id"], name="ticket_by_talk"),
            models.Index(fields=["tenant", "-created_at"], name="ticket_by_age"),
            models.Index(fields=["tenant", "status", "-created_at"], name="ticket_by_status"),
        ]

    def __str__(self) -> str:
        return f"{self.number} {self.subject}"


class TicketEvent(models.Model):
    """Something that happened to a ticket, oldest first."""

    class Kind(models.TextChoices):
        OPENED = "opened", "Opened"
        ASKED_AGAIN = "asked_again", "Asked again"
        MOVED = "moved", "Moved to another queue"

    ticket = models.ForeignKey(Ticket, on_delete=models.CASCADE, related_name="events")
    at = models.DateTimeField()
    kind = models.CharField(max_length=20, choices=Kind.choices)
    actor = models.CharField(max_length=150)
    reason = models.CharField(max_length=24, choices=_REASONS)
    note = models.TextField()
    conversation_id = models.CharField(max_length=64, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(kind__in=["opened", "asked_again", "moved"]),
                name="ticket_event_kind_is_known",
            )
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.at:%Y-%m-%d %H:%M}"
