"""Gathering a reply of the Messages API from the events of its stream. Pure.

Nothing of it counts before the stream has said why it stopped: a cut one is no reply.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from agents.adapters.vendors.calls import read_call
from agents.adapters.vendors.trouble import VendorError
from dsupport.contract.llm import (
    CallPart,
    ModelReply,
    Opaque,
    Part,
    StopReason,
    Text,
    Usage,
)
from dsupport.lib.prices import Price, Tokens, usage_of

_STOPS = {
    "tool_use": StopReason.TOOL_USE,
    "end_turn": StopReason.END_TURN,
    "stop_sequence": StopReason.END_TURN,
    "max_tokens": StopReason.MAX_TOKENS,
    "refusal": StopReason.REFUSAL,
    "pause_turn": StopReason.PAUSE,
    "model_context_window_exceeded": StopReason.CONTEXT_FULL,
}
# Where the pieces of a block's delta go.
_GROWING = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}


class Gathered:
    """A reply that is arriving. Events are mappings as on the wire; unknown ones are ignored."""

    def __init__(self, asked_model: str, prices: Mapping[str, Price]) -> None:
        self._asked = asked_model
        self._prices = prices
        self._model = asked_model
        self._blocks: dict[int, dict[str, Any]] = {}
        self._json: dict[int, str] = {}
        self._counted: dict[str, int] = {}
        self._stop: str | None = None
        self._began = False

    def take(self, event: Mapping[str, Any]) -> None:
        match event.get("type"):
            case "message_start":
                self._began = True
                self._model = event["message"].get("model") or self._asked
                self._count(event["message"].get("usage"))
            case "content_block_start":
                self._blocks[event["index"]] = dict(event["content_block"])
            case "content_block_delta":
                self._grow(event["index"], event["delta"])
            case "message_delta":
                self._stop = event["delta"].get("stop_reason") or self._stop
                self._count(event.get("usage"))

    @property
    def usage(self) -> Usage:
        """Return what was counted so far; an interrupted stream knows its input alone."""
        tokens = Tokens(
            input=self._counted.get("input_tokens", 0),
            output=self._counted.get("output_tokens", 0),
            cache_write=self._counted.get("cache_creation_input_tokens", 0),
            cache_read=self._counted.get("cache_read_input_tokens", 0),
        )
        return usage_of(tokens, self._model, self._prices)

    @property
    def began(self) -> bool:
        return self._began

    def reply(self) -> ModelReply:
        """Return the whole reply; `VendorError("cut")` when the stream ended before it did."""
        if self._stop is None:
            raise VendorError("cut", "The reply ended in the middle.", usage=self.usage)
        stop = _STOPS.get(self._stop, StopReason.UNKNOWN)
        parts = [self._part(index, block) for index, block in sorted(self._blocks.items())]
        if stop is not StopReason.TOOL_USE:
            # Calls of a reply that was cut off or refused look whole and are not.
            parts = [part for part in parts if not isinstance(part, CallPart)]
        return ModelReply(tuple(parts), stop, self.usage, self._model)

    def _grow(self, index: int, delta: Mapping[str, Any]) -> None:
        block = self._blocks.setdefault(index, {"type": "text", "text": ""})
        kind = str(delta.get("type"))
        if kind == "input_json_delta":
            self._json[index] = self._json.get(index, "") + str(delta.get("partial_json", ""))
        elif kind in _GROWING:
            field = _GROWING[kind]
            block[field] = str(block.get(field) or "") + str(delta.get(field, ""))

    def _part(self, index: int, block: dict[str, Any]) -> Part:
        if block["type"] == "text":
            return Text(str(block.get("text", "")))
        if block["type"] == "tool_use":
            return CallPart(read_call(block["id"], block["name"], self._raw(index, block)))
        return Opaque(self._asked, block)

    def _raw(self, index: int, block: Mapping[str, Any]) -> str:
        return self._json.get(index) or json.dumps(block.get("input") or {})

    def _count(self, usage: Mapping[str, Any] | None) -> None:
        counted = {k: v for k, v in (usage or {}).items() if isinstance(v, int)}
        self._counted.update(counted)
