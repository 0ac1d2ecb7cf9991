"""Claude by Anthropic's own SDK: one streamed attempt, every failure in our own words."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from time import monotonic
from typing import Any

import httpx2

from agents.adapters.vendors.claude.stream import Gathered
from agents.adapters.vendors.claude.wire import build_body
from agents.adapters.vendors.house import House
from agents.adapters.vendors.trouble import VendorError, estimate, read_retry_after
from dsupport.contract.llm import ModelReply, ModelRequest, StopReason, Usage

_CONNECT_SECONDS = 5.0
# What the body of an error says, which also comes inside streams that began with 200.
_BY_TYPE = {
    "overloaded_error": "overloaded",
    "rate_limit_error": "rate_limited",
    "timeout_error": "timeout",
    "api_error": "server_error",
    "authentication_error": "key_refused",
    "permission_error": "not_allowed",
    "billing_error": "spend_limit",
    "not_found_error": "unknown_model",
}
_SPEND_LIMITS = ("spend_limit", "ramp_limit")
_BY_STATUS = {401: "key_refused", 403: "not_allowed", 404: "unknown_model", 408: "timeout",
              409: "server_error", 429: "rate_limited", 529: "overloaded"}  # fmt: skip


class Claude:
    """One attempt at the Messages API for each call. Retries, pauses and limits are not its own."""

    name = "anthropic"

    def __init__(self, house: House) -> None:
        self._house = house

    def ask(self, request: ModelRequest, seconds: float) -> ModelReply:
        """Return the model's reply within `seconds`; `VendorError` for any trouble."""
        role = self._house.model_for(request.role)
        body = build_body(request, role)
        gathered = Gathered(role.model, self._house.prices)
        with self._translated(body, gathered):
            self._stream(body, gathered, seconds)
            return gathered.reply()
        return ModelReply((), StopReason.CONTEXT_FULL, gathered.usage, role.model)

    def prepare(self) -> None:
        """Load the SDK and make the client; `VendorError` without a key. Nothing is asked."""
        _ = self._client

    def close(self) -> None:
        """Give the connections back; the next call opens new ones."""
        client = self.__dict__.pop("_client", None)
        if client is not None:
            client.close()

    def _stream(self, body: Mapping[str, Any], gathered: Gathered, seconds: float) -> None:
        ends = monotonic() + seconds
        timeout = httpx2.Timeout(seconds, connect=min(seconds, _CONNECT_SECONDS))
        with self._client.messages.create(**body, stream=True, timeout=timeout) as stream:
            for event in stream:
                gathered.take(event.to_dict())
                # The SDK's timeout is for one read: a slow stream would pass it for ever.
                if monotonic() > ends:
                    raise VendorError("timeout", f"No whole reply within {seconds:.0f} s.")

    @contextmanager
    def _translated(self, body: Mapping[str, Any], gathered: Gathered) -> Iterator[None]:
        """Turn what the SDK raises into `VendorError`; a context that is too long passes."""
        import anthropic

        try:
            yield
        except VendorError as error:
            raise self._billed(error, body, gathered) from error
        except anthropic.APIStatusError as error:
            failure = _from_status(error)
            if failure.code != "context_full":
                raise self._billed(failure, body, gathered) from error
        except (anthropic.APITimeoutError, httpx2.TimeoutException) as error:
            raise self._billed(VendorError("timeout", str(error)), body, gathered) from error
        except (anthropic.APIConnectionError, httpx2.TransportError) as error:
            code = "cut" if gathered.began else "unreachable"
            raise self._billed(VendorError(code, str(error)), body, gathered) from error
        except json.JSONDecodeError as error:
            failure = VendorError("server_error", "The stream held something that is no JSON.")
            raise self._billed(failure, body, gathered) from error

    def _billed(
        self, error: VendorError, body: Mapping[str, Any], gathered: Gathered
    ) -> VendorError:
        """Add what the attempt may have cost, when the vendor may have worked on it."""
        if gathered.began:
            error.usage = gathered.usage
        elif error.code == "timeout":
            error.usage = estimate(body, self._house.prices)
        else:
            error.usage = Usage(model_calls=1)
        return error

    @cached_property
    def _client(self) -> Any:
        import anthropic

        if not self._house.api_key:
            raise VendorError(
                "no_key", "ANTHROPIC_API_KEY is not set. Set it, or choose the offline rules."
            )
        return anthropic.Anthropic(
            api_key=self._house.api_key,
            base_url=self._house.base_url or None,
            max_retries=0,
            open_telemetry=False,
        )


def _from_status(error: Any) -> VendorError:
    kind = str(getattr(error, "type", "") or "")
    message = str(error.message)
    header = error.response.headers.get("retry-after")
    if any(word in str(getattr(error, "error_code", "") or "") for word in _SPEND_LIMITS):
        return VendorError("spend_limit", message)
    if kind == "invalid_request_error" or error.status_code in {400, 413, 422}:
        code = "context_full" if _is_too_long(message) else "bad_request"
        return VendorError(code, message)
    status = "server_error" if error.status_code >= 500 else "bad_request"
    code = _BY_STATUS.get(error.status_code) or _BY_TYPE.get(kind) or status
    return VendorError(code, message, retry_after=read_retry_after(header))


def _is_too_long(message: str) -> bool:
    return "prompt is too long" in message.casefold()
