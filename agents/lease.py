"""Holding a run: claim it, keep the lease alive, let it go."""

from __future__ import annotations

import os
import secrets
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import cache
from typing import Any
from uuid import UUID

import structlog
from django.conf import settings
from django.db import DatabaseError, connection
from django.db.models import F
from django.db.models.expressions import CombinedExpression
from django.db.models.functions import Now

from agents.models import Run
from agents.rules import RunStatus
from agents.store import Hold, claim
from agents.tracing import RUN_PLACE, span_id

log = structlog.get_logger(__name__)


@cache
def process_owner() -> str:
    """Return this process's name as a holder of leases; a restarted process has another."""
    return f"{socket.gethostname()[:24]}:{os.getpid()}:{secrets.token_hex(4)}"


def _lease_end() -> CombinedExpression:
    """Return when a lease that begins now runs out, by the database's clock."""
    return Now() + timedelta(seconds=settings.DSUPPORT_LEASE_SECONDS)


def claim_run(run_id: UUID, owner: str, now: datetime) -> Hold | None:
    """Take a run and say so in its stream; None when somebody else has it or it is over.

    A run that has used up its attempts is not taken (see `endings.give_up`).
    """
    return claim(
        run_id,
        owner,
        seconds=settings.DSUPPORT_LEASE_SECONDS,
        text="Reading your message…",
        span=span_id(run_id, RUN_PLACE),
        now=now,
    )


def release_run(hold: Hold) -> None:
    """Give a run back to the queue, for another worker to go on with.

    It does not count as an attempt: attempts bound crashes.
    """
    _give_back(hold)


def postpone_run(hold: Hold, seconds: float) -> None:
    """Lay a run aside: nobody may take it before then. It is no attempt, and counted as a wait."""
    _give_back(hold, not_before=Now() + timedelta(seconds=seconds), waits=F("waits") + 1)


def _give_back(hold: Hold, **fields: Any) -> None:
    _held(hold).update(
        status=RunStatus.QUEUED,
        lease_owner="",
        lease_until=None,
        attempt=F("attempt") - 1,
        version=F("version") + 1,
        **fields,
    )


def _held(hold: Hold) -> Any:
    return Run.objects.for_worker(hold.run_id).filter(
        lease_owner=hold.owner, attempt=hold.attempt, status=RunStatus.RUNNING
    )


class Heartbeat:
    """Keeps the leases of all runs of this process alive from one thread."""

    def __init__(self) -> None:
        self._seconds = settings.DSUPPORT_LEASE_SECONDS / 4
        self._held: dict[UUID, Hold] = {}
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None

    @contextmanager
    def holding(self, hold: Hold) -> Iterator[None]:
        """Keep this hold's lease alive inside the block."""
        with self._lock:
            self._held[hold.run_id] = hold
            if self._thread is None:
                self._thread = threading.Thread(target=self._beat, name="leases", daemon=True)
                self._thread.start()
        try:
            yield
        finally:
            with self._lock:
                self._held.pop(hold.run_id, None)

    def _beat(self) -> None:
        while not self._wake.wait(self._seconds):
            with self._lock:
                held = list(self._held.values())
            if held:
                self._extend(held)

    def _extend(self, held: list[Hold]) -> None:
        """Extend what is still ours; a lost lease is found by the next write of the run."""
        try:
            for hold in held:
                _held(hold).update(lease_until=_lease_end())
        except DatabaseError as error:
            log.warning("leases.not_extended", error=str(error))
        finally:
            connection.close()


@cache
def heartbeat() -> Heartbeat:
    """Return this process's heartbeat."""
    return Heartbeat()
