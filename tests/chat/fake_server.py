"""A small desk that speaks the chat's HTTP and WebSocket contract with scripted answers.

    python -m tests.chat.fake_server --port 8765

Tests steer it over POST /_control and read GET /_state. It keeps everything in memory.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import mimetypes
import re
import secrets
import socket
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import django
import uvicorn
from django.conf import settings

from tests.chat.fake_desk import (
    CUSTOMERS,
    HOURS,
    SHOP,
    STARTERS,
    Conversation,
    Desk,
    Refusal,
)

ROOT = Path(__file__).resolve().parents[2]

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]


# -- HTTP --------------------------------------------------------------------------------------


@dataclass
class Request:
    method: str
    path: str
    query: dict[str, list[str]]
    body: dict[str, Any]
    visitor: str


def routes(desk: Desk, request: Request) -> tuple[int, Any]:
    """Answer the JSON addresses, or refuse one that is not there."""
    key = f"{request.method} {request.path}"
    visitor, body = request.visitor, request.body
    simple: dict[str, Callable[[], tuple[int, Any]]] = {
        "POST /api/conversations": lambda: (201, {"id": _open(desk, visitor)}),
        "GET /api/session": lambda: (200, desk.session(visitor)),
        "POST /api/session/login": lambda: (200, _password(desk, visitor, body)),
        "POST /api/session/guest": lambda: (200, desk.prove(visitor, body)),
        "POST /api/session/demo": lambda: (200, desk.login(visitor, body["email"])),
        "GET /api/session/demo-customers": lambda: (200, CUSTOMERS),
        "DELETE /api/session": lambda: (200, desk.sessions.pop(visitor, {}) and {}),
        "POST /_control": lambda: (200, _steer(desk, body)),
        "GET /_state": lambda: (200, _state(desk)),
    }
    if key in simple:
        return simple[key]()
    return _conversation_routes(desk, request)


def _conversation_routes(desk: Desk, request: Request) -> tuple[int, Any]:
    run = re.fullmatch(r"/api/runs/([\w-]+)/cancel", request.path)
    if run and request.method == "POST":
        desk.cancel(run[1])
        return 202, {}
    match = re.fullmatch(r"/api/conversations/([\w-]+)(/\w+)?", request.path)
    if not match:
        raise Refusal(404, "not_found", "There is nothing here.")
    conversation = desk.find(match[1], request.visitor)
    key = f"{request.method} {match[2] or ''}"
    if key == "GET ":
        last = len(conversation.events)
        return 200, {
            "id": conversation.id,
            "shop": SHOP["slug"],
            "posture": conversation.posture,
            "tickets": conversation.tickets,
            "last_seq": last,
        }
    if key == "GET /events":
        after = int(request.query.get("after", ["0"])[0])
        return 200, {"events": [e for e in conversation.events if e["seq"] > after]}
    if key == "POST /messages":
        return 202, desk.accept(conversation, request.visitor, request.body)
    if key == "POST /person":
        desk.ask_person(conversation)
        return 202, {}
    raise Refusal(404, "not_found", "There is nothing here.")


def _open(desk: Desk, visitor: str) -> str:
    conversation = Conversation(f"c-{secrets.token_hex(5)}", visitor)
    desk.conversations[conversation.id] = conversation
    return conversation.id


def _password(desk: Desk, visitor: str, body: dict[str, Any]) -> dict[str, Any]:
    return desk.login(visitor, body["email"] if body.get("password") == "walking" else "")


def _steer(desk: Desk, body: dict[str, Any]) -> dict[str, Any]:
    desk.control(body)
    return {}


def _state(desk: Desk) -> dict[str, Any]:
    return {
        "received": desk.received,
        "sockets": len(desk.sockets),
        "conversations": {c.id: [e["type"] for e in c.events] for c in desk.conversations.values()},
    }


# -- pages and files ---------------------------------------------------------------------------


def configure_django() -> None:
    settings.configure(
        TEMPLATES=[
            {
                "BACKEND": "django.template.backends.django.DjangoTemplates",
                "DIRS": [ROOT / "templates"],
                "OPTIONS": {"libraries": {"static": "django.templatetags.static"}},
            }
        ],
        STATIC_URL="/static/",
        USE_TZ=True,
    )
    django.setup()


def render(name: str, context: dict[str, Any]) -> bytes:
    from django.template.loader import render_to_string

    return render_to_string(name, context).encode()


def page(desk: Desk, query: dict[str, list[str]], *, demo: bool) -> bytes:
    shop = {**SHOP, "notice": query.get("notice", [""])[0]}
    hours = {"open": True, "text": "People are here until 17:00"} if desk.controls.open else HOURS
    config = {
        "shop": SHOP["slug"],
        "api": "/api",
        "ws": "/ws",
        "help": "/help",
        "demo": demo,
    }
    context = {
        "shop": shop,
        "hours": hours,
        "starters": STARTERS,
        "demo": demo,
        "manifest": "/manifest.webmanifest",
        "config_json": config,
    }
    return render("chat/page.html", context)


def article(query: dict[str, list[str]]) -> bytes:
    version = int(query.get("version", ["3"])[0])
    html = (
        '<h2 id="how-long-you-have">How long you have</h2>'
        "<p>You can send items back within 30 days of delivery.</p>"
        "<ul><li>Unused, in the original packaging.</li><li>Sale items too.</li></ul>"
    )
    shown = {
        "title": "Returns policy",
        "version": version,
        "current_version": 5,
        "stale": version < 5,
        "published_at": datetime(2026, 10, 12, tzinfo=UTC),
        "html": html,
    }
    return render("knowledge/article.html", {"shop": SHOP, "article": shown, "newest": "?"})


def policy() -> str:
    """Return the policy the real desk sends, so that a breach of it shows here too."""
    from dsupport.lib.csp import policy_for

    return policy_for("/")


def files(path: str) -> tuple[bytes, str] | None:
    if path == "/sw.js":
        path = "/static/chat/sw.js"
    target = (ROOT / path.lstrip("/")).resolve()
    if (
        not path.startswith("/static/")
        or not target.is_relative_to(ROOT / "static")
        or not target.is_file()
    ):
        return None
    kind = (
        "application/manifest+json"
        if target.suffix == ".webmanifest"
        else mimetypes.guess_type(target.name)[0]
    )
    return target.read_bytes(), kind or "application/octet-stream"


# -- ASGI --------------------------------------------------------------------------------------


def visitor_of(scope: Scope) -> str:
    cookies = dict(scope["headers"]).get(b"cookie", b"").decode()
    match = re.search(r"visitor=(\w+)", cookies)
    return match[1] if match else secrets.token_hex(8)


async def read_body(receive: Receive) -> dict[str, Any]:
    data = b""
    while True:
        message = await receive()
        data += message.get("body", b"")
        if not message.get("more_body"):
            return json.loads(data) if data else {}


def document(desk: Desk, request: Request) -> tuple[bytes, str] | None:
    if request.path in {"/", "/plain"}:
        body = page(desk, request.query, demo=request.path != "/plain")
        return body, "text/html; charset=utf-8"
    help_page = re.fullmatch(r"/help/([\w-]+)", request.path)
    if help_page:
        return article(request.query), "text/html; charset=utf-8"
    return files(request.path)


def answer(desk: Desk, request: Request) -> tuple[int, bytes, str]:
    found = document(desk, request)
    if found:
        return 200, *found
    try:
        status, value = routes(desk, request)
    except Refusal as refusal:
        status, value = refusal.status, refusal.body
    return status, json.dumps(value).encode(), "application/json"


async def serve_http(desk: Desk, scope: Scope, receive: Receive, send: Send) -> None:
    visitor = visitor_of(scope)
    query = parse_qs(scope["query_string"].decode())
    body = await read_body(receive)
    status, content, kind = answer(
        desk, Request(scope["method"], scope["path"], query, body, visitor)
    )
    headers = [
        (b"content-type", kind.encode()),
        (b"content-security-policy", policy().encode()),
        (b"set-cookie", f"visitor={visitor}; Path=/; HttpOnly; SameSite=Lax".encode()),
        (b"cache-control", b"max-age=600" if scope["path"].startswith("/static/") else b"no-store"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": content})


async def push(desk: Desk, conversation: Conversation, state: dict[str, int], send: Send) -> None:
    """Send what the browser has not seen, whenever there is something new."""
    while True:
        conversation.changed.clear()
        for event in conversation.events[state["seen"] :] if state["seen"] >= 0 else []:
            state["seen"] = event["seq"]
            if desk.controls.swallow_acks and event["type"] == "message":
                continue
            await send({"type": "websocket.send", "text": json.dumps(event)})
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(conversation.changed.wait(), 0.05)


async def hear(
    desk: Desk, conversation: Conversation, visitor: str, frame: dict[str, Any], send: Send
) -> None:
    try:
        if frame["type"] == "message":
            desk.accept(conversation, visitor, frame)
        elif frame["type"] == "person":
            desk.ask_person(conversation)
        elif frame["type"] == "cancel":
            desk.cancel(frame["run"])
    except Refusal as refusal:
        data = {**refusal.body, "client_id": frame.get("client_id")}
        await send(
            {
                "type": "websocket.send",
                "text": json.dumps({"type": "error", "seq": None, "data": data}),
            }
        )


async def serve_socket(desk: Desk, scope: Scope, receive: Receive, send: Send) -> None:
    await receive()
    visitor = visitor_of(scope)
    try:
        conversation = desk.find(scope["path"].rsplit("/", 1)[-1], visitor)
    except Refusal:
        conversation = None
    if conversation is None or desk.controls.refuse_sockets:
        await send({"type": "websocket.close", "code": 4403})
        return
    await send({"type": "websocket.accept"})
    task = asyncio.current_task()
    assert task is not None
    desk.sockets.add(task)
    state = {"seen": -1}
    pusher = asyncio.create_task(push(desk, conversation, state, send))
    try:
        while (message := await receive())["type"] == "websocket.receive":
            frame = json.loads(message["text"])
            if frame["type"] == "seen":
                state["seen"] = frame["seq"]
            else:
                await hear(desk, conversation, visitor, frame, send)
    except asyncio.CancelledError:
        await send({"type": "websocket.close", "code": 1012})
    finally:
        pusher.cancel()
        desk.sockets.discard(task)


def application(desk: Desk) -> Callable[[Scope, Receive, Send], Awaitable[None]]:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await serve_http(desk, scope, receive, send)
        elif scope["type"] == "websocket":
            await serve_socket(desk, scope, receive, send)

    return app


async def main(port: int) -> None:
    configure_django()
    listener = socket.create_server(("127.0.0.1", port))
    sys.stdout.write(f"http://127.0.0.1:{listener.getsockname()[1]}\n")
    sys.stdout.flush()
    config = uvicorn.Config(
        application(Desk()),
        log_level="warning",
        lifespan="off",
        ws="websockets-sansio",
        timeout_graceful_shutdown=1,
    )
    await uvicorn.Server(config).serve(sockets=[listener])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    asyncio.run(main(parser.parse_args().port))
