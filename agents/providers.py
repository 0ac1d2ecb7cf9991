"""Which model answers: the configured provider, or the offline rules in its place."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from typing import Any

import structlog
from django.conf import settings
from django.utils.module_loading import import_string

from agents.errors import RunStopped, StopCause
from agents.ledger import budget_spent
from agents.metered import Booking, Metered
from agents.pseudonyms import Hiding, Pseudonyms
from approvals.services import is_off
from dsupport.contract.errors import PortError
from dsupport.contract.llm import ChatMessage, LLMClient, ModelReply, ModelRequest, Usage
from dsupport.lib.gateway import CallPolicy, Room, gateway

log = structlog.get_logger(__name__)

MODEL_OFF = "The model is switched off; the offline rules answer."
MODEL_DOWN = "The model cannot be reached; the offline rules answer."
BUDGET_SPENT = "The budget for the model is spent for today; the offline rules answer."
_KEY_SECONDS = 3.0  # how long a worker that starts waits to have its key tried
LONGEST_WAIT = 600.0  # seconds a run may wait for a vendor that asked for patience

# One attempt may take long; three of them must fit into a run.
POLICY = CallPolicy(attempts=3, timeout=60.0, backoff=0.5, longest_backoff=8.0, trip_after=5)


@dataclass(frozen=True)
class Asking:
    """For whom a model is asked, and what is to be done beside it.

    `book` is told of every attempt. `private` are lines of the asker that no vendor need see.
    `may_wait` says whether this run may still be laid aside when a vendor asks for patience; it
    is, once. `release` gives the database connection back, before a vendor is asked.
    """

    provider: str
    tenant_id: int
    owner_key: str
    now: Callable[[], datetime]
    book: Callable[[Booking], None]
    may_wait: bool = False
    private: Sequence[str] = ()
    release: Callable[[], None] = lambda: None


def client_for(asking: Asking) -> LLMClient:
    """Return the port to a provider's model; the offline rules stand in while it is off or down."""
    offline = _adapter("offline")
    if asking.provider == "offline":
        return offline
    main = _adapter(asking.provider)
    if hasattr(main, "ask"):
        main = Metered(main, gateway, POLICY, _room(asking.provider), asking.book)
        if settings.DSUPPORT_HIDE_PERSONAL_DATA:
            main = Hiding(main, Pseudonyms(asking.private))
    return FallingBack(main, offline, lambda: _why_offline(asking), may_wait=asking.may_wait)


def _why_offline(asking: Asking) -> str:
    """Return why the model is not to be asked at all, or nothing."""
    try:
        if is_off("model", asking.tenant_id):
            return MODEL_OFF
        if budget_spent(tenant_id=asking.tenant_id, owner_key=asking.owner_key, now=asking.now()):
            return BUDGET_SPENT
        return ""
    finally:
        asking.release()


@dataclass(frozen=True)
class FallingBack:
    """Asks the main model, and the offline rules when it may not be asked or is in trouble.

    Switches and budgets are read before every call, so they take effect on the next step of
    running runs. A vendor that asks for more patience than the run has gets it once, if the run
    may wait: then the run is laid aside instead.
    """

    main: LLMClient
    offline: LLMClient
    why_offline: Callable[[], str]
    may_wait: bool = False

    def next(self, request: ModelRequest) -> ModelReply:
        return self._ask(self.main.next, self.offline.next, request)

    def structured(self, request: ModelRequest) -> ModelReply:
        return self._ask(self.main.structured, self.offline.structured, request)

    def _ask(
        self,
        main: Callable[[ModelRequest], ModelReply],
        offline: Callable[[ModelRequest], ModelReply],
        request: ModelRequest,
    ) -> ModelReply:
        reason = self.why_offline()
        if reason:
            return replace(offline(request), notice=reason)
        try:
            return main(request)
        except PortError as error:
            log.warning("model.down", code=error.code, error=error.message)
            if self.may_wait and _asks_for_patience(error):
                raise RunStopped(StopCause.WAIT, f"{error.retry_after:.0f}") from error
            reply = offline(request)
            lost: Usage = getattr(error, "usage", Usage())
            return replace(reply, notice=MODEL_DOWN, usage=reply.usage + lost)


def _asks_for_patience(error: PortError) -> bool:
    """Tell whether waiting helps; an open breaker is our own word and means the rules at once."""
    wait = error.retry_after
    return error.code != "circuit_open" and wait is not None and 0 < wait <= LONGEST_WAIT


def warm_up(today: str) -> None:
    """Load what the model and the offline rules need, so that nobody's question waits for it."""
    main = _adapter(settings.DSUPPORT_PROVIDER)
    if hasattr(main, "prepare"):
        _try(main)
    greeting = ChatMessage.user("hello")
    request = ModelRequest("solo", "", (greeting,), context={"today": today})
    _adapter("offline").next(request)


def _try(vendor: Any) -> None:
    """Say now what the first question would find out; the rules stand in all the same."""
    try:
        vendor.prepare()
        vendor.try_key(_KEY_SECONDS)
    except PortError as error:
        log.warning("model.not_ready", code=error.code, error=error.message)
    else:
        log.info("model.ready", provider=vendor.name)


def _adapter(provider: str) -> Any:
    """Return this process's adapter: a client's connections do not survive a fork."""
    return _adapter_of(provider, os.getpid())


@cache
def _adapter_of(provider: str, _pid: int) -> Any:
    return import_string(settings.DSUPPORT_PROVIDERS[provider])()


@cache
def _room(_provider: str) -> Room:
    return Room(settings.DSUPPORT_MODEL_CONCURRENCY)
