"""Telling open sockets that a conversation has grown. A hint; the events are in the database."""

from __future__ import annotations

import asyncio
import logging
import threading
from functools import cache
from uuid import UUID

from channels.layers import get_channel_layer

log = logging.getLogger(__name__)
_GATHER = 0.02  # seconds that a first hint waits for others: a step rarely comes alone
_PAUSE = 0.1  # seconds between two hints of one conversation


def group_of(conversation_id: UUID | str) -> str:
    """Return the channel group that a conversation's sockets listen to."""
    return f"conversation.{conversation_id}"


def announce(conversation_id: UUID | str, seq: int) -> None:
    """Say that a conversation now reaches `seq`; call it after the commit.

    Hints of one conversation are merged to ten a second. A broker that is away costs latency
    only: sockets look again by themselves.
    """
    _announcer().say(str(conversation_id), seq)


class _Announcer:
    """One event loop in one thread per process, so that no hint opens a new connection."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._lock = threading.Lock()
        self._pending: dict[str, int] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        threading.Thread(target=self._loop.run_forever, name="announcer", daemon=True).start()

    def say(self, conversation: str, seq: int) -> None:
        """Wake the loop for the first hint only; what follows within the pause is merged here."""
        with self._lock:
            before = self._pending.get(conversation)
            self._pending[conversation] = seq if before is None else max(seq, before)
        if before is None:
            self._loop.call_soon_threadsafe(self._begin, conversation)

    def _begin(self, conversation: str) -> None:
        task = self._loop.create_task(self._send(conversation))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _send(self, conversation: str) -> None:
        """Send almost at once, then once more after the pause if more came meanwhile."""
        sent = -1
        await asyncio.sleep(_GATHER)
        while (seq := self._next(conversation, sent)) is not None:
            sent = seq
            try:
                await get_channel_layer().group_send(
                    group_of(conversation), {"type": "events.ready", "seq": seq}
                )
            except Exception as error:
                log.debug("No hint for %s: %s", conversation, error)
            await asyncio.sleep(_PAUSE)

    def _next(self, conversation: str, sent: int) -> int | None:
        """Return what is to be told beyond `sent`; None, and forget, when that was all."""
        with self._lock:
            seq = self._pending[conversation]
            if seq > sent:
                return seq
            del self._pending[conversation]
            return None


@cache
def _announcer() -> _Announcer:
    return _Announcer()
