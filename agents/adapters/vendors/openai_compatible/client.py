"""Chat completions by OpenAI's SDK: one streamed attempt, every failure in our own words."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from time import monotonic
from typing import Any

import httpx2

from agents.adapters.vendors.house import House
from agents.adapters.vendors.openai_compatible import union
from agents.adapters.vendors.openai_compatible.stream import Gathered
from agents.adapters.vendors.openai_compatible.wire import build_body
from agents.adapters.vendors.trouble import VendorError, estimate, read_retry_after
from dsupport.contract.llm import ModelReply, ModelRequest, StopReason, Usage

_CONNECT_SECONDS = 5.0
_NO_KEY = "none"  # local servers want a header and read nothing in it
_BY_STATUS = {
    401: "key_refused", 403: "not_allowed", 404: "unknown_model", 408: "timeout",
    409: "server_error", 429: "rate_limited", 503: "overloaded", 529: "overloaded",
}  # fmt: skip
_BY_CODE = {
    "insufficient_quota": "spend_limit",
    "context_length_exceeded": "context_full",
    "exceed_context_size_error": "context_full",
    "rate_limit_exceeded": "rate_limited",
    "server_error": "server_error",
    "overloaded_error": "overloaded",
}


class OpenAICompatible:
    """One attempt at a chat completion for each call. Retries and limits are not its own."""

    name = "openai"

    def __init__(self, house: House) -> None:
        self._house = house

    def ask(self, request: ModelRequest, seconds: float) -> ModelReply:
        """Return the model's reply within `seconds`; `VendorError` for any trouble."""
        role = self._house.model_for(request.role)
        as_schema = self._house.next_as_schema
        body = build_body(request, role, next_as_schema=as_schema)
        gathered = Gathered(role.model, self._house.prices)
        with self._translated(body, gathered):
            self._stream(body, gathered, seconds)
            reply = gathered.reply()
            if as_schema and request.tools:
                reply = union.read(reply, str(len(request.messages)))
            return reply
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
        completions = self._client.chat.completions
        with completions.create(**body, stream=True, timeout=timeout) as stream:
            for chunk in stream:
                gathered.take(chunk.to_dict())
                if monotonic() > ends:
                    raise VendorError("timeout", f"No whole reply within {seconds:.0f} s.")

    @contextmanager
    def _translated(self, body: Mapping[str, Any], gathered: Gathered) -> Iterator[None]:
        """Turn what the SDK raises into `VendorError`; a context that is too long passes."""
        import openai

        try:
            yield
        except VendorError as error:
            raise self._billed(error, body, gathered) from error
        except (openai.APITimeoutError, httpx2.TimeoutException) as error:
            raise self._billed(VendorError("timeout", str(error)), body, gathered) from error
        except (openai.APIConnectionError, httpx2.TransportError) as error:
            code = "cut" if gathered.began else "unreachable"
            raise self._billed(VendorError(code, str(error)), body, gathered) from error
        except openai.APIError as error:
            failure = _from_error(error)
            if failure.code != "context_full":
                raise self._billed(failure, body, gathered) from error
        except json.JSONDecodeError as error:
            failure = VendorError("server_error", "The stream held something that is no JSON.")
            raise self._billed(failure, body, gathered) from error

    def _billed(
        self, error: VendorError, body: Mapping[str, Any], gathered: Gathered
    ) -> VendorError:
        """Add what the attempt may have cost, when the vendor may have worked on it."""
        if gathered.began or error.code == "timeout":
            error.usage = gathered.usage
            if not error.usage.input_tokens:
                error.usage = estimate(body, self._house.prices)
        else:
            error.usage = Usage(model_calls=1)
        return error

    @cached_property
    def _client(self) -> Any:
        import openai

        if not self._house.base_url and not self._house.api_key:
            raise VendorError(
                "no_key",
                "Neither OPENAI_API_KEY nor OPENAI_BASE_URL is set. Set one of them, or choose "
                "the offline rules.",
            )
        return openai.OpenAI(
            api_key=self._house.api_key or _NO_KEY,
            base_url=self._house.base_url or None,
            max_retries=0,
        )


def _from_error(error: Any) -> VendorError:
    """Read an error of a status or of an object inside a stream that began with 200."""
    status = getattr(error, "status_code", None)
    response = getattr(error, "response", None)
    header = response.headers.get("retry-after") if response is not None else None
    named = _BY_CODE.get(str(error.code or "")) or _BY_CODE.get(str(error.type or ""))
    if named is None and "context" in str(error.message) and status == 400:
        named = "context_full"
    by_status = "bad_request" if status is not None and status < 500 else "server_error"
    code = named or _BY_STATUS.get(status or 0) or by_status
    return VendorError(code, str(error.message), retry_after=read_retry_after(header))
