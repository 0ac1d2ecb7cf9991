"""What hosted embedders cost, attempt by attempt."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import models
from django.db.models import Sum


class EmbeddingAttemptQuerySet(models.QuerySet["EmbeddingAttempt"]):
    def since(self, start: datetime, tenant_id: int | None = None) -> EmbeddingAttemptQuerySet:
        """Return those from a moment on, of one shop or of all."""
        rows = self.filter(at__gte=start)
        return rows if tenant_id is None else rows.filter(tenant_id=tenant_id)

    def spent(self) -> tuple[int, int]:
        """Return millionths of a US dollar, and tokens."""
        sums = self.aggregate(money=Sum("cost"), tokens=Sum("tokens"))
        return sums["money"] or 0, sums["tokens"] or 0


class EmbeddingAttempt(models.Model):
    """One attempt at a hosted embedder. Failed ones may have been billed too."""

    id = models.BigAutoField(primary_key=True)
    tenant = models.ForeignKey("dsupport.Tenant", on_delete=models.PROTECT)
    embedder_id = models.CharField(max_length=80)
    purpose = models.CharField(max_length=10)
    texts = models.PositiveIntegerField()
    tokens = models.PositiveIntegerField()
    cost = models.PositiveBigIntegerField(help_text="Millionths of a US dollar")
    code = models.CharField(max_length=40, blank=True, help_text="Empty when it brought vectors")
    ms = models.PositiveIntegerField()
    at = models.DateTimeField()

    objects: Any = EmbeddingAttemptQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["tenant", "at"], name="embedded_on_a_day"),
            models.Index(fields=["at"], name="embedded_by_everybody"),
        ]

    def __str__(self) -> str:
        return f"{self.embedder_id} {self.code or 'answered'}"
