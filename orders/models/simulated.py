"""The books of the simulated payment provider, which no rule of the shop ever reads."""

from __future__ import annotations

from django.db import models


class SimulatedRefund(models.Model):
    """One refund under one key, and how often it was asked for."""

    id = models.BigAutoField(primary_key=True)
    key = models.CharField(max_length=200, unique=True)
    amount_minor = models.BigIntegerField()
    currency = models.CharField(max_length=3)
    paid_to = models.CharField(max_length=100, blank=True)
    calls = models.PositiveIntegerField(default=1)

    def __str__(self) -> str:
        return f"{self.key}: {self.amount_minor} {self.currency}"
