"""Telling open sockets that a conversation has grown. A hint; the events are in the database."""

from __future__ import annotations

import asyncio
import logging
import threading
from functools import cache
from uuid import UUID

from channels.layers import get_channel_layer

log = logging.getLogger(__name__)
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
        self._pending: dict[str, int] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        threading.Thread(target=self._loop.run_forever, name="announcer", daemon=True).start()

    def say(self, conversation: str, seq: int) -> None:
        self._loop.call_soon_threadsafe(self._note, conversation, seq)

    def _note(self, conversation: str, seq: int) -> None:
        fresh = conversation not in self._pending
        self._pending[conversation] = max(seq, self._pending.get(conversation, 0))
        if fresh:
            task = self._loop.create_task(self._send(conversation))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _send(self, conversation: str) -> None:
        """Send at once, then once more after the pause if more came meanwhile."""
        sent = -1
        while (seq := self._pending[conversation]) > sent:
            sent = seq
            try:
                await get_channel_layer().group_send(
                    group_of(conversation), {"type": "events.ready", "seq": seq}
                )
            except Exception as error:
                log.debug("No hint for %s: %s", conversation, error)
            await asyncio.sleep(_PAUSE)
        del self._pending[conversation]


@cache
def _announcer() -> _Announcer:
    return _Announcer()
