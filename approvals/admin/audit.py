"""The audit chain, to look at."""

from __future__ import annotations

import json
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from approvals.admin.roles import CASE_WORKERS
from approvals.models import AuditEntry
from dsupport.lib.readonly_admin import ReadOnlyAdmin, pretty_json, record_link

_KINDS = (
    ("proposal.", "Proposals"),
    ("confirmation.", "Cards"),
    ("switch.", "Switches"),
    ("key.", "Keys"),
    ("staff.", "Staff"),
    ("conversation.", "Who answers"),
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
    view_roles = CASE_WORKERS
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
