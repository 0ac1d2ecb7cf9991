"""What can go wrong with a vendor, in the vocabulary that all adapters share."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from dsupport.contract.errors import PortError
from dsupport.contract.llm import Usage
from dsupport.lib.prices import Price, Tokens, usage_of

# Worth another attempt: the same request may succeed a moment later.
PASSING = frozenset({"rate_limited", "overloaded", "server_error", "timeout", "unreachable", "cut"})


class VendorError(PortError):
    """One failed attempt at a vendor. `usage` is what it may have cost all the same.

    `code` is one of `rate_limited`, `overloaded`, `server_error`, `timeout`, `unreachable`, `cut`
    (these may pass), `spend_limit`, `key_refused`, `not_allowed`, `unknown_model`, `bad_request`,
    `no_key`.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        retry_after: float | None = None,
        usage: Usage | None = None,
    ) -> None:
        super().__init__(message, code=code, retryable=code in PASSING, retry_after=retry_after)
        self.usage = usage or Usage()


_BYTES_PER_TOKEN = 4


def estimate(body: Mapping[str, Any], prices: Mapping[str, Price]) -> Usage:
    """Return what a request may have cost whose answer never came: its bytes, divided by four."""
    size = len(json.dumps(body, ensure_ascii=False, default=str).encode())
    return usage_of(Tokens(input=size // _BYTES_PER_TOKEN), str(body["model"]), prices)
