"""The shop, who works for it, and the switches that stop things."""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

from django.conf import settings
from django.db import models


class Tenant(models.Model):
    """One shop or brand. Everything a customer can reach belongs to exactly one."""

    slug = models.SlugField(unique=True)
    name = models.CharField(max_length=80)
    tagline = models.CharField(max_length=160, blank=True)
    mark = models.CharField(max_length=2, default="D", help_text="One or two letters")
    timezone = models.CharField(max_length=40, default="UTC")
    currency = models.CharField(max_length=3, default="EUR")
    return_window_days = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="Days after delivery; empty when orders carry no dates"
    )
    # {"mon": [["09:00", "17:00"]], ...}; a day without spans is closed.
    opening_hours = models.JSONField(default=dict, blank=True)
    holidays = models.JSONField(default=list, blank=True)  # [{"month": 1, "day": 1, "name": "…"}]
    starter_questions = models.JSONField(default=list, blank=True)
    allowed_sites = models.JSONField(
        default=list, blank=True, editable=False, help_text="Origins that may frame the chat"
    )
    token_secret = models.CharField(max_length=128, blank=True, editable=False)

    class Meta:
        ordering = ["slug"]

    def __str__(self) -> str:
        return self.name

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.timezone)


class Membership(models.Model):
    """What a member of staff may do in one shop."""

    class Role(models.TextChoices):
        ADMIN = "admin", "Administrator"
        SENIOR_APPROVER = "senior_approver", "Senior approver"
        APPROVER = "approver", "Approver"
        OPERATOR = "operator", "Operator"
        EDITOR = "editor", "Editor"
        AUDITOR = "auditor", "Auditor"

    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships"
    )
    role = models.CharField(max_length=20, choices=Role.choices)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "user"], name="one_role_per_shop"),
            models.CheckConstraint(
                condition=models.Q(
                    role__in=[
                        "admin",
                        "senior_approver",
                        "approver",
                        "operator",
                        "editor",
                        "auditor",
                    ]
                ),
                name="membership_role_is_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user} · {self.get_role_display()} · {self.tenant}"


class SwitchQuerySet(models.QuerySet["Switch"]):
    def in_reach(self, tenant_id: int | None) -> SwitchQuerySet:
        """Return the switches that bear on a tenant: its own and the whole system's."""
        return self.filter(models.Q(tenant=None) | models.Q(tenant_id=tenant_id))


class Switch(models.Model):
    """Something that has been turned off, by whom and why. No row means on."""

    tenant = models.ForeignKey(
        Tenant, on_delete=models.CASCADE, null=True, blank=True, help_text="Empty: whole system"
    )
    name = models.CharField(max_length=80)
    off = models.BooleanField(default=True)
    changed_by = models.CharField(max_length=150)
    changed_at = models.DateTimeField()
    reason = models.TextField()

    objects: Any = SwitchQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "name"], name="one_switch_per_name", nulls_distinct=False
            )
        ]

    def __str__(self) -> str:
        return f"{self.name}: {'off' if self.off else 'on'}"


class ApiKeyQuerySet(models.QuerySet["ApiKey"]):
    def usable(self) -> ApiKeyQuerySet:
        return self.filter(revoked_at=None)


class ApiKey(models.Model):
    """A program's bearer key for one shop. Only its SHA-256 is kept."""

    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE)
    name = models.CharField(max_length=80)
    digest = models.CharField(max_length=64, unique=True, editable=False)
    hint = models.CharField(max_length=8, editable=False)
    created_by = models.CharField(max_length=150)
    created_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)

    objects: Any = ApiKeyQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.name} (…{self.hint})"
