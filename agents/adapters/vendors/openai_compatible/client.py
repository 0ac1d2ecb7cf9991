"""Chat completions by OpenAI's SDK: one streamed attempt, every failure in our own words."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any

import httpx2

from agents.adapters.vendors.house import RoleModel
from agents.adapters.vendors.openai_compatible import union
from agents.adapters.vendors.openai_compatible.stream import Gathered
from agents.adapters.vendors.openai_compatible.wire import build_body
from agents.adapters.vendors.sdk import SdkVendor
from agents.adapters.vendors.trouble import VendorError
from dsupport.contract.llm import ModelReply, ModelRequest
from dsupport.lib.gateway import read_retry_after

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


class OpenAICompatible(SdkVendor):
    """Chat completions, of OpenAI and of the many servers that speak them."""

    name = "openai"

    @property
    def _sdk(self) -> Any:
        import openai

        return openai

    def _make_client(self) -> Any:
        if not self._house.base_url and not self._house.api_key:
            raise VendorError(
                "no_key",
                "Neither OPENAI_API_KEY nor OPENAI_BASE_URL is set. Set one of them, or choose "
                "the offline rules.",
            )
        return self._sdk.OpenAI(
            api_key=self._house.api_key or _NO_KEY,
            base_url=self._house.base_url or None,
            max_retries=0,
        )

    def _body(self, request: ModelRequest, role: RoleModel) -> dict[str, Any]:
        return build_body(request, role, next_as_schema=self._house.next_as_schema)

    def _gathering(self, role: RoleModel) -> Gathered:
        return Gathered(role.model, self._house.prices)

    def _open(
        self, body: Mapping[str, Any], timeout: httpx2.Timeout
    ) -> AbstractContextManager[Any]:
        completions = self._client.chat.completions
        stream: AbstractContextManager[Any] = completions.create(
            **body, stream=True, timeout=timeout
        )
        return stream

    def _read(self, reply: ModelReply, request: ModelRequest) -> ModelReply:
        if self._house.next_as_schema and request.tools:
            return union.read(reply, str(len(request.messages)))
        return reply

    def _list_models(self, timeout: httpx2.Timeout) -> None:
        self._client.models.list(timeout=timeout)

    def _failure(self, error: Any) -> VendorError:
        status = getattr(error, "status_code", None)
        response = getattr(error, "response", None)
        header = response.headers.get("retry-after") if response is not None else None
        named = _BY_CODE.get(str(error.code or "")) or _BY_CODE.get(str(error.type or ""))
        if named is None and "context" in str(error.message) and status == 400:
            named = "context_full"
        by_status = "bad_request" if status is not None and status < 500 else "server_error"
        code = named or _BY_STATUS.get(status or 0) or by_status
        return VendorError(code, str(error.message), retry_after=read_retry_after(header))
