"""Conversations, their messages and events, and the durable runs that answer them."""

from __future__ import annotations

import uuid
from collections.abc import Collection
from datetime import datetime
from typing import Any

from django.db import models
from django.db.models import OuterRef, Q, Subquery
from django.db.models.functions import Left, Now

from agents.rules import ACTIVE, MAX_ATTEMPTS, RunStatus
from dsupport.contract.principal import Principal
from dsupport.lib.ids import new_id


class ConversationQuerySet(models.QuerySet["Conversation"]):
    def for_principal(self, principal: Principal) -> ConversationQuerySet:
        """Return the conversations of this asker: the customer's own, or the visitor's."""
        mine = Q(visitor=principal.visitor, customer=None) if principal.visitor else Q(pk=None)
        if principal.customer_id is not None:
            mine |= Q(customer_id=principal.customer_id)
        return self.filter(mine, tenant_id=principal.tenant_id)

    def for_worker(self, conversation_id: uuid.UUID) -> ConversationQuerySet:
        """Return one conversation by its id, for code that tells it what became of a request."""
        return self.filter(pk=conversation_id)

    def for_tenants(self, tenant_ids: Collection[int] | None) -> ConversationQuerySet:
        """Return the conversations of some shops, for staff; None means all, for superusers."""
        return self if tenant_ids is None else self.filter(tenant_id__in=tenant_ids)

    def waiting_for_person(self) -> ConversationQuerySet:
        """Return those where a person answers and the customer had the last word."""
        said = Message.objects.for_conversation(OuterRef("pk")).exclude(author="system")
        last = Subquery(said.order_by("-seq").values("author")[:1])
        return (
            self.exclude(posture="auto").annotate(last_author=last).filter(last_author="customer")
        )

    def for_run(self, run: Run) -> ConversationQuerySet:
        """Return the conversation of a run, for the worker that holds it."""
        return self.filter(pk=run.conversation_id, tenant_id=run.tenant_id)


class Conversation(models.Model):
    """One talk of one customer or visitor. `last_seq` numbers its single stream of events."""

    class Posture(models.TextChoices):
        AUTO = "auto", "The assistant answers"
        DRAFT_ONLY = "draft_only", "The assistant drafts, a person sends"
        OFF = "off", "A person answers"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    tenant = models.ForeignKey("dsupport.Tenant", on_delete=models.PROTECT)
    customer = models.ForeignKey(
        "orders.Customer", on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    visitor = models.CharField(max_length=64, db_index=True)
    posture = models.CharField(max_length=12, choices=Posture.choices, default=Posture.AUTO)
    posture_by = models.CharField(max_length=150, blank=True)
    posture_reason = models.CharField(max_length=300, blank=True)
    posture_at = models.DateTimeField(null=True, blank=True)
    last_seq = models.BigIntegerField(default=0)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField(db_index=True)

    objects: Any = ConversationQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(posture__in=["auto", "draft_only", "off"]), name="posture_is_known"
            ),
        ]

    def __str__(self) -> str:
        return f"Conversation {str(self.pk)[-12:]}"


QUESTION_SHOWN = 120  # characters of a question in a list


class RunQuerySet(models.QuerySet["Run"]):
    def for_principal(self, principal: Principal) -> RunQuerySet:
        return self.filter(
            conversation__in=Conversation.objects.for_principal(principal),
            tenant_id=principal.tenant_id,
        )

    def for_tenants(self, tenant_ids: Collection[int] | None) -> RunQuerySet:
        """Return the runs of some shops, for staff; None means all of them, for superusers."""
        return self if tenant_ids is None else self.filter(tenant_id__in=tenant_ids)

    def for_worker(self, run_id: uuid.UUID) -> RunQuerySet:
        """Return one run by its id, for the process that carries it out or waits for it."""
        return self.filter(pk=run_id)

    def with_question(self) -> RunQuerySet:
        """Add `question`: how the customer's words that a run answers begin."""
        asked = Message.objects.for_conversation(OuterRef("conversation")).filter(
            run=OuterRef("pk"), author=Message.Author.CUSTOMER
        )
        return self.annotate(question=Left(Subquery(asked.values("text")[:1]), QUESTION_SHOWN))

    def active(self) -> RunQuerySet:
        return self.filter(status__in=[status.value for status in ACTIVE])

    def claimable(self) -> RunQuerySet:
        """Return the runs that a worker may take: waiting ones, and those a dead worker left.

        Leases are judged by the database's clock alone, whatever the shop's clock says.
        """
        waiting = Q(status=RunStatus.QUEUED) & (Q(not_before=None) | Q(not_before__lte=Now()))
        left = Q(status=RunStatus.RUNNING, lease_until__lt=Now())
        return self.filter(waiting | left)


