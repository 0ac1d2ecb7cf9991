"""The customer's socket: who may open it, and that it loses and repeats nothing."""

from __future__ import annotations

import asyncio
import json
from importlib import import_module
from itertools import count

import pytest
from asgiref.sync import async_to_sync
from django.conf import settings
from django.db import connection

from agents.adapters.scripted import ScriptedModel, fills
from agents.consumers import NO_SESSION, NOT_FOUND
from dsupport.asgi import application
from dsupport.contract.principal import Principal
from dsupport.lib.session import store_principal
from tests.agents.conftest import make_desk
from tests.agents.sockets import SocketClient
from tests.conftest import make_tenant

ORIGIN = b"http://testserver"
NUMBER = count(1)
GREETING = [
    fills({"answer": "Hello.", "intent": "greeting", "confidence": 0.9}),
    fills({"approved": True}),
]


def new_session(principal: Principal) -> str:
    session = import_module(settings.SESSION_ENGINE).SessionStore()
    store_principal(session, principal)
    session.save()
    return str(session.session_key)


def end_session(key: str) -> None:
    import_module(settings.SESSION_ENGINE).SessionStore(key).flush()
    connection.close()  # it runs in a thread of its own


@pytest.fixture
def desk(module_db):
    return make_desk(make_tenant(f"shop-{next(NUMBER)}"))


def socket(conversation_id, session: str = "", origin: bytes | None = ORIGIN):
    headers = [(b"host", b"testserver")]
    if origin is not None:
        headers.append((b"origin", origin))
    if session:
        headers.append((b"cookie", f"{settings.SESSION_COOKIE_NAME}={session}".encode()))
    return SocketClient(application, f"/ws/conversations/{conversation_id}", headers)


def talk(story):
    """Run an async story to its end, within twenty seconds."""

    async def bounded():
        return await asyncio.wait_for(story(), 20)

    return async_to_sync(bounded)()


async def read_events(open_socket, count: int) -> list[dict]:
    return [json.loads((await open_socket.receive())["text"]) for _ in range(count)]


async def close_code(open_socket) -> int:
    assert await open_socket.connect()
    message = await open_socket.receive()
    assert message["type"] == "websocket.close"
    return message["code"]


@pytest.mark.parametrize("origin", [b"https://evil.example", None, b"null"])
def test_socket_of_another_origin_is_refused_before_it_opens(desk, origin):
    session = new_session(desk.principal)

    async def story():
        return await socket(desk.conversation.pk, session, origin).connect()

    assert talk(story) is False


def test_socket_without_a_session_is_closed(desk):
    assert talk(lambda: close_code(socket(desk.conversation.pk))) == NO_SESSION


def test_socket_with_a_made_up_session_is_closed(desk):
    assert talk(lambda: close_code(socket(desk.conversation.pk, "x" * 32))) == NO_SESSION


def test_socket_for_the_conversation_of_another_is_closed_as_missing(desk):
    stranger = new_session(Principal(tenant_id=desk.tenant.pk, visitor="someone else"))
    missing = "00000000-0000-7000-8000-000000000000"
    assert talk(lambda: close_code(socket(desk.conversation.pk, stranger))) == NOT_FOUND
    assert talk(lambda: close_code(socket(missing, stranger))) == NOT_FOUND


def test_socket_of_another_shop_is_closed_as_missing(desk):
    other = make_tenant("other")
    same_visitor = new_session(Principal(tenant_id=other.pk, visitor=desk.principal.visitor))
    assert talk(lambda: close_code(socket(desk.conversation.pk, same_visitor))) == NOT_FOUND


def test_reconnect_gets_what_it_lacks_once_and_in_order(desk):
    session = new_session(desk.principal)
    sent = desk.say("hello")
    desk.run(sent.run_id, ScriptedModel(GREETING))
    total = len(desk.events())

    async def story():
        seen = []
        for after in (0, 2, total - 1):
            opened = socket(desk.conversation.pk, session)
            await opened.connect()
            await opened.send(json.dumps({"type": "seen", "seq": after}))
            seen.append([e["seq"] for e in await read_events(opened, total - after)])
            assert await opened.is_quiet()
            await opened.disconnect()
        return seen

    assert talk(story) == [
        list(range(1, total + 1)),
        list(range(3, total + 1)),
        [total],
    ]


