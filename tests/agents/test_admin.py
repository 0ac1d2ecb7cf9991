"""The console shows how a run went, to those who work for its shop, and text as text."""

from __future__ import annotations

from functools import partial

import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from agents.adapters.scripted import ScriptedModel, calls, fills, says
from agents.tree import run_page
from dsupport.models import Membership
from tests.conftest import make_tenant

HELLO = {"answer": "Hello <b>you</b>.", "intent": "greeting", "confidence": 0.9}
SCRIPT = [
    calls(("search_kb", {"query": "returns"})),
    says("{no form"),
    fills({**HELLO, "answer": "You get €500.00."}),
    fills(HELLO),
    fills({"approved": True}),
]


@pytest.fixture
def staff(desk, client):
    user = get_user_model().objects.create_user("sam", password="x", is_staff=True)
    Membership.objects.create(tenant=desk.tenant, user=user, role="operator")
    client.force_login(user)
    return user


@pytest.fixture
def run(desk):
    sent = desk.say("<img src=x onerror=alert(1)> hello")
    desk.run(sent.run_id, ScriptedModel(list(SCRIPT)))
    return desk.stored(sent.run_id)


def page(client, model: str, key) -> str:
    response = client.get(reverse(f"admin:agents_{model}_change", args=[key]))
    assert response.status_code == 200
    return response.content.decode()


def test_page_of_a_run_shows_drafts_checks_and_retrievals(client, staff, run):
    html = page(client, "run", run.pk)
    assert "not fill the form" in html
    assert "€500.00" in html
    assert "search_kb" in html
    assert "Versions" in html


def test_trace_of_a_run_stands_in_the_order_of_time(staff, run):
    lines = run_page(run)["lines"]
    assert (lines[0].type, lines[-1].type) == ("message", "run.finished")
    assert all(line.left >= 0 and line.left + line.width <= 100.1 for line in lines)
    asked = next(n for n, line in enumerate(lines) if line.type == "tool.called")
    assert lines[asked].depth > lines[asked - 1].depth  # under the call that asked for it


def test_words_of_customer_and_model_are_text(client, staff, run):
    for html in (page(client, "run", run.pk), page(client, "conversation", run.conversation_id)):
        assert "<img src=x" not in html
        assert "<b>you</b>" not in html
        assert "&lt;img src=x" in html


def test_home_counts_the_questions_of_the_day(client, staff, run):
    html = client.get(reverse("admin:index")).content.decode()
    assert "Latest questions" in html
    assert "&lt;img src=x onerror=alert(1)&gt; hello" in html


def test_runs_are_listed_by_their_question_without_the_shop_of_ones_own(client, staff, run):
    listed = client.get(reverse("admin:agents_run_changelist")).content.decode()
    assert "&lt;img src=x onerror=alert(1)&gt; hello" in listed
    assert "column-tenant" not in listed
    other = make_tenant("other")
    Membership.objects.create(tenant=other, user=staff, role="operator")
    assert "column-tenant" in client.get(reverse("admin:agents_run_changelist")).content.decode()


def test_times_stand_on_the_clock_of_the_shop(client, staff, run):
    """The desk's tests take place at 9:00 UTC, which is 11:00 in Amsterdam in October."""
    listed = reverse("admin:agents_run_changelist")
    assert "15 Oct 2026, 11:00" in client.get(listed).content.decode()
    Membership.objects.create(
        tenant=make_tenant("other", timezone="Asia/Tokyo"), user=staff, role="operator"
    )
    assert "15 Oct 2026, 09:00" in client.get(listed).content.decode()


@pytest.mark.parametrize("model", ["run", "conversation", "event"])
def test_lists_open(client, staff, run, model):
    assert client.get(reverse(f"admin:agents_{model}_changelist")).status_code == 200


def test_staff_of_another_shop_do_not_see_the_run(client, desk, run):
    other = make_tenant("other")
    user = get_user_model().objects.create_user("eve", password="x", is_staff=True)
    Membership.objects.create(tenant=other, user=user, role="admin")
    client.force_login(user)
    listed = client.get(reverse("admin:agents_run_changelist")).content.decode()
    assert str(run.pk) not in listed
    assert "onerror" not in listed
    response = client.get(reverse("admin:agents_run_change", args=[run.pk]))
    assert response.status_code in {302, 404}


def test_nothing_of_a_run_can_be_changed(client, staff, run):
    for name in ("change", "delete"):
        address = reverse(f"admin:agents_run_{name}", args=[run.pk])
        assert client.post(address, {"status": "failed"}).status_code == 403
    assert client.get(reverse("admin:agents_run_add")).status_code == 403


def test_staff_take_over_speak_and_hand_back_from_the_page_of_a_talk(client, staff, desk):
    key = desk.conversation.pk
    assert "Take over" in page(client, "conversation", key)
    post = partial(send, client, key)
    post("posture", {"posture": "off", "reason": "angry"})
    html = page(client, "conversation", key)
    assert "A person answers" in html
    assert "angry · sam" in html
    post("say", {"text": "Hello, Sam here. <b>", "client_id": "once"})
    post("say", {"text": "Hello, Sam here. <b>", "client_id": "once"})
    assert desk.said("staff") == ["Hello, Sam here. <b>"]
    said = client.get(reverse("admin:agents_conversation_talk", args=[key])).content.decode()
    assert "Sam here. &lt;b&gt;" in said
    post("posture", {"posture": "auto"})
    assert "The assistant answers" in page(client, "conversation", key)


def test_talk_that_waits_for_a_person_is_found(client, staff, desk):
    listed = reverse("admin:agents_conversation_changelist") + "?waits=person"
    name = str(desk.conversation.pk)[-12:]
    desk.say("hello")
    assert name not in client.get(listed).content.decode()
    send(client, desk.conversation.pk, "posture", {"posture": "off"})
    assert name in client.get(listed).content.decode()


def test_speaking_is_a_post_of_those_who_work_on_cases(client, staff, desk):
    key = desk.conversation.pk
    for name in ("say", "posture"):
        assert (
            client.get(reverse(f"admin:agents_conversation_{name}", args=[key])).status_code == 405
        )
    Membership.objects.filter(user=staff).update(role="auditor")
    assert "Take over" not in page(client, "conversation", key)
    send(client, key, "say", {"text": "psst"})
    assert desk.said("staff") == []
    Membership.objects.filter(user=staff).update(tenant=make_tenant("other"))
    assert send(client, key, "say", {"text": "psst"}).status_code == 404
    assert client.get(reverse("admin:agents_conversation_talk", args=[key])).status_code == 404


def test_button_without_its_token_does_nothing(staff, desk):
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(staff)
    answer = send(strict, desk.conversation.pk, "say", {"text": "psst"})
    assert answer.status_code == 403
    assert desk.said("staff") == []


def send(client, key, name: str, data):
    return client.post(reverse(f"admin:agents_conversation_{name}", args=[key]), data)


@pytest.mark.parametrize("model", ["run", "conversation"])
def test_page_is_made_once_and_asks_little(client, staff, run, model):
    """The framework reads a field of a detail page several times; a trace is long."""
    key = run.pk if model == "run" else run.conversation_id
    page(client, model, key)
    with CaptureQueriesContext(connection) as captured:
        page(client, model, key)
    said = [query for query in captured.captured_queries if "agents_event" in query["sql"]]
    assert len(said) <= 1
    assert len(captured) <= 15
