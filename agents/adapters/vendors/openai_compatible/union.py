"""The next step as JSON of one schema, for models that cannot call tools. Pure.

A step is `{"step": "call", "tool": …, "arguments": {…}}` or `{"step": "answer", "form": …}`;
servers that compile a schema into a grammar cannot produce anything else.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from dsupport.contract.llm import (
    CallPart,
    ChatMessage,
    ModelReply,
    ModelRequest,
    ResultPart,
    StopReason,
    Text,
)
from dsupport.contract.tools import ToolCall, ToolSpec


def schema(request: ModelRequest) -> dict[str, Any]:
    """Return the schema of a step: one branch for each tool, and one for the final answer."""
    branches = [_call_branch(spec) for spec in request.tools]
    definitions: dict[str, Any] = {}
    form: dict[str, Any] = {"type": "string"}
    if request.schema is not None:
        form = request.schema.model_json_schema()
        definitions |= form.pop("$defs", {})
    for branch in branches:
        definitions |= branch["properties"]["arguments"].pop("$defs", {})
    branches.append(_branch({"step": {"const": "answer"}, "form": form}))
    return {"anyOf": branches, **({"$defs": definitions} if definitions else {})}


def explain(tools: Sequence[ToolSpec]) -> str:
    """Return what the prompt says of the steps; the schema alone carries no descriptions."""
    lines = [f"- {spec.name}: {spec.description}" for spec in tools]
    head = (
        'Reply with one JSON object: {"step": "call", "tool": NAME, "arguments": {…}} to look '
        'something up or act, or {"step": "answer", "form": {…}} when you are done. The tools:'
    )
    return "\n".join([head, *lines])


def said(message: ChatMessage) -> dict[str, Any]:
    """Return an assistant's message as the steps it was."""
    steps = [
        json.dumps(
            {"step": "call", "tool": part.call.name, "arguments": dict(part.call.arguments)},
            ensure_ascii=False,
        )
        for part in message.parts
        if isinstance(part, CallPart)
    ]
    return {"role": "assistant", "content": "\n".join([*steps, message.text]).strip()}


def told(result: ResultPart) -> str:
    """Return a tool's result as the text of a user's message."""
    mark = "error" if result.is_error else "result"
    return f"[{mark} of {result.name}]\n{result.content}"


def read(reply: ModelReply, place: str) -> ModelReply:
    """Return a reply with its step read: a call to run, or the text of the form.

    What is no step is left as text, and the engine's own check of the form says what is wrong.
    `place` makes the call's id; it needs to be unique in a history only.
    """
    if reply.stop is not StopReason.END_TURN:
        return reply
    try:
        step = json.loads(reply.text)
    except ValueError:
        return reply
    if not isinstance(step, Mapping):
        return reply
    if step.get("step") == "call":
        return _called(reply, step, place)
    if step.get("step") == "answer":
        form = step.get("form")
        text = form if isinstance(form, str) else json.dumps(form, ensure_ascii=False)
        return ModelReply((Text(text),), StopReason.END_TURN, reply.usage, reply.model)
    return reply


def _called(reply: ModelReply, step: Mapping[str, Any], place: str) -> ModelReply:
    arguments = step.get("arguments")
    whole = isinstance(arguments, dict)
    call = ToolCall(
        id=f"call_{place}",
        name=str(step.get("tool", "")),
        arguments=arguments if isinstance(arguments, dict) else {},
        malformed="" if whole else json.dumps(arguments),
    )
    return ModelReply((CallPart(call),), StopReason.TOOL_USE, reply.usage, reply.model)


def _call_branch(spec: ToolSpec) -> dict[str, Any]:
    return _branch(
        {
            "step": {"const": "call"},
            "tool": {"const": spec.name},
            "arguments": dict(spec.schema()),
        }
    )


def _branch(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
