"""Whether a worker lives: each one says so every few seconds."""

from __future__ import annotations

import threading
from typing import Any

import structlog
from django.core.cache import cache

log = structlog.get_logger(__name__)

_KEY = "worker-alive"
_SECONDS = 5.0
_LASTS = 15


def worker_is_alive() -> bool:
    """Tell whether any worker has said so lately; False as well while Valkey is away."""
    try:
        return cache.get(_KEY) is not None
    except Exception as error:
        log.warning("liveness.unknown", error=str(error))
        return False


def forget_pulse() -> None:
    """Forget that a worker lived, before another is started whose readiness is waited for."""
    try:
        cache.delete(_KEY)
    except Exception as error:
        log.warning("liveness.not_forgotten", error=str(error))


def start_pulse(owner: str, **_signal: Any) -> None:
    """Begin to say that this worker lives, from a thread of its own."""
    threading.Thread(target=_pulse, args=(owner,), name="pulse", daemon=True).start()


def _pulse(owner: str) -> None:
    wait = threading.Event()
    while True:
        try:
            cache.set(_KEY, owner, _LASTS)
        except Exception as error:
            log.warning("liveness.not_said", error=str(error))
        wait.wait(_SECONDS)
