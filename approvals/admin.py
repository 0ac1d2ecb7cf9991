"""Proposals and the audit chain, to look at. Decisions are not made here."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from unfold.decorators import display

from approvals.models import AuditEntry, Proposal
from approvals.rules import TRANSITIONS, ProposalStatus
from dsupport.lib import clock
from dsupport.lib.readonly_admin import ReadOnlyAdmin, pretty_json, record_link
from dsupport.models import Membership

# Whoever edits help articles has no business with what customers asked for.
_CASE_WORKERS = frozenset(Membership.Role.values) - {Membership.Role.EDITOR}
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
_KINDS = (
    ("proposal.", "Proposals"),
    ("switch.", "Switches"),
    ("key.", "Keys"),
    ("staff.", "Staff"),
)


class OverdueFilter(admin.SimpleListFilter):
    title = "decision"
    parameter_name = "decision"

    def lookups(self, _request: HttpRequest, _model_admin: Any) -> list[tuple[str, str]]:
        return [("open", "Can be decided now"), ("late", "Not decided in time")]

    def queryset(self, _request: HttpRequest, rows: QuerySet[Proposal]) -> QuerySet[Proposal]:
        waiting = rows.filter(status=ProposalStatus.PENDING)
        if self.value() == "open":
            return waiting.filter(expires_at__gt=clock.now())
        if self.value() == "late":
            return waiting.filter(expires_at__lte=clock.now())
        return rows


@admin.register(Proposal)
class ProposalAdmin(ReadOnlyAdmin):
    view_roles = _CASE_WORKERS
    list_display = (
        "description",
        "tier_label",
        "status_label",
        "owner",
        "created_at",
        "expires_at",
    )
    list_filter = ("status", "tier", OverdueFilter)
    list_select_related = ("tenant",)
    search_fields = ("owner_key",)
    search_help_text = "The id of a proposal, run or conversation, or the owner (customer:12)"
    fieldsets = (
        (
            None,
            {
                "fields": (
                    "description",
                    "status_label",
                    "tier_label",
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
        ("Evidence", {"fields": ("articles", "evidence_shown", "evidence_digest")}),
        ("Where it came from", {"fields": ("run", "conversation", "origin_key", "tenant")}),
    )
    readonly_fields = (
        "status_label",
        "tier_label",
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
        return owner_link(proposal.owner_key)

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


class KindFilter(admin.SimpleListFilter):
    title = "kind"
    parameter_name = "kind"

    def lookups(self, _request: HttpRequest, _model_admin: Any) -> tuple[tuple[str, str], ...]:
        return _KINDS

    def queryset(self, _request: HttpRequest, rows: QuerySet[AuditEntry]) -> QuerySet[AuditEntry]:
        kind = self.value()
        return rows.filter(kind__startswith=kind) if kind else rows


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnlyAdmin):
    tenant_path = "tenant_id"
    view_roles = _CASE_WORKERS
    list_display = ("at", "kind", "actor", "about", "seq")
    list_display_links = ("at", "kind")
    list_filter = (KindFilter,)
    search_fields = ("subject",)
    search_help_text = "A subject, such as proposal:0198… or switch:model"
    fields = (
        "at",
        "kind",
        "actor",
        "about",
        "facts",
        "seq",
        "prev_hash",
        "hash",
        "recorded_at",
        "tenant_id",
    )
    readonly_fields = ("about", "facts")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        term = search_term.strip()
        if not term:
            return queryset, False
        return queryset.filter(subject__in=[term, f"proposal:{term}"]), False

    @admin.display(description="About")
    def about(self, entry: AuditEntry) -> str:
        kind, _, name = entry.subject.partition(":")
        return record_link("approvals_proposal", name if kind == "proposal" else "", entry.subject)

    @admin.display(description="Detail")
    def facts(self, entry: AuditEntry) -> str:
        return pretty_json(json.loads(entry.detail))


def owner_link(owner_key: str) -> str:
    """Return who asked: a customer with a link, else the words alone."""
    kind, _, number = owner_key.partition(":")
    return record_link("orders_customer", number if kind == "customer" else "", owner_key)
