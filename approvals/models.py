"""Proposals, and the audit chain that the database itself keeps."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import Q

from approvals.notices import Notice, WebhookPlace
from approvals.rules import LIVE, ConfirmationStatus, ProposalStatus
from dsupport.contract.principal import Principal
from dsupport.contract.risk import RiskTier
from dsupport.lib.money import Money

__all__ = [
    "AuditEntry",
    "AuditHead",
    "Confirmation",
    "Decision",
    "Effect",
    "Notice",
    "Proposal",
    "WebhookPlace",
]

_DIGEST = "^[0-9a-f]{64}$"
_EARLIEST, _LATEST = datetime(2000, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)
_STATUSES = [(status.value, status.value.capitalize()) for status in ProposalStatus]
_TIERS = [(tier.value, tier.value.replace("_", " ").capitalize()) for tier in RiskTier]


def is_live(now: datetime) -> Q:
    """Return the condition that something stands: it runs, or can still be decided."""
    open_still = Q(expires_at=None) | Q(expires_at__gt=now)
    decided = ~Q(status__in=[ProposalStatus.PENDING, ProposalStatus.RECORDED])
    return (decided | open_still) & Q(status__in=list(LIVE))


class ProposalQuerySet(models.QuerySet["Proposal"]):
    def for_principal(self, principal: Principal) -> ProposalQuerySet:
        """Return what this asker has asked for, in their own shop."""
        return self.filter(tenant_id=principal.tenant_id, owner_key=principal.owner_key)

    def for_tenant(self, tenant_id: int) -> ProposalQuerySet:
        """Return a shop's proposals, for the gate and for staff."""
        return self.filter(tenant_id=tenant_id)

    def in_shops(self, shops: Collection[int] | None) -> ProposalQuerySet:
        """Return the proposals of these shops, for staff; None means every shop."""
        return self.all() if shops is None else self.filter(tenant_id__in=shops)

    def pending(self, now: datetime) -> ProposalQuerySet:
        """Return what a person can still decide."""
        return self.filter(status=ProposalStatus.PENDING, expires_at__gt=now)

    def overdue(self, now: datetime) -> ProposalQuerySet:
        """Return what nobody has decided, or done elsewhere, in time."""
        waiting = [ProposalStatus.PENDING, ProposalStatus.RECORDED]
        return self.filter(status__in=waiting, expires_at__lte=now)

    def live(self, now: datetime) -> ProposalQuerySet:
        """Return what stands, so that asking for it again adds nothing."""
        return self.filter(is_live(now))

    def counting(
        self, since: datetime, *, tiers: Collection[RiskTier], exempt: Collection[str]
    ) -> ProposalQuerySet:
        """Return what counts against the limits of these tiers."""
        recent = self.filter(created_at__gt=since, tier__in=list(tiers))
        return recent.exclude(action__in=exempt)


