"""Which model answers: the configured provider, or the offline rules in its place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import structlog
from django.conf import settings
from django.utils.module_loading import import_string

from approvals.services import is_off
from dsupport.contract.errors import PortError
from dsupport.contract.llm import ChatMessage, LLMClient, ModelReply, ModelRequest

log = structlog.get_logger(__name__)

MODEL_OFF = "The model is switched off; the offline rules answer."
MODEL_DOWN = "The model cannot be reached; the offline rules answer."


def client_for(provider: str, tenant_id: int) -> LLMClient:
    """Return the port to a provider's model; the offline rules stand in while it is off or down."""
    offline = _adapter("offline")
    if provider == "offline":
        return offline
    return FallingBack(_adapter(provider), offline, lambda: is_off("model", tenant_id))


@dataclass(frozen=True)
class FallingBack:
    """Asks the main model, and the offline rules when it is switched off or in trouble.

    The switch is read before every call, so it takes effect on the next step of running runs.
    """

    main: LLMClient
    offline: LLMClient
    is_model_off: Callable[[], bool]

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
        if self.is_model_off():
            return replace(offline(request), notice=MODEL_OFF)
        try:
            return main(request)
        except PortError as error:
            log.warning("model.down", code=error.code, error=error.message)
            return replace(offline(request), notice=MODEL_DOWN)


def warm_up(today: str) -> None:
    """Load what the offline rules need, so that nobody's first question waits for it."""
    greeting = ChatMessage.user("hello")
    request = ModelRequest("solo", "", (greeting,), context={"today": today})
    _adapter("offline").next(request)


@cache
def _adapter(provider: str) -> LLMClient:
    client: LLMClient = import_string(settings.DSUPPORT_PROVIDERS[provider])()
    return client
