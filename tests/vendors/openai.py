"""Chat completions on this machine, with the rules that a caller can break."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping
from typing import Any

from tests.vendors.script import Fault, Says
from tests.vendors.wire import FakeVendor

_STOPS = {
    "end": "stop",
    "calls": "tool_calls",
    "length": "length",
    "refusal": "content_filter",
    "pause": "stop",
    "context": "length",
    "unknown": "brand_new_reason",
}


class FakeOpenAI(FakeVendor):
    """`calls_are_text` plays a small local model: its calls are JSON steps in the text."""

    path = "/v1/chat/completions"
    calls_are_text = False
    _ids = itertools.count(1)

    def breach_of(self, body: Mapping[str, Any], headers: Mapping[str, str]) -> str | None:
        if not headers.get("authorization", "").startswith("Bearer "):
            return "You didn't provide an API key."
        if "tool_choice" in body:
            return "tool_choice: this server ignores it, so nothing may rest on it"
        waiting: list[str] = []
        for index, message in enumerate(body["messages"]):
            if message["role"] == "tool":
                if not waiting or message["tool_call_id"] != waiting.pop(0):
                    return f"messages.{index}: a tool message must follow its call"
                continue
            if waiting:
                return f"messages.{index}: calls without results: {waiting}"
            calls = message.get("tool_calls") or []
            for call in calls:
                json.loads(call["function"]["arguments"])
            waiting = [call["id"] for call in calls]
            if not calls and not (message.get("content") or "").strip():
                return f"messages.{index}: content must not be empty"
        return f"calls without results: {waiting}" if waiting else None

    def events(self, says: Says, body: Mapping[str, Any]) -> Iterator[str]:
        yield self._chunk_of({"role": "assistant", "content": ""}, says, body)
        text, calls = says.text, list(says.calls)
        if self.calls_are_text:
            text, calls = _as_step(says, body), []
        half = len(text) // 2
        for piece in filter(None, (text[:half], text[half:])):
            yield self._chunk_of({"content": piece}, says, body)
        for index, (name, arguments) in enumerate(calls):
            raw = arguments if isinstance(arguments, str) else json.dumps(dict(arguments))
            function = {"name": name, "arguments": raw[:3]}
            first = {"index": index, "id": f"call_{next(self._ids)}", "type": "function"}
            yield self._chunk_of({"tool_calls": [{**first, "function": function}]}, says, body)
            rest = {"index": index, "function": {"arguments": raw[3:]}}
            yield self._chunk_of({"tool_calls": [rest]}, says, body)
        ending = "end" if self.calls_are_text and says.ending == "calls" else says.ending
        yield self._chunk_of({}, says, body, finish=_STOPS[ending])
        usage = {
            "prompt_tokens": says.prompt_tokens,
            "completion_tokens": says.output_tokens,
            "prompt_tokens_details": {"cached_tokens": says.cached_tokens},
        }
        yield _frame({**self._head(says, body), "choices": [], "usage": usage})
        yield "data: [DONE]\n\n"

    def beginning(self, text: str, body: Mapping[str, Any]) -> Iterator[str]:
        yield self._chunk_of({"role": "assistant", "content": text}, Says(text), body)

    def error_event(self, kind: str) -> str:
        return _frame({"error": {"message": kind, "type": f"{kind}_error", "code": None}})

    def error_body(self, fault: Fault) -> dict[str, Any]:
        return {"error": {"message": fault.message, "type": fault.kind, "code": fault.kind or None}}

    def _head(self, says: Says, body: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": says.model or body["model"],
        }

    def _chunk_of(
        self, delta: dict[str, Any], says: Says, body: Mapping[str, Any], finish: str | None = None
    ) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return _frame({**self._head(says, body), "choices": [choice]})


class FakeLocal(FakeOpenAI):
    """A small model behind a server that compiles schemas into grammars."""

    calls_are_text = True


def _as_step(says: Says, body: Mapping[str, Any]) -> str:
    if says.calls:
        name, arguments = says.calls[0]
        step = {"step": "call", "tool": name}
        if isinstance(arguments, str):
            return f'{json.dumps(step)[:-1]}, "arguments": {arguments}}}'
        return json.dumps({**step, "arguments": dict(arguments)})
    wanted = (body.get("response_format") or {}).get("json_schema", {}).get("name")
    if wanted == "next_step" and says.text.startswith("{"):
        return json.dumps({"step": "answer", "form": json.loads(says.text)})
    return says.text


def _frame(data: Mapping[str, Any]) -> str:
    return f"data: {json.dumps(data)}\n\n"
