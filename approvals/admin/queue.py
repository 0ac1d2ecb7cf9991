"""The queue: what a person looks at, in which order, and what is done with several at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils.html import format_html
from django.views.decorators.http import require_GET
from unfold.views import ChangeList

from approvals.askers import name_askers
from approvals.deciding import REASON_WORDS
from approvals.models import Proposal
from approvals.policy import DECIDERS, check_reason
from approvals.services import claim, reject
from approvals.waiting import VIEW_WORDS, View, count_open, count_waiting, narrow
from dsupport.contract.errors import DomainError
from dsupport.lib import clock
from dsupport.lib.readonly_admin import ReadOnlyAdmin, memberships_of

BATCH = 100
# What waits is sorted by who runs out of time first.
_URGENT = (View.OPEN, View.MINE, View.FREE, View.SOON, View.ELSEWHERE)


class ViewFilter(admin.SimpleListFilter):
    title = "queue"
    parameter_name = "decision"

    def lookups(self, _request: HttpRequest, _model_admin: Any) -> list[tuple[str, str]]:
        return [(view.value, words) for view, words in VIEW_WORDS.items()]

    def queryset(self, request: HttpRequest, rows: QuerySet[Proposal]) -> QuerySet[Proposal]:
        view = view_of(request)
        if view is None:
            return rows
        return narrow(rows, view, name=request.user.get_username(), now=clock.now())


class NamedList(ChangeList):
    """A page of proposals, each with the name of whoever asked for it."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        page: list[Any] = list(self.result_list)  # type: ignore[has-type]
        names = name_askers((row.tenant_id, row.owner_key) for row in page)
        for row in page:
            row.asker = names[row.tenant_id, row.owner_key]
        self.result_list = page


class QueueAdmin(ReadOnlyAdmin):
    """The list of proposals as a queue. Nothing can be approved here: that is done one by one."""

    ordering = ("id",)  # for the headings alone, none of which it marks; see `get_ordering`
    list_before_template = "admin/approvals/tabs.html"
    list_disable_select_all = True
    actions = ("claim_selected", "reject_selected")

    def get_urls(self) -> list[Any]:
        view = self.admin_site.admin_view(require_GET(badge_view))
        return [path("badge/", view, name="approvals_proposal_badge"), *super().get_urls()]

    def get_changelist(self, _request: HttpRequest, **_options: Any) -> type[ChangeList]:
        return NamedList

    def get_list_display(self, request: HttpRequest) -> list[Any]:
        """Leave the status out where every line has the same."""
        columns = super().get_list_display(request)
        return [name for name in columns if name != "status_label" or view_of(request) is None]

    def get_ordering(self, request: HttpRequest) -> tuple[str, ...]:
        return ("expires_at", "id") if view_of(request) in _URGENT else ("-created_at", "-id")

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        waiting = count_waiting(
            self.shop_ids(request), name=request.user.get_username(), now=clock.now()
        )
        chosen = view_of(request)
        tabs = [(view.value, VIEW_WORDS[view], waiting.counts[view]) for view in View]
        extra = {"tabs": tabs, "chosen": chosen and chosen.value, **(extra_context or {})}
        return super().changelist_view(request, extra)

    def has_decide_permission(self, request: HttpRequest) -> bool:
        """Tell whether the batch buttons are shown; the services judge each proposal again."""
        user: Any = request.user
        roles = {role for _, role in memberships_of(request)}
        return bool(user.is_superuser or roles & DECIDERS)

    @admin.action(description="I am looking at these", permissions=["decide"])
    def claim_selected(self, request: HttpRequest, rows: QuerySet[Proposal]) -> None:
        name = request.user.get_username()
        others = [row for row in _bounded(request, rows) if row.claimed_by != name]
        _for_each(
            request,
            others,
            lambda row, now: claim(proposal_id=str(row.pk), by=request.user, now=now),
            done="Claimed",
        )

    @admin.action(description="Reject these…", permissions=["decide"])
    def reject_selected(
        self, request: HttpRequest, rows: QuerySet[Proposal]
    ) -> HttpResponse | None:
        """Ask for a reason on a page of its own, then reject each; what fails is named."""
        chosen = _bounded(request, rows)
        code, reason = request.POST.get("code", ""), request.POST.get("reason", "")
        if not chosen:
            return None
        if "code" not in request.POST:
            return self._ask_reason(request, chosen)
        try:
            check_reason(code, reason)
        except DomainError as error:
            messages.error(request, error.message)
            return self._ask_reason(request, chosen)
        _for_each(
            request,
            chosen,
            lambda row, now: reject(
                proposal_id=str(row.pk),
                by=request.user,
                reason_code=code,
                reason=reason,
                shown_hash=request.POST.get(f"hash-{row.pk}", ""),
                now=now,
            ),
            done="Rejected",
        )
        return None

    def _ask_reason(self, request: HttpRequest, rows: list[Proposal]) -> HttpResponse:
        context = {
            **self.admin_site.each_context(request),
            "title": f"Reject {len(rows)}",
            "rows": rows,
            "reasons": [(code.value, words) for code, words in REASON_WORDS.items()],
            "code": request.POST.get("code", ""),
            "reason": request.POST.get("reason", ""),
            "opts": self.model._meta,
        }
        return TemplateResponse(request, "admin/approvals/reject_many.html", context)


def view_of(request: HttpRequest) -> View | None:
    """Return the view that an address asks for, or None: everything, newest first."""
    wanted = request.GET.get(ViewFilter.parameter_name, "")
    return View(wanted) if wanted in set(View) else None


def badge(request: HttpRequest) -> str:
    """Return how many proposals wait in this person's shops, for the side bar."""
    queue: Any = admin.site.get_model_admin(Proposal)
    if not queue.has_view_permission(request):
        return "–"
    count = count_open(queue.shop_ids(request), now=clock.now())
    address = reverse("admin:approvals_proposal_badge")
    return format_html('<span data-badge="{}">{}</span>', address, count)


def badge_view(request: HttpRequest) -> HttpResponse:
    """Return the badge again, for a page that stays open."""
    return HttpResponse(badge(request))


def _bounded(request: HttpRequest, rows: QuerySet[Proposal]) -> list[Proposal]:
    chosen = list(rows[: BATCH + 1])
    if len(chosen) > BATCH:
        messages.error(request, f"Choose at most {BATCH} at once. Nothing was changed.")
        return []
    return chosen


def _for_each(
    request: HttpRequest,
    rows: Iterable[Proposal],
    act: Callable[[Proposal, datetime], object],
    *,
    done: str,
) -> None:
    """Do it to each by itself: one that cannot be done keeps no other from it."""
    count, now = 0, clock.now()
    for row in rows:
        try:
            act(row, now)
        except DomainError as error:
            messages.error(request, f"{row.description}: {error.message}")
        else:
            count += 1
    if count:
        messages.success(request, f"{done}: {count}.")
