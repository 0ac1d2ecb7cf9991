"""The Messages API: a request into its body. Pure; version 2026-10-21.

The beginning of the body (tools, system) is equal for every turn and ticket of a desk, so the
vendor's cache serves it; what changes stands behind the customer's words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from pydantic import BaseModel

from agents.adapters.vendors.house import RoleModel
from agents.adapters.vendors.pairs import for_model, index_of_words, paired
from agents.adapters.vendors.schemas import slim
from agents.context import render_context
from dsupport.contract.llm import (
    CallPart,
    ChatMessage,
    ModelRequest,
    Opaque,
    Part,
    ResultPart,
    Text,
)
from dsupport.contract.tools import ToolSpec

# Five minutes is what the vendor keeps a marked beginning; at most four marks are allowed.
_MARK = {"type": "ephemeral"}


def build_body(request: ModelRequest, role: RoleModel) -> dict[str, Any]:
    """Return the arguments of `messages.create` for a request. No tool is ever forced."""
    body: dict[str, Any] = {
        "model": role.model,
        "max_tokens": request.max_output_tokens + role.thinking_room,
        "messages": _messages(request, role.model),
    }
    if request.system:
        body["system"] = [{"type": "text", "text": request.system, "cache_control": _MARK}]
    if request.tools:
        body["tools"] = _tools(request.tools)
    output = _output(request.schema, role.effort)
    if output:
        body["output_config"] = output
    return body


def _messages(request: ModelRequest, model: str) -> list[dict[str, Any]]:
    seen = [replace(m, parts=for_model(m.parts, model)) for m in request.messages]
    history = paired(seen)
    words = index_of_words(history)
    messages: list[dict[str, Any]] = [
        {"role": message.role, "content": _content(message, request, last=index == words)}
        for index, message in enumerate(history)
    ]
    if messages[-1]["role"] == "user":
        # The talk up to here is asked about again after every tool call.
        messages[-1]["content"][-1]["cache_control"] = _MARK
    return messages


def _content(message: ChatMessage, request: ModelRequest, *, last: bool) -> list[dict[str, Any]]:
    blocks = [_block(part) for part in message.parts]
    if last and request.context:
        blocks.append({"type": "text", "text": render_context(request.context)})
    return blocks


def _block(part: Part) -> dict[str, Any]:
    match part:
        case Text():
            return {"type": "text", "text": part.text}
        case CallPart():
            call = part.call
            return {
                "type": "tool_use",
                "id": call.id,
                "name": call.name,
                "input": dict(call.arguments),
            }
        case ResultPart():
            return {
                "type": "tool_result",
                "tool_use_id": part.call_id,
                "content": part.content,
                "is_error": part.is_error,
            }
        case Opaque():
            return dict(part.data)


def _tools(specs: Sequence[ToolSpec]) -> list[dict[str, Any]]:
    tools = [
        {
            "name": spec.name,
            "description": spec.description,
            "input_schema": acceptable(spec.arguments),
            "strict": True,
        }
        for spec in specs
    ]
    tools[-1] = {**tools[-1], "cache_control": _MARK}
    return tools


def _output(schema: type[BaseModel] | None, effort: str) -> dict[str, Any]:
    output: dict[str, Any] = {"effort": effort} if effort else {}
    if schema is not None:
        output["format"] = {"type": "json_schema", "schema": acceptable(schema)}
    return output


@cache
def acceptable(schema: type[BaseModel]) -> dict[str, Any]:
    """Return a schema that the vendor compiles; ranges move into descriptions, so code checks."""
    import anthropic

    short: dict[str, Any] = slim(anthropic.transform_schema(schema))
    return short
