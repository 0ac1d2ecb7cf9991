"""Claude by Anthropic's own SDK: one streamed attempt, every failure in our own words."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any

import httpx2

from agents.adapters.vendors.claude.stream import Gathered
from agents.adapters.vendors.claude.wire import build_body
from agents.adapters.vendors.house import RoleModel
from agents.adapters.vendors.sdk import SdkVendor
from agents.adapters.vendors.trouble import VendorError
from dsupport.contract.llm import ModelRequest
from dsupport.lib.gateway import read_retry_after

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


class Claude(SdkVendor):
    """The Messages API."""

    name = "anthropic"

    @property
    def _sdk(self) -> Any:
        import anthropic

        return anthropic

    def _make_client(self) -> Any:
        if not self._house.api_key:
            raise VendorError(
                "no_key", "ANTHROPIC_API_KEY is not set. Set it, or choose the offline rules."
            )
        return self._sdk.Anthropic(
            api_key=self._house.api_key,
            base_url=self._house.base_url or None,
            max_retries=0,
            open_telemetry=False,
        )

    def _body(self, request: ModelRequest, role: RoleModel) -> dict[str, Any]:
        return build_body(request, role)

    def _gathering(self, role: RoleModel) -> Gathered:
        return Gathered(role.model, self._house.prices)

    def _open(
        self, body: Mapping[str, Any], timeout: httpx2.Timeout
    ) -> AbstractContextManager[Any]:
        stream: AbstractContextManager[Any] = self._client.messages.create(
            **body, stream=True, timeout=timeout
        )
        return stream

    def _list_models(self, timeout: httpx2.Timeout) -> None:
        self._client.models.list(limit=1, timeout=timeout)

    def _failure(self, error: Any) -> VendorError:
        kind = str(getattr(error, "type", "") or "")
        message = str(error.message)
        status = getattr(error, "status_code", 500)
        response = getattr(error, "response", None)
        header = response.headers.get("retry-after") if response is not None else None
        if any(word in str(getattr(error, "error_code", "") or "") for word in _SPEND_LIMITS):
            return VendorError("spend_limit", message)
        if kind == "invalid_request_error" or status in {400, 413, 422}:
            code = "context_full" if _is_too_long(message) else "bad_request"
            return VendorError(code, message)
        by_status = "server_error" if status >= 500 else "bad_request"
        code = _BY_STATUS.get(status) or _BY_TYPE.get(kind) or by_status
        return VendorError(code, message, retry_after=read_retry_after(header))


def _is_too_long(message: str) -> bool:
    return "prompt is too long" in message.casefold()
