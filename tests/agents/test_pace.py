"""Who writes too fast is told to wait; nobody is refused because a counter is away."""

from __future__ import annotations

import pytest
from django.core.cache import caches

from agents import requests, services
from agents.errors import TooManyMessages
from agents.models import Message
from dsupport.contract.principal import Principal
from tests.conftest import NOW, make_tenant

NO_LIMIT = {"customer": 0, "tenant": 0, "system": 0}


@pytest.fixture(autouse=True)
def _fresh_counters():
    caches["default"].clear()


def receive(desk, principal=None, conversation=None):
    return requests.receive_message(
        principal=principal or desk.principal,
        conversation_id=(conversation or desk.conversation).pk,
        text="hello",
        now=NOW,
    )


def other_asker(tenant):
    principal = Principal(tenant_id=tenant.pk, visitor="somebody-else")
    return principal, services.open_conversation(principal=principal, now=NOW)


def test_asker_who_writes_too_fast_is_told_to_wait_and_nobody_else_is(desk, settings):
    settings.DSUPPORT_MESSAGES_PER_MINUTE = {**NO_LIMIT, "customer": 2}
    receive(desk), receive(desk)
    with pytest.raises(TooManyMessages) as refused:
        receive(desk)
    assert (refused.value.status, refused.value.code) == (429, "too_many_messages")
    assert "Wait a minute" in refused.value.message
    assert Message.objects.for_conversation(desk.conversation).count() == 2
    receive(desk, *other_asker(desk.tenant))


def test_busy_shop_leaves_room_for_another(desk, settings):
    settings.DSUPPORT_MESSAGES_PER_MINUTE = {**NO_LIMIT, "tenant": 1}
    receive(desk)
    with pytest.raises(TooManyMessages):
        receive(desk, *other_asker(desk.tenant))
    receive(desk, *other_asker(make_tenant("quiet")))


def test_whole_desk_has_a_share_of_its_own(desk, settings):
    settings.DSUPPORT_MESSAGES_PER_MINUTE = {**NO_LIMIT, "system": 1}
    receive(desk)
    with pytest.raises(TooManyMessages):
        receive(desk, *other_asker(make_tenant("quiet")))


def test_nobody_is_refused_while_the_counters_are_away(desk, settings):
    settings.DSUPPORT_MESSAGES_PER_MINUTE = {"customer": 1, "tenant": 1, "system": 1}
    settings.CACHES = {
        "default": {**settings.CACHES["default"], "LOCATION": "redis://127.0.0.1:9/0"}
    }
    receive(desk), receive(desk)