class Proposal(models.Model):
    """An exact action that was asked for, in the state it was seen in, and what became of it.

    What was asked never changes: a trigger refuses it, and every deletion too.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    tenant = models.ForeignKey("dsupport.Tenant", on_delete=models.PROTECT, related_name="+")
    owner_key = models.CharField(max_length=120)
    principal = models.JSONField()
    action = models.CharField(max_length=80)
    tier = models.CharField(max_length=10, choices=_TIERS)
    arguments = models.JSONField()
    arguments_text = models.TextField()
    snapshot = models.JSONField()
    evidence = models.JSONField()
    evidence_digest = models.CharField(max_length=64)
    policy_version = models.CharField(max_length=64)
    hash = models.CharField(max_length=64)
    description = models.TextField()
    intent_key = models.CharField(max_length=200)
    origin_key = models.CharField(max_length=200)
    run_id = models.CharField(max_length=64, blank=True)
    conversation_id = models.CharField(max_length=64, blank=True)
    article_ids = ArrayField(models.CharField(max_length=120), default=list, blank=True)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True)
    amount_minor = models.BigIntegerField(null=True)
    currency = models.CharField(max_length=3, blank=True)
    people = models.PositiveSmallIntegerField(default=1, help_text="Who must agree")
    edited_by = models.CharField(max_length=150, blank=True)

    claimed_by = models.CharField(max_length=150, blank=True)
    claimed_at = models.DateTimeField(null=True)
    status = models.CharField(max_length=12, choices=_STATUSES)
    decided_at = models.DateTimeField(null=True)
    decided_by = models.CharField(max_length=150, blank=True)
    reason_code = models.CharField(max_length=40, blank=True)
    reason = models.TextField(blank=True)
    # The times a worker took it, and since when one has it; by the machine's clock.
    tries = models.PositiveSmallIntegerField(default=0)
    taken_at = models.DateTimeField(null=True)
    problem = models.TextField(blank=True, help_text="Why nothing was done")
    executed_at = models.DateTimeField(null=True)
    result = models.JSONField(null=True)

    objects: Any = ProposalQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "origin_key"], name="one_proposal_per_origin"
            ),
            models.CheckConstraint(
                condition=Q(status__in=[status.value for status in ProposalStatus]),
                name="proposal_status_is_known",
            ),
            models.CheckConstraint(
                condition=Q(tier__in=[tier.value for tier in RiskTier]),
                name="proposal_tier_is_known",
            ),
            models.CheckConstraint(
                condition=Q(hash__regex=_DIGEST) & Q(evidence_digest__regex=_DIGEST),
                name="proposal_digests_are_whole",
            ),
            models.CheckConstraint(condition=~Q(origin_key=""), name="proposal_has_an_origin"),
            models.CheckConstraint(
                condition=(Q(decided_at=None) & Q(decided_by=""))
                | (Q(decided_at__isnull=False) & ~Q(decided_by="")),
                name="proposal_decided_with_decider",
            ),
            models.CheckConstraint(
                condition=~Q(status__in=["approved", "rejected"]) | Q(decided_at__isnull=False),
                name="proposal_decision_has_a_decider",
            ),
            # What waits for a person is carried out after a decision only.
            models.CheckConstraint(
                condition=Q(tier="LOW")
                | ~Q(status__in=["executing", "executed", "failed", "unknown"])
                | Q(decided_at__isnull=False),
                name="proposal_runs_after_a_decision",
            ),
            models.CheckConstraint(
                condition=(Q(status="executed") & Q(executed_at__isnull=False))
                | (~Q(status="executed") & Q(executed_at=None)),
                name="proposal_executed_at_a_time",
            ),
            models.CheckConstraint(
                condition=~Q(status="pending") | Q(expires_at__isnull=False),
                name="proposal_waits_until_a_time",
            ),
            models.CheckConstraint(
                condition=~Q(tier="VERY_HIGH")
                | Q(status__in=["recorded", "expired", "cancelled", "superseded"]),
                name="proposal_very_high_never_runs",
            ),
        ]
        indexes = [
            models.Index(fields=["tenant", "-created_at"], name="proposal_by_age"),
            models.Index(fields=["tenant", "owner_key", "-created_at"], name="proposal_by_owner"),
            models.Index(
                fields=["tenant", "conversation_id", "-created_at"], name="proposal_by_talk"
            ),
            models.Index(
                fields=["tenant", "expires_at"],
                name="proposal_held",
                condition=Q(status__in=["pending", "recorded"]),
            ),
            models.Index(fields=["run_id"], name="proposal_by_run"),
            GinIndex(fields=["article_ids"], name="proposal_by_article"),
        ]

    def __str__(self) -> str:
        return self.description

    @property
    def amount(self) -> Money | None:
        """Return the money that the decision is about, if it is about money."""
        return None if self.amount_minor is None else Money(self.amount_minor, self.currency)


class ConfirmationQuerySet(models.QuerySet["Confirmation"]):
    def for_principal(self, principal: Principal) -> ConfirmationQuerySet:
        """Return the cards that were shown to this asker, in their own shop."""
        return self.filter(tenant_id=principal.tenant_id, owner_key=principal.owner_key)

    def asked(self, now: datetime) -> ConfirmationQuerySet:
        """Return the cards that can still be answered."""
        return self.filter(status=ConfirmationStatus.ASKED, expires_at__gt=now)


class Confirmation(models.Model):
    """A card that asks a customer whether they want exactly this. Their yes is used once.

    What was shown never changes: a trigger refuses it.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    tenant = models.ForeignKey("dsupport.Tenant", on_delete=models.PROTECT, related_name="+")
    owner_key = models.CharField(max_length=120)
    action = models.CharField(max_length=80)
    arguments = models.JSONField()
    evidence = models.JSONField()
    article_ids = ArrayField(models.CharField(max_length=120), default=list, blank=True)
    hash = models.CharField(max_length=64)
    intent_key = models.CharField(max_length=200)
    card = models.JSONField(help_text="What was shown: title, lines, what cannot be undone")
    run_id = models.CharField(max_length=64, blank=True)
    conversation_id = models.CharField(max_length=64, blank=True)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()

    status = models.CharField(
        max_length=10, choices=[(s.value, s.value.capitalize()) for s in ConfirmationStatus]
    )
    answered_at = models.DateTimeField(null=True)
    proposal = models.OneToOneField(
        Proposal, on_delete=models.PROTECT, null=True, related_name="confirmation"
    )

    objects: Any = ConfirmationQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "conversation_id", "intent_key"],
                condition=Q(status="asked"),
                name="one_card_asks_for_a_thing",
            ),
            models.CheckConstraint(
                condition=Q(status__in=[s.value for s in ConfirmationStatus]),
                name="confirmation_status_is_known",
            ),
            models.CheckConstraint(
                condition=Q(hash__regex=_DIGEST), name="confirmation_hash_is_whole"
            ),
            models.CheckConstraint(
                condition=Q(proposal=None) | Q(status="confirmed"),
                name="confirmed_before_it_is_proposed",
            ),
        ]
        indexes = [
            models.Index(fields=["tenant", "conversation_id"], name="cards_of_a_talk"),
        ]

    def __str__(self) -> str:
        return str(self.card.get("title", self.action))


