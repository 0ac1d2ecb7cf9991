"""The REST side: the same conversation for programs, and clear errors for bad input."""

from __future__ import annotations

import json

import pytest
from django.test import Client

from agents.adapters.scripted import ScriptedModel, fills
from agents.models import Conversation, Run
from dsupport.access import key_digest
from dsupport.models import ApiKey
from tests.agents.conftest import Desk
from tests.conftest import NOW, make_tenant

GREETING = [
    fills({"answer": "Hello.", "intent": "greeting", "confidence": 0.9}),
    fills({"approved": True}),
]


@pytest.fixture
def shop(db, settings):
    return make_tenant(settings.DSUPPORT_TENANT)


def post(client: Client, path: str, body=None, **headers):
    return client.post(f"/api{path}", body or {}, content_type="application/json", headers=headers)


def start(client: Client, **headers) -> str:
    response = post(client, "/conversations", **headers)
    assert response.status_code == 201, response.content
    return response.json()["id"]


def stored_desk(shop, conversation_id: str) -> Desk:
    return Desk(shop, None, Conversation.objects.get(pk=conversation_id))


def test_message_is_accepted_and_its_run_can_be_read(client, shop):
    conversation = start(client)
    response = post(client, f"/conversations/{conversation}/messages", {"text": "hello"})
    assert response.status_code == 202
    run_id = response.json()["run_id"]
    assert client.get(f"/api/runs/{run_id}").json()["status"] == "queued"
    stored_desk(shop, conversation).run(Run.objects.get(pk=run_id).pk, ScriptedModel(GREETING))
    run = client.get(f"/api/runs/{run_id}").json()
    assert run["status"] == "completed"
    assert run["answer"]["answer"] == "Hello."
    events = client.get(f"/api/runs/{run_id}/events?after=1").json()["events"]
    assert [event["seq"] for event in events] == list(range(2, 2 + len(events)))


def test_conversation_of_another_visitor_is_not_found(client, shop):
    conversation = start(client)
    sent = post(client, f"/conversations/{conversation}/messages", {"text": "hello"}).json()
    other = Client()
    start(other)
    for path in (f"/conversations/{conversation}", f"/runs/{sent['run_id']}"):
        response = other.get(f"/api{path}")
        assert response.status_code == 404
        assert set(response.json()) == {"code", "message"}
    refused = post(other, f"/conversations/{conversation}/messages", {"text": "let me in"})
    assert refused.status_code == 404
    assert post(other, f"/runs/{sent['run_id']}/cancel").status_code == 404


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"text": ""}, 422, "empty_message"),
        ({"text": "   "}, 422, "empty_message"),
        ({"text": "a\x00b"}, 422, "unreadable_message"),
        ({"text": "x" * 8_001}, 422, "message_too_long"),
        ({"text": 7}, 422, "invalid_input"),
        ({}, 422, "invalid_input"),
        ({"text": "hi", "client_id": "x" * 65}, 422, "invalid_input"),
        ({"text": "hi", "customer_id": 7}, 422, "invalid_input"),
    ],
)
def test_bad_message_gets_a_code(client, shop, body, status, code):
    response = post(client, f"/conversations/{start(client)}/messages", body)
    assert (response.status_code, response.json()["code"]) == (status, code)
    assert response.json()["message"]


def test_malformed_json_gets_a_code(client, shop):
    path = f"/api/conversations/{start(client)}/messages"
    response = client.post(path, b"{not json", content_type="application/json")
    assert (response.status_code, response.json()["code"]) == (400, "malformed_json")


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/conversations/nonsense", 404, "not_found"),
        ("GET", "/nowhere", 404, "not_found"),
        ("PUT", "/session", 405, "method_not_allowed"),
    ],
)
def test_address_that_is_no_operation_gets_a_code(client, shop, method, path, status, code):
    response = client.generic(method, f"/api{path}")
    assert (response.status_code, response.json()["code"]) == (status, code)
    assert response.json()["message"]


def test_message_of_a_megabyte_is_refused(client, shop):
    path = f"/api/conversations/{start(client)}/messages"
    body = json.dumps({"text": "x" * 1_000_000})
    response = client.post(path, body, content_type="application/json")
    assert (response.status_code, response.json()["code"]) == (413, "too_large")


def test_emoji_alone_is_a_message(client, shop):
    path = f"/conversations/{start(client)}/messages"
    assert post(client, path, {"text": "🙂"}).status_code == 202


@pytest.mark.parametrize(
    "headers",
    [{"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}, {"origin": "null"}],
)
def test_another_sites_page_cannot_use_the_visitors_cookie(client, shop, headers):
    conversation = start(client)
    path = f"/conversations/{conversation}/messages"
    response = post(client, path, {"text": "hello"}, **headers)
    assert (response.status_code, response.json()["code"]) == (403, "foreign_origin")


def test_own_page_may_post(client, shop):
    headers = {"origin": "http://testserver", "sec-fetch-site": "same-origin"}
    path = f"/conversations/{start(client, **headers)}/messages"
    assert post(client, path, {"text": "hello"}, **headers).status_code == 202


def test_unknown_shop_is_not_found(client, shop):
    response = post(client, "/conversations?shop=nowhere")
    assert (response.status_code, response.json()["code"]) == (404, "unknown_shop")


def make_key(shop, secret="s3cret-of-a-program", **fields) -> str:
    ApiKey.objects.create(
        tenant=shop,
        name="program",
        digest=key_digest(secret),
        hint=secret[-4:],
        created_by="admin",
        created_at=NOW,
        **fields,
    )
    return f"Bearer {secret}"


def test_program_with_a_key_has_a_conversation_without_a_cookie(client, shop):
    key = make_key(shop)
    conversation = start(Client(), authorization=key)
    path = f"/api/conversations/{conversation}"
    assert Client().get(path, headers={"authorization": key}).status_code == 200
    assert client.get(path).status_code == 404


@pytest.mark.parametrize("secret", ["wrong", "s3cret-of-a-program"])
def test_unknown_or_revoked_key_is_refused(shop, secret):
    make_key(shop, revoked_at=NOW)
    response = post(Client(), "/conversations", authorization=f"Bearer {secret}")
    assert (response.status_code, response.json()["code"]) == (401, "invalid_key")


def test_key_reaches_its_own_shop_only(shop):
    other = make_tenant("other")
    key = make_key(other)
    made = post(Client(), f"/conversations?shop={shop.slug}", authorization=key).json()
    assert made["shop"] == "other"


def test_asking_for_a_person_gives_the_ticket(client, shop):
    conversation = start(client)
    response = post(client, f"/conversations/{conversation}/person")
    assert response.status_code == 202
    number = response.json()["ticket"]
    assert number.startswith("TKT-")
    again = post(client, f"/conversations/{conversation}/person").json()
    assert again["ticket"] == number
    assert client.get(f"/api/conversations/{conversation}").json()["tickets"] == [number]


def test_openapi_names_every_promised_address(client, shop):
    document = client.get("/api/openapi.json").json()
    promised = {
        "/api/conversations": "post",
        "/api/conversations/{conversation_id}/messages": "post",
        "/api/runs/{run_id}": "get",
        "/api/runs/{run_id}/events": "get",
        "/api/runs/{run_id}/stream": "get",
        "/api/knowledge/search": "get",
        "/api/session/login": "post",
        "/api/session/guest": "post",
        "/api/session/token": "post",
    }
    for path, method in promised.items():
        assert method in document["paths"][path], path
    assert "delete" in document["paths"]["/api/session"]