def test_message_is_stored_and_comes_back_as_an_event(desk):
    session = new_session(desk.principal)

    async def story():
        opened = socket(desk.conversation.pk, session)
        await opened.connect()
        await opened.send(json.dumps({"type": "seen", "seq": 0}))
        frame = {"type": "message", "text": "hello", "client_id": "c-1"}
        await opened.send(json.dumps(frame))
        await opened.send(json.dumps(frame))  # sent again after a hiccup
        (event,) = await read_events(opened, 1)
        nothing = await opened.is_quiet()
        await opened.disconnect()
        return event, nothing

    event, nothing = talk(story)
    assert nothing
    assert (event["type"], event["data"]["text"], event["data"]["client_id"]) == (
        "message",
        "hello",
        "c-1",
    )
    assert desk.said("customer") == ["hello"]


def test_refused_draft_never_reaches_the_customer(desk):
    session = new_session(desk.principal)
    sent = desk.say("hello")
    promise = fills({"answer": "You get €500.00.", "intent": "greeting", "confidence": 0.9})
    desk.run(sent.run_id, ScriptedModel([promise, *GREETING]))
    total = len(desk.events())

    async def story():
        opened = socket(desk.conversation.pk, session)
        await opened.connect()
        await opened.send(json.dumps({"type": "seen", "seq": 0}))
        events = await read_events(opened, total)
        await opened.disconnect()
        return events

    events = talk(story)
    assert "500.00" not in json.dumps(events, ensure_ascii=False)
    verdicts = [e["data"]["approved"] for e in events if e["type"] == "review.finished"]
    assert verdicts == [False, True]


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        ("{", "bad_frame"),
        ("[]", "bad_frame"),
        ('"x"', "bad_frame"),
        ("null", "bad_frame"),
        ('{"type": "approve"}', "bad_frame"),
        ('{"type": ["message"]}', "bad_frame"),
        ('{"type": "seen", "seq": "1; drop table"}', "bad_frame"),
        ('{"type": "seen", "seq": -1}', "bad_frame"),
        ('{"type": "seen", "seq": true}', "bad_frame"),
        ('{"type": "message"}', "unreadable_message"),
        ('{"type": "message", "text": ""}', "empty_message"),
        ('{"type": "message", "text": 7}', "unreadable_message"),
        (json.dumps({"type": "message", "text": "x" * 8_001}), "message_too_long"),
        (json.dumps({"type": "message", "text": "a\x00b"}), "unreadable_message"),
        ('{"type": "cancel", "run": "nonsense"}', "run_not_found"),
        ('{"type": "cancel", "run": null}', "run_not_found"),
        ('{"type": "cancel", "run": "00000000-0000-7000-8000-000000000000"}', "run_not_found"),
    ],
)
def test_bad_frame_gets_a_code_and_the_socket_stays(desk, frame, code):
    session = new_session(desk.principal)

    async def story():
        opened = socket(desk.conversation.pk, session)
        await opened.connect()
        await opened.send(frame)
        (error,) = await read_events(opened, 1)
        await opened.send(json.dumps({"type": "seen", "seq": 0}))
        await opened.send(json.dumps({"type": "message", "text": "still here"}))
        (event,) = await read_events(opened, 1)
        await opened.disconnect()
        return error, event

    error, event = talk(story)
    assert (error["type"], error["data"]["code"]) == ("error", code)
    assert error["data"]["message"]
    assert event["data"]["text"] == "still here"


def test_frame_of_a_megabyte_closes_the_socket(desk):
    session = new_session(desk.principal)

    async def story():
        opened = socket(desk.conversation.pk, session)
        await opened.connect()
        await opened.send(json.dumps({"type": "message", "text": "x" * 1_000_000}))
        return await opened.receive()

    assert talk(story)["type"] == "websocket.close"
    assert desk.said("customer") == []


def test_log_out_ends_the_socket(desk):
    session = new_session(desk.principal)

    async def story():
        opened = socket(desk.conversation.pk, session)
        await opened.connect()
        await asyncio.to_thread(end_session, session)
        await opened.send(json.dumps({"type": "message", "text": "hello"}))
        return await opened.receive()

    closed = talk(story)
    assert (closed["type"], closed["code"]) == ("websocket.close", NO_SESSION)
    assert desk.said("customer") == []


def test_unknown_socket_address_is_closed():
    async def story():
        opened = SocketClient(
            application, "/ws/nowhere", [(b"origin", ORIGIN), (b"host", b"testserver")]
        )
        return await close_code(opened)

    assert talk(story) == NOT_FOUND
