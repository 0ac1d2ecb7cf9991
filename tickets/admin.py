"""Tickets, to look at: what is waiting for a person, for whom and why."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from unfold.admin import TabularInline
from unfold.decorators import display

from dsupport.lib.readonly_admin import ReadOnlyAdmin, pretty_json, record_link
from dsupport.models import Membership
from tickets.models import Queue, Ticket, TicketEvent

_CASE_WORKERS = frozenset(Membership.Role.values) - {Membership.Role.EDITOR}
_STATUS_COLOURS = {"open": "warning", "waiting": "info", "solved": "success", "closed": "success"}


class EventInline(TabularInline):
    """What has happened to a ticket, with no way to change it."""

    model = TicketEvent
    fields = readonly_fields = ("at", "kind", "reason", "note", "actor")
    extra = 0
    can_delete = False
    hide_title = True

    def has_view_permission(self, _request: HttpRequest, _obj: Any = None) -> bool:
        return True  # the ticket's own page has decided who may look

    def has_add_permission(self, _request: HttpRequest, _obj: Any = None) -> bool:
        return False

    def has_change_permission(self, _request: HttpRequest, _obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, _request: HttpRequest, _obj: Any = None) -> bool:
        return False


class QueueFilter(admin.SimpleListFilter):
    """Offer the queues of the shops that the person works for, and no others."""

    title = "queue"
    parameter_name = "queue"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        shops = model_admin.shop_ids(request)
        rows = Queue.objects.all() if shops is None else Queue.objects.filter(tenant__in=shops)
        return [(str(queue.pk), queue.name) for queue in rows[:100]]

    def queryset(self, _request: HttpRequest, rows: QuerySet[Ticket]) -> QuerySet[Ticket]:
        chosen = self.value() or ""
        return rows.filter(queue=int(chosen)) if chosen.isdecimal() else rows


@admin.register(Ticket)
class TicketAdmin(ReadOnlyAdmin):
    view_roles = _CASE_WORKERS
    list_display = (
        "number",
        "subject",
        "status_label",
        "reason",
        "queue",
        "owner",
        "order_number",
        "created_at",
    )
    list_display_links = ("number", "subject")
    list_filter = ("status", "reason", QueueFilter)
    list_select_related = ("queue",)
    search_fields = ("number",)
    search_help_text = "The number of a ticket or an order, or the owner (customer:12)"
    inlines = (EventInline,)
    fieldsets = (
        (
            None,
            {
                "fields": (
                    "number",
                    "subject",
                    "status_label",
                    "reason",
                    "summary",
                    "owner",
                    "order_number",
                    "queue",
                    "created_at",
                    "updated_at",
                )
            },
        ),
        ("Where it came from", {"fields": ("conversation", "run", "proposal", "tenant")}),
        ("Evidence", {"fields": ("evidence_shown",)}),
    )
    readonly_fields = (
        "status_label",
        "owner",
        "conversation",
        "run",
        "proposal",
        "evidence_shown",
    )

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        term = search_term.strip()
        if not term:
            return queryset, False
        found = Q(number=term.upper()) | Q(order_number=term.upper()) | Q(owner_key=term)
        return queryset.filter(found), False

    @display(description="Status", label=_STATUS_COLOURS)
    def status_label(self, ticket: Ticket) -> tuple[str, str]:
        return ticket.status, ticket.get_status_display()

    @admin.display(description="Customer")
    def owner(self, ticket: Ticket) -> str:
        return record_link("orders_customer", ticket.customer_id, ticket.owner_key)

    @admin.display(description="Conversation")
    def conversation(self, ticket: Ticket) -> str:
        return record_link("agents_conversation", ticket.conversation_id, ticket.conversation_id)

    @admin.display(description="Run")
    def run(self, ticket: Ticket) -> str:
        return record_link("agents_run", ticket.run_id, ticket.run_id)

    @admin.display(description="Proposal")
    def proposal(self, ticket: Ticket) -> str:
        return record_link("approvals_proposal", ticket.proposal_id, ticket.proposal_id)

    @admin.display(description="Evidence")
    def evidence_shown(self, ticket: Ticket) -> str:
        return pretty_json(ticket.evidence)


@admin.register(Queue)
class QueueAdmin(ReadOnlyAdmin):
    list_display = ("name", "slug", "tenant")
    list_select_related = ("tenant",)
