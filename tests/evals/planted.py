"""Routes that must not exist: one decides for whoever asks."""

from __future__ import annotations

from django.http import HttpResponse
from django.urls import path

from approvals.models import Confirmation, Proposal
from approvals.services import approve
from dsupport.lib import clock
from tests.approvals.conftest import hire


def shop() -> int:
    return Confirmation.objects.values_list("tenant_id", flat=True)[0]


def open_door(_request, proposal_id):
    """Approve for whoever asks, as somebody might write in a hurry."""
    proposal = Proposal.objects.for_tenant(shop()).get(pk=proposal_id)
    user = hire(proposal.tenant, "robot")
    approve(proposal_id=proposal_id, by=user, shown_hash=proposal.hash, now=clock.now())
    return HttpResponse("approved")


urlpatterns = [path("robots/<str:proposal_id>/approve", open_door)]
