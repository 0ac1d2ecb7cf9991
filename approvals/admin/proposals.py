"""Proposals, decided on their own page, and the audit chain to look at."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from unfold.decorators import display

from approvals.admin.pages import DecisionPages
from approvals.admin.queue import QueueAdmin, ViewFilter
from approvals.admin.roles import CASE_WORKERS
from approvals.askers import name_askers
from approvals.models import Proposal
from approvals.rules import TRANSITIONS, ProposalStatus
from dsupport.lib import clock
from dsupport.lib.readonly_admin import pretty_json, record_link
from dsupport.lib.spans import short_span

_STATUS_COLOURS = {
    "pending": "warning",
    "approved": "info",
    "executing": "info",
    "recorded": "info",
    "executed": "success",
    "rejected": "danger",
    "conflict": "danger",
    "failed": "danger",
    "unknown": "danger",
}
_TIER_COLOURS = {"LOW": "success", "MEDIUM": "info", "HIGH": "warning", "VERY_HIGH": "danger"}
_WAITING = {ProposalStatus.PENDING, ProposalStatus.RECORDED}


@admin.register(Proposal)
class ProposalAdmin(DecisionPages, QueueAdmin):
    view_roles = CASE_WORKERS
    list_display = (
        "description",
        "asker_shown",
        "order_shown",
        "amount_shown",
        "tier_label",
        "status_label",
        "age",
        "time_left",
        "claimed_by",
        "tenant",
    )
    list_filter = (ViewFilter, "status", "tier")
    list_select_related = ("tenant",)
    search_fields = ("owner_key",)
    search_help_text = "The id of a proposal, run or conversation, or the owner (customer:12)"
    fieldsets = (
        (
            None,
            {
                "fields": (
                    "description",
                    "status",
                    "tier",
                    "owner",
                    "created_at",
                    "expires_at",
                    "executed_at",
                    "outcome",
                    "history",
                )
            },
        ),
        ("Exactly what was asked", {"fields": ("action", "exact_arguments", "hash")}),
        ("The state it was seen in", {"fields": ("state", "policy_version")}),
        (
            "Decision",
            {"fields": ("decided_at", "decided_by", "reason_code", "reason")},
        ),
        (
            "Evidence as it was frozen",
            {
                "classes": ["collapse"],
                "fields": ("articles", "evidence_shown", "evidence_digest"),
            },
        ),
        ("Where it came from", {"fields": ("run", "conversation", "origin_key", "tenant")}),
    )
    readonly_fields = (
        "owner",
        "outcome",
        "history",
        "exact_arguments",
        "state",
        "articles",
        "evidence_shown",
        "run",
        "conversation",
    )

    @admin.display(description="Amount", ordering="amount_minor")
    def amount_shown(self, proposal: Proposal) -> str:
        return str(proposal.amount) if proposal.amount else "–"

    @admin.display(description="Customer")
    def asker_shown(self, proposal: Any) -> str:
        return owner_link(proposal.owner_key, proposal.asker)

    @admin.display(description="Order")
    def order_shown(self, proposal: Proposal) -> str:
        return str(proposal.snapshot.get("order") or "–")

    @admin.display(description="Age", ordering="created_at")
    def age(self, proposal: Proposal) -> str:
        return short_span(clock.now() - proposal.created_at)

    @admin.display(description="Time left", ordering="expires_at")
    def time_left(self, proposal: Proposal) -> str:
        if proposal.status not in _WAITING or proposal.expires_at is None:
            return "–"
        left = proposal.expires_at - clock.now()
        return short_span(left) if left > timedelta() else "over"

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        term = search_term.strip()
        if not term:
            return queryset, False
        found = Q(owner_key=term) | Q(run_id=term) | Q(conversation_id=term)
        with suppress(ValueError):
            found |= Q(pk=UUID(term))
        return queryset.filter(found), False

    @display(description="Status", label=_STATUS_COLOURS)
    def status_label(self, proposal: Proposal) -> tuple[str, str]:
        return proposal.status, proposal.get_status_display()

    @display(description="Tier", label=_TIER_COLOURS)
    def tier_label(self, proposal: Proposal) -> tuple[str, str]:
        return proposal.tier, proposal.get_tier_display()

    @admin.display(description="Asked by")
    def owner(self, proposal: Proposal) -> str:
        asker = (proposal.tenant_id, proposal.owner_key)
        name = name_askers([asker])[asker]
        link = owner_link(proposal.owner_key, name)
        return link if name == proposal.owner_key else format_html("{} · {}", link, asker[1])

    @admin.display(description="Result")
    def outcome(self, proposal: Proposal) -> str:
        return pretty_json(proposal.result) if proposal.result else "–"

    @admin.display(description="Arguments")
    def exact_arguments(self, proposal: Proposal) -> str:
        return pretty_json(proposal.arguments)

    @admin.display(description="State")
    def state(self, proposal: Proposal) -> str:
        return pretty_json(proposal.snapshot)

    @admin.display(description="Articles read")
    def articles(self, proposal: Proposal) -> str:
        return ", ".join(proposal.article_ids) or "–"

    @admin.display(description="Evidence")
    def evidence_shown(self, proposal: Proposal) -> str:
        return pretty_json(proposal.evidence)

    @admin.display(description="Run")
    def run(self, proposal: Proposal) -> str:
        return record_link("agents_run", proposal.run_id, proposal.run_id)

    @admin.display(description="Conversation")
    def conversation(self, proposal: Proposal) -> str:
        return record_link(
            "agents_conversation", proposal.conversation_id, proposal.conversation_id
        )

    @admin.display(description="Audit")
    def history(self, proposal: Proposal) -> str:
        address = reverse("admin:approvals_auditentry_changelist")
        final = not TRANSITIONS[ProposalStatus(proposal.status)]
        text = "Everything that happened to it" if final else "What has happened to it so far"
        return format_html(
            '<a class="text-primary-600 underline" href="{}?q=proposal:{}">{}</a>',
            address,
            proposal.pk,
            text,
        )


def owner_link(owner_key: str, name: str) -> str:
    """Return who asked: a customer with a link, else the name alone."""
    kind, _, number = owner_key.partition(":")
    return record_link("orders_customer", number if kind == "customer" else "", name)
