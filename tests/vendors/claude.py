"""The Messages API on this machine, with the rules that a caller can break. Version 2026-10-21."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping
from typing import Any

from tests.vendors.script import Fault, Says
from tests.vendors.wire import FakeVendor

_STOPS = {
    "end": "end_turn",
    "calls": "tool_use",
    "length": "max_tokens",
    "refusal": "refusal",
    "pause": "pause_turn",
    "context": "model_context_window_exceeded",
    "unknown": "brand_new_reason",
}
_KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    529: "overloaded_error",
}
_FORBIDDEN = ("temperature", "top_p", "top_k")
_RANGES = {"minimum", "maximum", "minLength", "maxLength", "pattern", "minItems", "maxItems"}
_MOST_MARKS = 4


class FakeClaude(FakeVendor):
    path = "/v1/messages"
    _ids = itertools.count(1)

    def breach_of(self, body: Mapping[str, Any], headers: Mapping[str, str]) -> str | None:
        if not (headers.get("x-api-key") or headers.get("authorization")):
            return "x-api-key or authorization header is required"
        if headers.get("anthropic-version") != "2026-10-21":
            return "anthropic-version: this fake knows 2026-10-21 alone"
        missing = [name for name in ("model", "max_tokens", "messages") if name not in body]
        if missing:
            return f"{missing[0]}: Field required"
        forbidden = [name for name in _FORBIDDEN if name in body]
        if forbidden:
            return f"{forbidden[0]}: Extra inputs are not permitted"
        if (body.get("tool_choice") or {}).get("type", "auto") in {"any", "tool"}:
            return "tool_choice: forced tools are not supported by this model"
        return (
            _breach_of_tools(body) or _breach_of_marks(body) or _breach_of_turns(body["messages"])
        )

    def events(self, says: Says, body: Mapping[str, Any]) -> Iterator[str]:
        yield self._start(says, body)
        blocks = list(self._blocks(says, body))
        for index, (block, deltas) in enumerate(blocks):
            yield _frame("content_block_start", index=index, content_block=block)
            for delta in deltas:
                yield _frame("content_block_delta", index=index, delta=delta)
            yield _frame("content_block_stop", index=index)
        delta = {"stop_reason": _STOPS[says.ending], "stop_sequence": None}
        yield _frame("message_delta", delta=delta, usage={"output_tokens": says.output_tokens})
        yield _frame("message_stop")

    def beginning(self, text: str, body: Mapping[str, Any]) -> Iterator[str]:
        yield self._start(Says(text), body)
        yield _frame("content_block_start", index=0, content_block={"type": "text", "text": ""})
        yield _frame("content_block_delta", index=0, delta={"type": "text_delta", "text": text})

    def error_event(self, kind: str) -> str:
        error = {"type": f"{kind}_error", "message": kind.title()}
        return _frame("error", error=error)

    def error_body(self, fault: Fault) -> dict[str, Any]:
        kind = (
            fault.kind if fault.kind.endswith("_error") else _KINDS.get(fault.status, "api_error")
        )
        return {"type": "error", "error": {"type": kind, "message": fault.message}}

    def _start(self, says: Says, body: Mapping[str, Any]) -> str:
        usage = {
            "input_tokens": says.prompt_tokens - says.cached_tokens,
            "cache_read_input_tokens": says.cached_tokens,
            "cache_creation_input_tokens": 0,
            "output_tokens": 1,
        }
        message = {
            "id": f"msg_{next(self._ids):04d}",
            "type": "message",
            "role": "assistant",
            "model": says.model or body["model"],
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": usage,
        }
        return _frame("message_start", message=message)

    def _blocks(
        self, says: Says, body: Mapping[str, Any]
    ) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
        if says.thinks:
            yield (
                {"type": "thinking", "thinking": "", "signature": ""},
                [
                    {"type": "thinking_delta", "thinking": says.thinks},
                    {"type": "signature_delta", "signature": f"signed by {body['model']}"},
                ],
            )
        if says.text:
            half = len(says.text) // 2
            pieces = [says.text[:half], says.text[half:]]
            deltas = [{"type": "text_delta", "text": piece} for piece in pieces if piece]
            yield {"type": "text", "text": ""}, deltas
        for name, arguments in says.calls:
            raw = arguments if isinstance(arguments, str) else json.dumps(dict(arguments))
            block = {"type": "tool_use", "id": f"toolu_{next(self._ids):04d}", "name": name}
            pieces = [raw[:3], raw[3:]]
            deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
            yield {**block, "input": {}}, deltas


def _frame(type: str, **data: Any) -> str:
    return f"event: {type}\ndata: {json.dumps({'type': type, **data})}\n\n"


def _breach_of_tools(body: Mapping[str, Any]) -> str | None:
    tools = body.get("tools") or []
    names = [tool["name"] for tool in tools]
    if len(names) != len(set(names)):
        return "tools: Tool names must be unique."
    output = (body.get("output_config") or {}).get("format") or {}
    schemas = [tool["input_schema"] for tool in tools if tool.get("strict")]
    for schema in [*schemas, *([output["schema"]] if output else [])]:
        for part in _objects(schema):
            if part.get("type") == "object" and part.get("additionalProperties") is not False:
                return "schema: additionalProperties must be false"
            if _RANGES & set(part):
                return f"schema: {sorted(_RANGES & set(part))[0]} is not supported"
    return None


def _objects(schema: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(schema, Mapping):
        yield schema
        for value in schema.values():
            yield from _objects(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _objects(value)


def _breach_of_marks(body: Mapping[str, Any]) -> str | None:
    blocks = [*(body.get("tools") or []), *(body.get("system") or [])]
    for message in body["messages"]:
        blocks += message["content"] if isinstance(message["content"], list) else []
    marked = [block for block in blocks if "cache_control" in block]
    if len(marked) > _MOST_MARKS:
        return f"A maximum of {_MOST_MARKS} blocks with cache_control may be provided."
    if any(block.get("type") == "thinking" for block in marked):
        return "cache_control cannot be set for thinking blocks"
    return None


def _breach_of_turns(messages: list[dict[str, Any]]) -> str | None:
    if not messages or messages[0]["role"] != "user":
        return "messages: first message must use the user role"
    waiting: list[str] = []
    for index, message in enumerate(messages):
        blocks = message["content"]
        if not blocks:
            return f"messages.{index}: content must not be empty"
        if any(block["type"] == "text" and not block["text"].strip() for block in blocks):
            return "messages: text content blocks must be non-empty"
        answered = [b["tool_use_id"] for b in blocks if b["type"] == "tool_result"]
        if answered != waiting:
            return (
                f"messages.{index}: tool_use ids were found without tool_result blocks immediately "
                f"after: {sorted(set(waiting) ^ set(answered))}"
            )
        if any(b["type"] == "tool_result" for b in blocks[len(answered) :]):
            return f"messages.{index}: tool_result blocks must come first"
        waiting = [b["id"] for b in blocks if b["type"] == "tool_use"]
    return f"messages: no results for {waiting}" if waiting else None
