"""How many messages are taken in a minute: of one asker, for one shop, by the whole desk.

Counted in Valkey by the machine's own minutes, at the doors alone: a message that is refused
stays with the client, which may send it again. While Valkey is away nobody is refused.
"""

from __future__ import annotations

import time

import structlog
from django.conf import settings
from django.core.cache import cache

from agents.errors import TooManyMessages
from dsupport.contract.principal import Principal

log = structlog.get_logger(__name__)

_WINDOW = 60  # seconds


def check_pace(principal: Principal) -> None:
    """Count a message; `TooManyMessages` when its asker, shop or desk has had its share."""
    shares = settings.DSUPPORT_MESSAGES_PER_MINUTE
    names = {
        "customer": f"{principal.tenant_id}/{principal.owner_key}",
        "tenant": str(principal.tenant_id),
        "system": "",
    }
    minute = int(time.time()) // _WINDOW
    for share, name in names.items():
        most = shares[share]
        if most and _count(f"pace/{share}/{name}/{minute}") > most:
            log.warning("messages.too_many", share=share, tenant=principal.tenant_id)
            raise TooManyMessages(_WORDS[share])


_WORDS = {
    "customer": "You have sent many messages within a minute. Wait a minute and send it again.",
    "tenant": "Very many people are writing at the moment. Wait a minute and send it again.",
    "system": "Very many people are writing at the moment. Wait a minute and send it again.",
}


def _count(key: str) -> int:
    try:
        cache.add(key, 0, 2 * _WINDOW)
        return int(cache.incr(key))
    except Exception as error:
        log.warning("pace.unknown", error=str(error))
        return 0
