"""Gathering a chat completion from its chunks. Pure.

Servers differ in how they end: some say `stop` beside tool calls, some send usage in a chunk of
its own, some never. A stream that has not said why it ended is no reply.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agents.adapters.vendors.calls import read_call
from agents.adapters.vendors.trouble import VendorError
from dsupport.contract.llm import CallPart, ModelReply, Part, StopReason, Text, Usage
from dsupport.contract.tools import ToolCall
from dsupport.lib.prices import Price, Tokens, usage_of

_STOPS = {
    "stop": StopReason.END_TURN,
    "tool_calls": StopReason.TOOL_USE,
    "function_call": StopReason.TOOL_USE,
    "length": StopReason.MAX_TOKENS,
    "content_filter": StopReason.REFUSAL,
}


class Gathered:
    """A completion that is arriving, by chunks as on the wire."""

    def __init__(self, asked_model: str, prices: Mapping[str, Price]) -> None:
        self._prices = prices
        self._model = asked_model
        self._text = ""
        self._refusal = ""
        self._calls: dict[int, dict[str, str]] = {}
        self._finish: str | None = None
        self._usage: Mapping[str, Any] = {}
        self.began = False

    def take(self, chunk: Mapping[str, Any]) -> None:
        self.began = True
        self._model = chunk.get("model") or self._model
        self._usage = chunk.get("usage") or self._usage
        for choice in (chunk.get("choices") or [])[:1]:
            delta = choice.get("delta") or {}
            self._text += delta.get("content") or ""
            self._refusal += delta.get("refusal") or ""
            for piece in delta.get("tool_calls") or []:
                self._grow(piece)
            self._finish = choice.get("finish_reason") or self._finish

    @property
    def usage(self) -> Usage:
        """Return what was counted. Here `prompt_tokens` includes what came from the cache."""
        details = self._usage.get("prompt_tokens_details") or {}
        cached = int(details.get("cached_tokens") or 0)
        tokens = Tokens(
            input=max(int(self._usage.get("prompt_tokens") or 0) - cached, 0),
            output=int(self._usage.get("completion_tokens") or 0),
            cache_read=cached,
        )
        return usage_of(tokens, self._model, self._prices)

    def reply(self) -> ModelReply:
        """Return the whole reply; `VendorError("cut")` when the stream ended before it did."""
        if self._finish is None:
            raise VendorError("cut", "The reply ended in the middle.", usage=self.usage)
        stop = StopReason.REFUSAL if self._refusal else self._stop(self._finish)
        parts: list[Part] = [Text(self._text)] if self._text else []
        if stop is StopReason.TOOL_USE:
            parts += [CallPart(self._call(index)) for index in sorted(self._calls)]
        return ModelReply(tuple(parts), stop, self.usage, self._model)

    def _stop(self, finish: str) -> StopReason:
        if finish == "stop" and self._calls:
            return StopReason.TOOL_USE
        return _STOPS.get(finish, StopReason.UNKNOWN)

    def _grow(self, piece: Mapping[str, Any]) -> None:
        index = int(piece.get("index") or 0)
        call = self._calls.setdefault(index, {"id": "", "name": "", "arguments": ""})
        function = piece.get("function") or {}
        call["id"] = call["id"] or str(piece.get("id") or "")
        call["name"] += function.get("name") or ""
        call["arguments"] += function.get("arguments") or ""

    def _call(self, index: int) -> ToolCall:
        call = self._calls[index]
        return read_call(call["id"] or f"call_{index}", call["name"], call["arguments"])
