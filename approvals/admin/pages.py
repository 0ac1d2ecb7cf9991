"""The page of one proposal: what may be done there, each a form of its own."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import NoReverseMatch, path, reverse
from django.views.decorators.http import require_http_methods, require_POST
from unfold.admin import ModelAdmin

from approvals import registry
from approvals.deciding import read_decision
from approvals.editing import blanks_of, read_blanks
from approvals.models import Proposal
from approvals.rules import OutcomeStatus
from approvals.services import approve, claim, edit, reject
from dsupport.contract.errors import DomainError
from dsupport.lib import clock
from dsupport.lib.ids import new_id

_SAID = {
    "approved": "Approved. A worker carries it out now; its state stays on this page.",
    "rejected": "Rejected. The customer is told.",
    "pending": "Noted.",
}


class DecisionPages(ModelAdmin):
    """What a person decides, each button a POST that the service judges again."""

    change_form_outer_before_template = "admin/approvals/decision.html"

    def get_urls(self) -> list[Any]:
        views = (
            ("approve", require_POST(self.approve_view)),
            ("reject", require_POST(self.reject_view)),
            ("claim", require_POST(self.claim_view)),
            ("edit", require_http_methods(["GET", "POST"])(self.edit_view)),
        )
        own = [
            path(
                f"<uuid:key>/{name}/",
                self.admin_site.admin_view(view),
                name=f"approvals_proposal_{name}",
            )
            for name, view in views
        ]
        return [*own, *super().get_urls()]

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        found = self.get_object(request, object_id)
        context = dict(extra_context or {})
        if found is not None:
            context["decision"] = read_decision(found, request.user, now=clock.now())
            context["results"] = [
                (each.get("tool"), each.get("trust"), json.dumps(each.get("data"), indent=1))
                for each in found.evidence.get("results", [])
            ]
            context |= _talk_of(found)
        return super().change_view(request, object_id, form_url, context)

    def approve_view(self, request: HttpRequest, key: UUID) -> HttpResponse:
        return self._decide(
            request,
            key,
            lambda user, now: approve(
                proposal_id=str(key), by=user, shown_hash=request.POST.get("hash", ""), now=now
            ),
        )

    def reject_view(self, request: HttpRequest, key: UUID) -> HttpResponse:
        return self._decide(
            request,
            key,
            lambda user, now: reject(
                proposal_id=str(key),
                by=user,
                reason_code=request.POST.get("code", ""),
                reason=request.POST.get("reason", ""),
                shown_hash=request.POST.get("hash", ""),
                now=now,
            ),
        )

    def claim_view(self, request: HttpRequest, key: UUID) -> HttpResponse:
        return self._decide(
            request, key, lambda user, now: claim(proposal_id=str(key), by=user, now=now)
        )

    def edit_view(self, request: HttpRequest, key: UUID) -> HttpResponse:
        """Show the arguments as a form; what comes back is a new request, through the gate."""
        proposal = self._mine(request, key)
        action = registry.find_action(proposal.action)
        if action is None:
            raise Http404("There is no such action any more.")
        arguments = proposal.arguments
        if request.method == "POST":
            arguments = read_blanks(action.arguments, request.POST)
            page = self._edit(request, proposal, arguments)
            if page is not None:
                return page
        context = {
            **self.admin_site.each_context(request),
            "title": "Edit into a new request",
            "proposal": proposal,
            "blanks": blanks_of(action.arguments, arguments),
            "opts": self.model._meta,
        }
        return TemplateResponse(request, "admin/approvals/edit.html", context)

    def _edit(
        self, request: HttpRequest, proposal: Proposal, arguments: dict[str, Any]
    ) -> HttpResponse | None:
        """Return where to look now, or None when the form is to be mended."""
        if request.POST.get("hash", "") != proposal.hash:
            messages.error(request, "What you saw is not what waits here. Look at it again.")
            return None
        try:
            outcome = edit(
                proposal_id=str(proposal.pk), by=request.user, arguments=arguments, now=clock.now()
            )
        except DomainError as error:
            messages.error(request, error.message)
            return None
        if outcome.status is not OutcomeStatus.WAITING:
            messages.error(request, outcome.message)
            return None
        messages.success(
            request,
            "This is the new request; the old one is superseded. Somebody else decides on it.",
        )
        return _to_page(outcome.proposal_id)

    def _mine(self, request: HttpRequest, key: UUID) -> Proposal:
        found: Proposal | None = self.get_queryset(request).filter(pk=key).first()
        if found is None or not self.has_view_permission(request, found):
            raise Http404("There is no such proposal.")
        return found

    def _decide(
        self, request: HttpRequest, key: UUID, act: Callable[[Any, datetime], Proposal]
    ) -> HttpResponse:
        """Do what a button says, by the service that judges it again, and say what happened."""
        self._mine(request, key)
        try:
            done = act(request.user, clock.now())
        except DomainError as error:
            messages.error(request, error.message)
        else:
            messages.success(request, _SAID.get(done.status, "Noted.").format(done))
        return _to_page(key)


def _to_page(key: UUID | str) -> HttpResponse:
    return HttpResponseRedirect(reverse("admin:approvals_proposal_change", args=[key]))


def _talk_of(proposal: Proposal) -> dict[str, Any]:
    """Return where its conversation is shown and asked on, when it has one."""
    with suppress(ValueError, NoReverseMatch):
        talk = UUID(proposal.conversation_id)
        return {
            "talk_page": reverse("admin:agents_conversation_change", args=[talk]),
            "ask_page": reverse("admin:agents_conversation_ask", args=[talk, proposal.pk]),
            "ask_id": new_id(),
        }
    return {}
