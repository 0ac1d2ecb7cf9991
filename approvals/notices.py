"""What was told to whom of proposals, and how far each webhook has come."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import models
from django.db.models import Q

from approvals.telling.stages import MAX_ATTEMPTS, Stage


class NoticeQuerySet(models.QuerySet["Notice"]):
    def due(self, now: datetime) -> NoticeQuerySet:
        """Return what is to be sent now."""
        return self.filter(sent_at=None, attempts__lt=MAX_ATTEMPTS, due_at__lte=now)


class Notice(models.Model):
    """One e-mail to one person about one stage of a proposal; sent at least once."""

    proposal = models.ForeignKey(
        "approvals.Proposal", on_delete=models.CASCADE, related_name="notices"
    )
    stage = models.CharField(max_length=12, choices=[(s.value, s.value) for s in Stage])
    user_id = models.BigIntegerField()
    address = models.EmailField()
    due_at = models.DateTimeField()
    attempts = models.PositiveSmallIntegerField(default=0)
    sent_at = models.DateTimeField(null=True)
    error = models.CharField(max_length=200, blank=True)

    objects: Any = NoticeQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["proposal", "stage", "user_id"], name="each_is_told_once_of_a_stage"
            ),
            models.CheckConstraint(
                condition=Q(stage__in=[stage.value for stage in Stage]),
                name="notice_stage_is_known",
            ),
        ]
        indexes = [
            models.Index(fields=["due_at"], condition=Q(sent_at=None), name="notice_unsent"),
        ]

    def __str__(self) -> str:
        return f"{self.stage} of {self.proposal_id} to {self.user_id}"


class WebhookPlace(models.Model):
    """How far a shop's webhook has heard its audit chain: everything up to `seq`, in order."""

    tenant = models.OneToOneField(
        "dsupport.Tenant", on_delete=models.CASCADE, primary_key=True, related_name="+"
    )
    seq = models.BigIntegerField()
    failures = models.PositiveIntegerField(default=0)
    due_at = models.DateTimeField()
    error = models.CharField(max_length=200, blank=True)

    objects: Any = models.Manager()

    def __str__(self) -> str:
        return f"{self.tenant_id}: {self.seq}"
