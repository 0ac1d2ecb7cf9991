"""Chat completions: a request into its body, for OpenAI and the many servers that speak it. Pure.

It never relies on `tool_choice`, which local servers ignore. Where a model calls tools badly, the
next step is asked for as JSON of one schema instead (see `union`).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from agents.adapters.vendors.house import RoleModel
from agents.adapters.vendors.openai_compatible import union
from agents.adapters.vendors.pairs import for_model, index_of_words, paired
from agents.adapters.vendors.schemas import slim
from agents.context import render_context
from dsupport.contract.llm import (
    CallPart,
    ChatMessage,
    ModelRequest,
    Opaque,
    ResultPart,
    Text,
)


def build_body(request: ModelRequest, role: RoleModel, *, next_as_schema: bool) -> dict[str, Any]:
    """Return the arguments of `chat.completions.create` for a request."""
    as_schema = next_as_schema and bool(request.tools)
    body: dict[str, Any] = {
        "model": role.model,
        "max_completion_tokens": request.max_output_tokens + role.thinking_room,
        "messages": [
            {"role": "system", "content": _system(request, as_schema=as_schema)},
            *_messages(request, role.model, as_schema=as_schema),
        ],
        "stream_options": {"include_usage": True},
    }
    if role.effort:
        body["reasoning_effort"] = role.effort
    if as_schema:
        body["response_format"] = _format("next_step", union.schema(request))
    elif request.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": spec.name,
                    "description": spec.description,
                    "parameters": slim(spec.schema()),
                },
            }
            for spec in request.tools
        ]
    elif request.schema is not None:
        body["response_format"] = _format("form", slim(request.schema.model_json_schema()))
    return body


def _format(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": name, "schema": schema, "strict": True}}


def _system(request: ModelRequest, *, as_schema: bool) -> str:
    """Return the prompt, with the form spelled out where no grammar can hold the model to it."""
    if as_schema:
        return f"{request.system}\n\n{union.explain(request.tools)}"
    if request.tools and request.schema is not None:
        schema = slim(request.schema.model_json_schema())
        form = json.dumps(schema, ensure_ascii=False, sort_keys=True)
        rule = "Your final answer is JSON of this schema and nothing else:"
        return f"{request.system}\n\n{rule}\n{form}"
    return request.system


def _messages(request: ModelRequest, model: str, *, as_schema: bool) -> list[dict[str, Any]]:
    seen = [replace(m, parts=for_model(m.parts, model)) for m in request.messages]
    history = paired(seen)
    words = index_of_words(history)
    messages: list[dict[str, Any]] = []
    for index, message in enumerate(history):
        context = render_context(request.context) if index == words and request.context else ""
        if message.role == "assistant":
            messages.append(union.said(message) if as_schema else _assistant(message))
        else:
            messages += _user(message, context, as_schema=as_schema)
    return messages


def _assistant(message: ChatMessage) -> dict[str, Any]:
    calls = [part.call for part in message.parts if isinstance(part, CallPart)]
    said: dict[str, Any] = {"role": "assistant", "content": message.text or None}
    for part in message.parts:
        if isinstance(part, Opaque):
            said.update(part.data)
    if calls:
        said["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {
                    "name": call.name,
                    # Broken text is not sent back: servers parse what they sent themselves.
                    "arguments": json.dumps(dict(call.arguments), ensure_ascii=False),
                },
            }
            for call in calls
        ]
    return said


def _user(message: ChatMessage, context: str, *, as_schema: bool) -> list[dict[str, Any]]:
    results = [part for part in message.parts if isinstance(part, ResultPart)]
    texts = [part.text for part in message.parts if isinstance(part, Text)]
    words = _joined([*texts, context])
    if as_schema:
        return [{"role": "user", "content": _joined([*map(union.told, results), words])}]
    told = [{"role": "tool", "tool_call_id": r.call_id, "content": r.content} for r in results]
    return [*told, {"role": "user", "content": words}] if words else told


def _joined(texts: Sequence[str]) -> str:
    return "\n\n".join(text for text in texts if text)
