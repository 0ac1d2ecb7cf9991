"""A desk with a scripted model: conversations, runs and their surroundings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest

from agents import services
from agents.adapters.scripted import ScriptedModel
from agents.models import Event, Message, Run
from agents.rules import Limits
from agents.runner import Surroundings, execute_run
from agents.threads import Inline
from dsupport.contract.principal import Principal
from tests.conftest import NOW


@dataclass
class Desk:
    """What a test of runs works with; runs are carried out inline, in the test's transaction."""

    tenant: Any
    principal: Principal
    conversation: Any

    def say(self, text: str, client_id: str = "", principal: Principal | None = None):
        return services.submit_message(
            principal=principal or self.principal,
            conversation_id=self.conversation.pk,
            text=text,
            client_id=client_id,
            now=NOW,
            wake=False,
        )

    def run(self, run_id: UUID, model: ScriptedModel, *, owner: str = "w1", limits=None, **more):
        around = Surroundings(
            owner=owner,
            crew=Inline(),
            release=lambda: None,
            now=lambda: NOW,
            limits=limits or Limits(),
            client=lambda _asking: model,
            **more,
        )
        return execute_run(run_id, around)

    def events(self) -> Sequence[Event]:
        return list(Event.objects.after(self.conversation.pk, 0))

    def types(self) -> list[str]:
        return [event.type for event in self.events()]

    def said(self, author: str) -> list[str]:
        found = Message.objects.for_conversation(self.conversation).filter(author=author)
        return [message.text for message in found]

    def stored(self, run_id: UUID) -> Run:
        return Run.objects.get(pk=run_id)


def make_desk(tenant) -> Desk:
    principal = Principal(tenant_id=tenant.pk, visitor="visitor-1")
    conversation = services.open_conversation(principal=principal, now=NOW)
    return Desk(tenant, principal, conversation)


@pytest.fixture
def desk(tenant) -> Desk:
    return make_desk(tenant)