class DecisionQuerySet(models.QuerySet["Decision"]):
    def for_proposal(self, proposal: Proposal) -> DecisionQuerySet:
        """Return what people said of a proposal that the caller may see or decides."""
        return self.filter(proposal=proposal).order_by("at", "pk")


class Decision(models.Model):
    """What one person said of a proposal, of exactly what was shown. Never changed."""

    class Kind(models.TextChoices):
        APPROVE = "approve"
        REJECT = "reject"

    id = models.BigAutoField(primary_key=True)
    proposal = models.ForeignKey(Proposal, on_delete=models.PROTECT, related_name="decisions")
    kind = models.CharField(max_length=8, choices=Kind.choices)
    # Kept as they were: a user may be deleted, and roles change.
    user_id = models.BigIntegerField()
    name = models.CharField(max_length=150)
    roles = ArrayField(models.CharField(max_length=20))
    shown_hash = models.CharField(max_length=64)
    at = models.DateTimeField()

    objects: Any = DecisionQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["proposal", "user_id"], name="one_word_per_person"),
            models.CheckConstraint(
                condition=Q(kind__in=["approve", "reject"]), name="decision_kind_is_known"
            ),
            models.CheckConstraint(
                condition=Q(shown_hash__regex=_DIGEST), name="decision_saw_a_whole_hash"
            ),
        ]
        indexes = [models.Index(fields=["user_id", "at"], name="decisions_of_a_person")]

    def __str__(self) -> str:
        return f"{self.name}: {self.kind}"


class Effect(models.Model):
    """That a proposal was carried out: one row, which the database admits for that alone."""

    id = models.BigAutoField(primary_key=True)
    proposal = models.OneToOneField(Proposal, on_delete=models.PROTECT, related_name="effect")
    tenant_id = models.BigIntegerField()
    action = models.CharField(max_length=80)
    at = models.DateTimeField()

    objects: Any = models.Manager()

    def __str__(self) -> str:
        return f"{self.action} {self.proposal_id}"


class AuditHead(models.Model):
    """The end of a shop's chain (0 is the whole system's), which the database alone writes."""

    chain = models.BigIntegerField(primary_key=True)
    count = models.BigIntegerField()
    hash = models.CharField(max_length=64)

    def __str__(self) -> str:
        return f"{self.chain}: {self.count}"


class AuditEntryQuerySet(models.QuerySet["AuditEntry"]):
    def for_tenant(self, tenant_id: int | None) -> AuditEntryQuerySet:
        """Return a shop's entries, or the whole system's."""
        return self.filter(tenant_id=tenant_id)


class AuditEntry(models.Model):
    """Something that happened, chained to what happened before it.

    A trigger sets place, time of recording and hashes, whatever the insert says; another
    refuses every change. Ids stand as text, so an entry outlives what it tells about.
    """

    id = models.BigAutoField(primary_key=True)
    tenant_id = models.BigIntegerField(null=True)
    seq = models.BigIntegerField(db_default=0)
    at = models.DateTimeField()
    recorded_at = models.DateTimeField(db_default=models.functions.Now())
    kind = models.CharField(max_length=60)
    actor = models.CharField(max_length=150)
    subject = models.CharField(max_length=200)
    detail = models.TextField()
    prev_hash = models.CharField(max_length=64, db_default="")
    hash = models.CharField(max_length=64, db_default="")

    objects: Any = AuditEntryQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        verbose_name = "audit entry"
        verbose_name_plural = "audit entries"
        constraints = [
            models.UniqueConstraint(
                fields=["tenant_id", "seq"], name="audit_place_is_taken_once", nulls_distinct=False
            ),
            models.CheckConstraint(
                condition=Q(hash__regex=_DIGEST) & Q(prev_hash__regex=_DIGEST),
                name="audit_hashes_are_whole",
            ),
            models.CheckConstraint(
                condition=Q(at__gte=_EARLIEST) & Q(at__lt=_LATEST),
                name="audit_time_is_plausible",
            ),
            models.CheckConstraint(
                condition=~Q(kind="") & ~Q(actor=""), name="audit_says_what_and_who"
            ),
            # Chain 0 is the whole system's, whose entries have no shop.
            models.CheckConstraint(
                condition=Q(tenant_id=None) | Q(tenant_id__gt=0), name="audit_shop_is_a_shop"
            ),
        ]
        indexes = [
            models.Index(fields=["subject", "id"], name="audit_by_subject"),
            models.Index(fields=["tenant_id", "kind", "-id"], name="audit_by_kind"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.subject}".strip()