class Run(models.Model):
    """One durable attempt to answer what a customer wrote. The database owns it by a lease."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    tenant = models.ForeignKey("dsupport.Tenant", on_delete=models.PROTECT)
    conversation = models.ForeignKey(Conversation, on_delete=models.PROTECT, related_name="runs")
    status = models.CharField(
        max_length=12,
        choices=[(status.value, status.value.replace("_", " ")) for status in RunStatus],
        default=RunStatus.QUEUED.value,
    )
    provider = models.CharField(max_length=20)
    architecture = models.CharField(max_length=8)
    attempt = models.PositiveSmallIntegerField(default=0)
    version = models.PositiveIntegerField(default=0)
    lease_owner = models.CharField(max_length=64, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    not_before = models.DateTimeField(null=True, blank=True)
    waits = models.PositiveSmallIntegerField(default=0, help_text="Times laid aside for a vendor")
    woken_at = models.DateTimeField(null=True, blank=True)
    cancel_asked_at = models.DateTimeField(null=True, blank=True)
    cancelled_by = models.CharField(max_length=80, blank=True)
    ending = models.CharField(max_length=40, blank=True, help_text="Why it ended without an answer")
    detail = models.TextField(blank=True)
    model_calls = models.PositiveIntegerField(default=0)
    input_tokens = models.PositiveBigIntegerField(default=0)
    output_tokens = models.PositiveBigIntegerField(default=0)
    cost = models.PositiveBigIntegerField(default=0, help_text="Millionths of a US dollar")
    manifest = models.JSONField(default=dict, editable=False)
    created_at = models.DateTimeField(db_index=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    objects: Any = RunQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["status", "lease_until"], name="run_sweep")]
        constraints = [
            models.CheckConstraint(
                condition=Q(status__in=[status.value for status in RunStatus]),
                name="run_status_is_known",
            ),
            models.UniqueConstraint(
                fields=["conversation"],
                condition=Q(status__in=["queued", "running"]),
                name="one_active_run_per_conversation",
            ),
            models.CheckConstraint(
                condition=~Q(status="running")
                | (~Q(lease_owner="") & Q(lease_until__isnull=False)),
                name="running_needs_a_lease",
            ),
            models.CheckConstraint(
                condition=Q(status__in=["queued", "running"]) | Q(finished_at__isnull=False),
                name="an_end_has_a_time",
            ),
            models.CheckConstraint(
                condition=Q(attempt__lte=MAX_ATTEMPTS), name="run_attempts_are_bounded"
            ),
        ]

    def __str__(self) -> str:
        return f"Run {str(self.pk)[-12:]}"


class MessageQuerySet(models.QuerySet["Message"]):
    def for_conversation(self, conversation: Conversation | OuterRef) -> MessageQuerySet:
        """Return the messages of a conversation that the caller has already been allowed to see."""
        return self.filter(conversation=conversation).order_by("seq")

    def for_run(self, run: Run) -> MessageQuerySet:
        """Return what was said to and by a run that the caller may see or holds."""
        return self.filter(run=run, conversation_id=run.conversation_id).order_by("seq")


class Message(models.Model):
    """Something said, by whom. `seq` is its place in the stream of events."""

    class Author(models.TextChoices):
        CUSTOMER = "customer", "Customer"
        ASSISTANT = "assistant", "AI assistant"
        STAFF = "staff", "Staff"
        SYSTEM = "system", "System"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    conversation = models.ForeignKey(
        Conversation, on_delete=models.PROTECT, related_name="messages"
    )
    run = models.ForeignKey(Run, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    author = models.CharField(max_length=10, choices=Author.choices)
    name = models.CharField(max_length=80, blank=True)
    text = models.TextField()
    form = models.JSONField(null=True, blank=True)
    # Who asked, as the server knew it when the message came; null when it is not the customer's.
    principal = models.JSONField(null=True, blank=True, editable=False)
    client_id = models.CharField(max_length=64, blank=True)
    seq = models.BigIntegerField()
    created_at = models.DateTimeField()

    objects: Any = MessageQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["conversation", "client_id"],
                condition=~Q(client_id=""),
                name="a_message_is_sent_once",
            ),
            models.UniqueConstraint(fields=["conversation", "seq"], name="message_seq"),
            models.UniqueConstraint(
                fields=["run"], condition=Q(author="assistant"), name="one_answer_per_run"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_author_display()}: {self.text[:60]}"


class StepQuerySet(models.QuerySet["Step"]):
    def for_run(self, run_id: uuid.UUID) -> StepQuerySet:
        """Return the finished steps of a run that the caller may see or holds."""
        return self.filter(run_id=run_id)


class Step(models.Model):
    """A finished step of a run. A resumed run takes the result from here."""

    class Kind(models.TextChoices):
        MODEL = "model"
        TOOL = "tool"

    id = models.BigAutoField(primary_key=True)
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="steps")
    place = models.CharField(max_length=200)
    kind = models.CharField(max_length=6, choices=Kind.choices)
    result = models.JSONField()
    attempt = models.PositiveSmallIntegerField()
    at = models.DateTimeField()

    objects: Any = StepQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "place"], name="a_step_is_done_once")]

    def __str__(self) -> str:
        return f"{self.kind} {self.place}"


class EventQuerySet(models.QuerySet["Event"]):
    def after(self, conversation_id: uuid.UUID, seq: int) -> EventQuerySet:
        """Return the events of a conversation that follow a sequence number, in order.

        The caller has been allowed to see the conversation.
        """
        return self.filter(conversation_id=conversation_id, seq__gt=seq).order_by("seq")

    def for_run(self, run_id: uuid.UUID) -> EventQuerySet:
        """Return the events of a run that the caller may see or holds, in order."""
        return self.filter(run_id=run_id).order_by("seq")


class Event(models.Model):
    """One thing that happened, said once. The socket only hints that there are more."""

    id = models.BigAutoField(primary_key=True)
    conversation = models.ForeignKey(Conversation, on_delete=models.PROTECT, related_name="events")
    seq = models.BigIntegerField()
    run = models.ForeignKey(Run, on_delete=models.PROTECT, null=True, related_name="events")
    key = models.CharField(max_length=240, blank=True)
    type = models.CharField(max_length=32)
    span = models.CharField(max_length=16, blank=True)
    parent = models.CharField(max_length=16, blank=True)
    agent = models.CharField(max_length=24, blank=True)
    data = models.JSONField()
    at = models.DateTimeField()

    objects: Any = EventQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["conversation", "seq"], name="one_stream"),
            models.UniqueConstraint(
                fields=["run", "key"], condition=~Q(key=""), name="an_event_is_said_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.seq} {self.type}"


class ModelAttemptQuerySet(models.QuerySet["ModelAttempt"]):
    def since(self, start: datetime) -> ModelAttemptQuerySet:
        return self.filter(at__gte=start)

    def for_tenants(self, tenant_ids: Collection[int] | None) -> ModelAttemptQuerySet:
        return self if tenant_ids is None else self.filter(tenant_id__in=tenant_ids)


class ModelAttempt(models.Model):
    """One attempt at a vendor's model: the cost ledger. Failed ones may have been billed too."""

    id = models.BigAutoField(primary_key=True)
    tenant = models.ForeignKey("dsupport.Tenant", on_delete=models.PROTECT)
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="attempts")
    owner_key = models.CharField(max_length=80)
    place = models.CharField(max_length=200)
    provider = models.CharField(max_length=20)
    role = models.CharField(max_length=20)
    model = models.CharField(max_length=80, blank=True)
    code = models.CharField(max_length=40, blank=True, help_text="Empty when it brought a reply")
    input_tokens = models.PositiveIntegerField(default=0)
    output_tokens = models.PositiveIntegerField(default=0)
    cached_tokens = models.PositiveIntegerField(default=0)
    cost = models.PositiveBigIntegerField(default=0, help_text="Millionths of a US dollar")
    ms = models.PositiveIntegerField(default=0)
    at = models.DateTimeField()

    objects: Any = ModelAttemptQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["tenant", "at"], name="attempts_of_a_day"),
            models.Index(fields=["at"], name="attempts_of_everybody"),
        ]

    def __str__(self) -> str:
        return f"{self.provider} {self.code or 'answered'}"
