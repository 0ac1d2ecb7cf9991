"""A model that says what a script tells it to, for tests, evaluation and demonstrations."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from typing import Any

from dsupport.contract.errors import PortError
from dsupport.contract.llm import (
    CallPart,
    ModelReply,
    ModelRequest,
    Part,
    StopReason,
    Text,
    Usage,
)
from dsupport.contract.tools import ToolCall

MODEL = "scripted/1"
Line = ModelReply | BaseException | Callable[[ModelRequest], ModelReply]


class ScriptedModel:
    """Gives the lines of its script in order, by role when the script is a mapping.

    A line is a reply, an exception to raise, or a function of the request. `requests` holds
    everything that was asked. A script that has run out is a `PortError`.
    """

    def __init__(self, script: Sequence[Line] | Mapping[str, Sequence[Line]] = ()) -> None:
        self._lines: dict[str, list[Line]] = (
            {role: list(lines) for role, lines in script.items()}
            if isinstance(script, Mapping)
            else {"": list(script)}
        )
        self.requests: list[ModelRequest] = []
        self._lock = Lock()

    def next(self, request: ModelRequest) -> ModelReply:
        return self._say(request)

    def structured(self, request: ModelRequest) -> ModelReply:
        return self._say(request)

    def _say(self, request: ModelRequest) -> ModelReply:
        with self._lock:
            self.requests.append(request)
            lines = self._lines.get(request.role, self._lines.get("", []))
            if not lines:
                raise PortError("The script has no more lines.", code="script_over")
            line = lines.pop(0)
        if isinstance(line, BaseException):
            raise line
        return line if isinstance(line, ModelReply) else line(request)


def says(text: str, *, stop: StopReason = StopReason.END_TURN) -> ModelReply:
    """Return a reply of plain text."""
    return ModelReply((Text(text),), stop, _usage(text), MODEL)


def fills(form: Mapping[str, Any]) -> ModelReply:
    """Return a reply whose text is a form as JSON."""
    return says(json.dumps(form))


def calls(
    *wanted: tuple[str, Mapping[str, Any]], stop: StopReason = StopReason.TOOL_USE
) -> ModelReply:
    """Return a reply that asks for tools; each item is a name and its arguments."""
    parts: tuple[Part, ...] = tuple(
        CallPart(ToolCall(f"call_{index}", name, dict(arguments)))
        for index, (name, arguments) in enumerate(wanted)
    )
    return ModelReply(parts, stop, _usage(str(wanted)), MODEL)


def _usage(text: str) -> Usage:
    return Usage(model_calls=1, input_tokens=0, output_tokens=max(1, len(text) // 4))
