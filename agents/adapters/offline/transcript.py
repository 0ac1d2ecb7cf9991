"""A model request, read: what is asked now, what was said before, what the tools answered."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from agents.context import LOOKED_UP
from dsupport.contract.llm import CallPart, ChatMessage, ModelRequest, ResultPart, Text
from dsupport.contract.tools import ToolCall

REFUSED = "Your draft was refused:"
_NOTE = re.compile(
    r"^\[(?:staff|system|earlier in this talk|the customer opened the chat|no answer was given)\]"
)
FINDINGS = "findings"


@dataclass(frozen=True, slots=True)
class Line:
    """One earlier message. `author` is customer, assistant or note."""

    author: str
    text: str


@dataclass(frozen=True, slots=True)
class Result:
    """A call of this run with what came back."""

    tool: str
    arguments: Mapping[str, Any]
    data: Any
    is_error: bool = False

    @property
    def error(self) -> str:
        """Return the code of an error, else nothing."""
        return str(self.data.get("error", "error")) if self.is_error and _is_map(self.data) else ""

    @property
    def category(self) -> str:
        return str(self.data.get("category", "")) if _is_map(self.data) else ""


@dataclass(frozen=True)
class Turn:
    """Everything a request says, in a form that rules can read.

    `results` holds the calls in their order, with the findings of specialists unpacked in place
    of the reports that carried them. `asked` are the calls exactly as they were made.
    """

    words: tuple[str, ...]
    history: tuple[Line, ...]
    results: tuple[Result, ...]
    asked: tuple[ToolCall, ...]
    reports: tuple[str, ...]
    refusals: tuple[str, ...]
    tools: frozenset[str]
    context: Mapping[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        return "\n".join(self.words)

    @property
    def today(self) -> date:
        try:
            return date.fromisoformat(str(self.context.get("today", "")))
        except ValueError:
            return date(1970, 1, 1)  # no clock of our own: without a date nothing is relative

    @property
    def asker(self) -> str:
        return str(self.context.get("asker", "anonymous"))

    @property
    def is_known(self) -> bool:
        return self.asker in {"signed_in", "guest_with_order"}

    @property
    def proved_orders(self) -> tuple[str, ...]:
        return tuple(str(number) for number in self.context.get("proved_orders") or ())

    @property
    def last_answer(self) -> str:
        """Return what the assistant said last."""
        said = [line.text for line in self.history if line.author == "assistant"]
        return said[-1] if said else ""


def read_request(request: ModelRequest) -> Turn:
    """Take a request apart. The current words are the last text of the user that is no refusal."""
    current = _current(request.messages)
    before, after = request.messages[:current], request.messages[current + 1 :]
    words = _texts(request.messages[current]) if current >= 0 else ()
    calls, results = _read_calls(after)
    findings, reports = _unpack(results)
    return Turn(
        words=tuple(w for w in words if w.strip() and not w.startswith(LOOKED_UP)),
        history=tuple(_read_history(before)),
        results=tuple(findings),
        asked=tuple(calls),
        reports=tuple(reports),
        refusals=tuple(
            text for message in after for text in _texts(message) if _is_refusal(message, text)
        ),
        tools=frozenset(spec.name for spec in request.tools),
        context=request.context,
    )


def _current(messages: Sequence[ChatMessage]) -> int:
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        texts = [text for text in _texts(message) if not text.startswith(REFUSED)]
        if message.role == "user" and texts:
            return index
    return -1


def _texts(message: ChatMessage) -> tuple[str, ...]:
    return tuple(part.text for part in message.parts if isinstance(part, Text))


def _is_refusal(message: ChatMessage, text: str) -> bool:
    return message.role == "user" and text.startswith(REFUSED)


def _read_history(messages: Sequence[ChatMessage]) -> Iterator[Line]:
    for message in messages:
        for text in _texts(message):
            if _NOTE.match(text):
                yield Line("note", text)
            elif message.role == "assistant":
                yield Line("assistant", _answer_text(text))
            elif not text.startswith(REFUSED):
                yield Line("customer", text)


def _answer_text(text: str) -> str:
    """Return the words of an answer, also when it stands there as the form it was handed in as."""
    if text.lstrip().startswith("{"):
        loaded = _load(text)
        if _is_map(loaded) and isinstance(loaded.get("answer"), str):
            return str(loaded["answer"])
    return text


def _read_calls(messages: Sequence[ChatMessage]) -> tuple[list[ToolCall], list[Result]]:
    calls: list[ToolCall] = []
    results: list[Result] = []
    open_calls: dict[str, ToolCall] = {}
    for message in messages:
        for part in message.parts:
            if isinstance(part, CallPart):
                calls.append(part.call)
                open_calls[part.call.id] = part.call
            elif isinstance(part, ResultPart):
                results.append(_result(part, open_calls.pop(part.call_id, None)))
    return calls, results


def _result(part: ResultPart, call: ToolCall | None) -> Result:
    loaded = _load(part.content)
    data = loaded.get("data", loaded) if _is_map(loaded) else loaded
    return Result(part.name, dict(call.arguments) if call else {}, data, part.is_error)


def _unpack(results: Sequence[Result]) -> tuple[list[Result], list[str]]:
    """Put the findings of a specialist in the place of its report; keep a report in prose."""
    findings: list[Result] = []
    reports: list[str] = []
    for result in results:
        report = result.data.get("report") if _is_map(result.data) else None
        if not isinstance(report, str):
            findings.append(result)
            continue
        loaded = _load(report)
        if _is_map(loaded) and isinstance(loaded.get(FINDINGS), list):
            findings += [_finding(item) for item in loaded[FINDINGS] if _is_map(item)]
        else:
            reports.append(report)
    return findings, reports


def _finding(item: Mapping[str, Any]) -> Result:
    arguments = item.get("arguments")
    return Result(
        tool=str(item.get("tool", "")),
        arguments=dict(arguments) if isinstance(arguments, Mapping) else {},
        data=item.get("data"),
        is_error=bool(item.get("is_error")),
    )


def _load(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _is_map(value: Any) -> bool:
    return isinstance(value, Mapping)
