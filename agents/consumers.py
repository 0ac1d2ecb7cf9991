"""The customer's socket: translate in, make one call, translate out."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from importlib import import_module
from typing import Any
from uuid import UUID

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.contrib.sessions.backends.base import SessionBase

from agents import requests, services
from agents.feed import events_after, for_customer
from agents.models import Conversation
from agents.notify import group_of
from dsupport.contract.errors import DomainError
from dsupport.contract.principal import Principal
from dsupport.lib import clock
from dsupport.lib.session import find_principal

MAX_FRAME = 64 * 1024
LOOK_AGAIN = 15.0  # seconds; heals a hint that was lost, and notices a log-out
NO_SESSION, NOT_FOUND, TOO_LARGE = 4401, 4404, 4413


class ConversationConsumer(AsyncWebsocketConsumer):
    """Sends every event of one conversation once and in order, and takes what the customer says."""

    async def connect(self) -> None:
        await self.accept()
        self.sent = -1  # nothing is sent before the client has said what it has seen
        self.sending = asyncio.Lock()
        self.watch: asyncio.Task[None] | None = None
        self.group = ""
        if await self._admit() is None:
            return
        self.group = group_of(self.conversation.pk)
        with suppress(OSError):
            await self.channel_layer.group_add(self.group, self.channel_name)
        self.watch = asyncio.create_task(self._look_again())

    async def disconnect(self, code: int) -> None:
        if self.watch is not None:
            self.watch.cancel()
        if self.group:
            with suppress(Exception):
                await self.channel_layer.group_discard(self.group, self.channel_name)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        if len(text_data or bytes_data or b"") > MAX_FRAME:
            await self.close(code=TOO_LARGE)
            return
        try:
            frame = json.loads(text_data or "")
            kind = frame["type"]
            handler = self._handlers[kind]
        except (ValueError, TypeError, KeyError):
            await self._refuse("bad_frame", "Send a JSON object with a known type.", {})
            return
        if await self._admit() is None:
            return
        try:
            await handler(self, frame)
        except DomainError as error:
            await self._refuse(error.code, error.message, frame)

    async def events_ready(self, _event: dict[str, Any]) -> None:
        """Answer a hint from the channel layer: fetch what is new and send it."""
        await self._send_new()

    # --- what a client may say -------------------------------------------------------------

    async def _on_message(self, frame: dict[str, Any]) -> None:
        client_id = frame.get("client_id", "")
        await database_sync_to_async(requests.receive_message)(
            principal=self.principal,
            conversation_id=self.conversation.pk,
            text=frame.get("text"),
            client_id=client_id if isinstance(client_id, str) else "",
            now=clock.now(),
        )
        await self._send_new()

    async def _on_cancel(self, frame: dict[str, Any]) -> None:
        await database_sync_to_async(services.cancel_run)(
            principal=self.principal, run_id=str(frame.get("run")), now=clock.now()
        )

    async def _on_confirm(self, frame: dict[str, Any]) -> None:
        await self._answer(frame, yes=True)

    async def _on_decline(self, frame: dict[str, Any]) -> None:
        await self._answer(frame, yes=False)

    async def _answer(self, frame: dict[str, Any], *, yes: bool) -> None:
        await database_sync_to_async(requests.answer_card)(
            principal=self.principal,
            confirmation_id=str(frame.get("proposal")),
            shown_hash=str(frame.get("hash")),
            yes=yes,
            now=clock.now(),
        )
        await self._send_new()

    async def _on_person(self, _frame: dict[str, Any]) -> None:
        await database_sync_to_async(services.request_person)(
            principal=self.principal, conversation_id=self.conversation.pk, now=clock.now()
        )

    async def _on_seen(self, frame: dict[str, Any]) -> None:
        seq = frame.get("seq")
        if isinstance(seq, bool) or not isinstance(seq, int) or seq < 0:
            await self._refuse(
                "bad_frame", "seq is the last number you have seen, 0 for none.", frame
            )
            return
        self.sent = seq
        await self._send_new()

    _handlers = {
        "message": _on_message,
        "cancel": _on_cancel,
        "confirm": _on_confirm,
        "decline": _on_decline,
        "person": _on_person,
        "seen": _on_seen,
    }

    # --- inside ----------------------------------------------------------------------------

    async def _admit(self) -> Principal | None:
        """Look the asker up again; close the socket when it may not see this conversation."""
        principal, conversation = await database_sync_to_async(self._look_up)()
        if principal is None:
            await self.close(code=NO_SESSION)
            return None
        if conversation is None:
            await self.close(code=NOT_FOUND)
            return None
        self.principal, self.conversation = principal, conversation
        return principal

    def _look_up(self) -> tuple[Principal | None, Conversation | None]:
        session = _stored_session(self.scope["session"])
        key: UUID = self.scope["url_route"]["kwargs"]["conversation_id"]
        if session is None:
            return None, None
        for tenant_id in session.get("principals", {}):
            principal = find_principal(session, int(tenant_id))
            if principal is None:
                continue
            found = (
                Conversation.objects.for_principal(principal)
                .select_related("tenant")
                .filter(pk=key)
                .first()
            )
            if found is not None:
                return principal, found
        known = bool(session.get("principals"))
        return (Principal(tenant_id=0), None) if known else (None, None)

    async def _send_new(self) -> None:
        """Send what the client lacks, once and in order, whoever asked for it."""
        if self.sent < 0:
            return
        async with self.sending:
            while events := await database_sync_to_async(self._fetch)(self.sent):
                for event in events:
                    await self.send(json.dumps(event, ensure_ascii=False))
                    self.sent = event["seq"]

    def _fetch(self, seq: int) -> list[dict[str, Any]]:
        events = events_after(self.conversation.pk, seq)
        return for_customer(events, self.conversation.tenant, now=clock.now())

    async def _look_again(self) -> None:
        while True:
            await asyncio.sleep(LOOK_AGAIN)
            if await self._admit() is None:
                return
            await self._send_new()

    async def _refuse(self, code: str, message: str, frame: dict[str, Any]) -> None:
        data = {"code": code, "message": message}
        if isinstance(frame.get("client_id"), str):
            data["client_id"] = frame["client_id"]
        document = {"type": "error", "seq": None, "data": data}
        await self.send(json.dumps(document, ensure_ascii=False))


def _stored_session(session: SessionBase) -> SessionBase | None:
    """Return the session as it is stored now, or None when it has ended since."""
    key = session.session_key
    if not key or not session.exists(key):
        return None
    store: SessionBase = import_module(settings.SESSION_ENGINE).SessionStore(key)
    return store


class NoSuchSocket(AsyncWebsocketConsumer):
    """Refuse an unknown address politely."""

    async def connect(self) -> None:
        await self.accept()
        await self.close(code=NOT_FOUND)
