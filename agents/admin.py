"""The console's view of conversations and runs. Staff speak in talks; the rest is read-only."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.db.models import Count, DurationField, ExpressionWrapper, F, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.loader import render_to_string
from django.urls import path, reverse
from django.utils.safestring import SafeString
from django.views.decorators.http import require_GET, require_POST
from unfold.decorators import display

from agents.models import Conversation, Event, Message, ModelAttempt, Run
from agents.takeover import ask_customer_back, set_posture, speak, unsent_draft
from agents.tree import run_page
from dsupport.access import works_for
from dsupport.contract.errors import DomainError
from dsupport.lib import clock
from dsupport.lib.ids import new_id
from dsupport.lib.readonly_admin import ReadOnlyAdmin, record_link, shown_once

_STATUS_COLOURS = {
    "completed": "success",
    "handed_over": "info",
    "failed": "danger",
    "cancelled": "warning",
    "running": "primary",
    "queued": "primary",
}


class WaitsFilter(admin.SimpleListFilter):
    title = "waits for"
    parameter_name = "waits"

    def lookups(self, _request: HttpRequest, _model_admin: Any) -> list[tuple[str, str]]:
        return [("person", "A person's answer")]

    def queryset(
        self, _request: HttpRequest, rows: QuerySet[Conversation]
    ) -> QuerySet[Conversation]:
        return rows.waiting_for_person() if self.value() else rows  # type: ignore[attr-defined]


@admin.register(Conversation)
class ConversationAdmin(ReadOnlyAdmin):
    """Talks, newest first, with what was said in each."""

    change_form_outer_after_template = "admin/agents/desk.html"
    list_display = ["show_id", "tenant", "show_customer", "posture", "show_runs", "updated_at"]
    list_filter = ["tenant", "posture", WaitsFilter]
    list_select_related = ["tenant", "customer"]
    ordering = ["-updated_at"]
    search_fields = ["=id", "customer__email", "customer__last_name"]
    fields = ["show_talk", "show_customer", "tenant", "posture", "created_at", "updated_at"]
    readonly_fields = ["show_talk", "show_customer"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Conversation]:
        rows: QuerySet[Conversation] = super().get_queryset(request)
        return rows.annotate(run_count=Count("runs"))

    def get_urls(self) -> list[Any]:
        views = (
            ("posture", require_POST(self.posture_view)),
            ("say", require_POST(self.say_view)),
            ("talk", require_GET(self.talk_view)),
        )
        own = [
            path(
                f"<uuid:key>/{name}/",
                self.admin_site.admin_view(view),
                name=f"agents_conversation_{name}",
            )
            for name, view in views
        ]
        ask = path(
            "<uuid:key>/ask/<uuid:proposal>/",
            self.admin_site.admin_view(require_POST(self.ask_view)),
            name="agents_conversation_ask",
        )
        return [*own, ask, *super().get_urls()]

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        talk = self.get_object(request, object_id)
        context = dict(extra_context or {})
        if talk is not None and works_for(request.user, talk.tenant_id):
            context |= {"talk": talk, "draft": unsent_draft(talk), "client_id": new_id()}
        return super().change_view(request, object_id, form_url, context)

    def posture_view(self, request: HttpRequest, key: UUID) -> HttpResponse:
        posture, reason = request.POST.get("posture", ""), request.POST.get("reason", "")
        return self._act(
            request,
            key,
            lambda now: set_posture(
                conversation_id=key, posture=posture, by=request.user, reason=reason, now=now
            ),
        )

    def say_view(self, request: HttpRequest, key: UUID) -> HttpResponse:
        return self._act(
            request,
            key,
            lambda now: speak(
                conversation_id=key,
                text=request.POST.get("text", ""),
                by=request.user,
                client_id=request.POST.get("client_id", "")[:64],
                now=now,
            ),
        )

    def ask_view(self, request: HttpRequest, key: UUID, proposal: UUID) -> HttpResponse:
        """Ask the customer about a request that waits, from its page and back to it."""
        self._mine(request, key)
        try:
            ask_customer_back(
                proposal_id=str(proposal),
                text=request.POST.get("text", ""),
                by=request.user,
                client_id=request.POST.get("client_id", "")[:64],
                now=clock.now(),
            )
        except DomainError as error:
            messages.error(request, error.message)
        else:
            messages.success(request, "Asked. The answer comes in the conversation, to you.")
        return HttpResponseRedirect(reverse("admin:approvals_proposal_change", args=[proposal]))

    def talk_view(self, request: HttpRequest, key: UUID) -> HttpResponse:
        """Return what has been said, for a page that stays open."""
        talk = self._mine(request, key)
        return HttpResponse(self.show_talk(talk))

    def _act(
        self, request: HttpRequest, key: UUID, act: Callable[[datetime], object]
    ) -> HttpResponse:
        """Do what a button says, by the service that judges it again."""
        self._mine(request, key)
        try:
            act(clock.now())
        except DomainError as error:
            messages.error(request, error.message)
        return HttpResponseRedirect(reverse("admin:agents_conversation_change", args=[key]))

    def _mine(self, request: HttpRequest, key: UUID) -> Conversation:
        talk: Conversation | None = self.get_queryset(request).filter(pk=key).first()
        if talk is None or not self.has_view_permission(request, talk):
            raise Http404("There is no such conversation.")
        return talk

    @display(description="conversation", ordering="id")
    def show_id(self, row: Conversation) -> str:
        return str(row.pk)[-12:]

    @display(description="customer")
    def show_customer(self, row: Conversation) -> str:
        if row.customer is None:
            return "guest"
        return record_link("orders_customer", row.customer_id, str(row.customer))

    @display(description="runs", ordering="run_count")
    def show_runs(self, row: Any) -> int:
        return int(row.run_count)

    @display(description="talk")
    @shown_once
    def show_talk(self, row: Conversation) -> SafeString:
        said = Message.objects.for_conversation(row).select_related("run")
        return render_to_string("admin/agents/talk.html", {"messages": said})


@admin.register(Run)
class RunAdmin(ReadOnlyAdmin):
    """Runs, newest first; the page of one shows its tree, retrievals, drafts and checks."""

    list_display = [
        "show_question", "show_status", "ending", "provider", "model_calls", "show_cost",
        "show_duration", "created_at", "tenant",
    ]  # fmt: skip
    list_filter = ["tenant", "status", "provider", "architecture", "ending"]
    list_select_related = ["tenant"]
    ordering = ["-created_at"]
    search_fields = ["=id"]
    fields = ["show_page"]
    readonly_fields = ["show_page"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Run]:
        rows: QuerySet[Run] = super().get_queryset(request)
        took = ExpressionWrapper(F("finished_at") - F("created_at"), output_field=DurationField())
        named = rows.with_question()  # type: ignore[attr-defined]
        return named.annotate(took=took).select_related("conversation__customer")

    @display(description="question")
    def show_question(self, row: Any) -> str:
        return shown_question(row)

    @display(description="status", ordering="status", label=_STATUS_COLOURS)
    def show_status(self, row: Run) -> tuple[str, str]:
        return row.status, row.get_status_display()

    @display(description="cost", ordering="cost")
    def show_cost(self, row: Run) -> str:
        return f"${row.cost / 1_000_000:.4f}"

    @display(description="took", ordering="took")
    def show_duration(self, row: Any) -> str:
        return f"{row.took.total_seconds():.1f} s" if row.took else "–"

    @display(description="")
    @shown_once
    def show_page(self, row: Run) -> SafeString:
        return render_to_string("admin/agents/run.html", run_page(row))


@admin.register(Event)
class EventAdmin(ReadOnlyAdmin):
    """The stream of everything that happened, for those who look for one thing."""

    tenant_path = "conversation__tenant"
    list_display = ["at", "type", "agent", "show_run", "seq"]
    list_filter = ["type", "agent"]
    ordering = ["-id"]
    search_fields = ["=run__id"]
    list_select_related = ["run"]

    @display(description="run")
    def show_run(self, row: Event) -> str:
        return record_link("agents_run", row.run_id, str(row.run_id)[-12:]) if row.run_id else "–"


@admin.register(ModelAttempt)
class ModelAttemptAdmin(ReadOnlyAdmin):
    """The cost ledger: every attempt at a vendor's model, those that failed among them."""

    list_display = ["at", "provider", "role", "model", "show_code", "show_tokens", "show_cost",
                    "ms", "show_run", "tenant"]  # fmt: skip
    list_filter = ["tenant", "provider", "role", "code"]
    ordering = ["-id"]
    search_fields = ["=run__id", "owner_key"]
    list_select_related = ["tenant"]

    @display(description="outcome", label={"answered": "success"})
    def show_code(self, row: ModelAttempt) -> str:
        return row.code or "answered"

    @display(description="tokens")
    def show_tokens(self, row: ModelAttempt) -> str:
        return f"{row.input_tokens:,} in · {row.output_tokens:,} out"

    @display(description="cost", ordering="cost")
    def show_cost(self, row: ModelAttempt) -> str:
        return f"${row.cost / 1_000_000:.4f}"

    @display(description="run")
    def show_run(self, row: ModelAttempt) -> str:
        return record_link("agents_run", row.run_id, str(row.run_id)[-12:])


def shown_question(run: Any) -> str:
    """Return how a run's question begins, on one line; its id when nothing was written."""
    words = " ".join((run.question or "").split())
    return words if words else str(run)
