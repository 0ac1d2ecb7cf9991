"""What is remembered of attempts to become known."""

from __future__ import annotations

from django.db import models


class Attempts(models.Model):
    """How many guesses did not match, per visitor, address or target, in one hour.

    `subject` is a keyed digest: no e-mail and no network address is kept.
    """

    subject = models.CharField(max_length=64)
    hour = models.DateTimeField()
    count = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["subject", "hour"], name="one_count_an_hour")
        ]
        indexes = [models.Index(fields=["hour"], name="attempts_by_age")]

    def __str__(self) -> str:
        return f"{self.count} in the hour of {self.hour}"


class UsedToken(models.Model):
    """A sign-in token that was accepted and must not be again."""

    tenant = models.ForeignKey("dsupport.Tenant", on_delete=models.CASCADE, related_name="+")
    digest = models.CharField(max_length=64)
    expires_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "digest"], name="token_used_once")]
        indexes = [models.Index(fields=["expires_at"], name="used_tokens_by_age")]

    def __str__(self) -> str:
        return self.digest[:8]
