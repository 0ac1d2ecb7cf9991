"""The port to a language model: two calls, and values that any vendor can be translated to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from pydantic import BaseModel

from dsupport.contract.tools import ToolCall, ToolSpec


class StopReason(StrEnum):
    """Why the model stopped. Tools run on `TOOL_USE` alone; everything else has its own path."""

    TOOL_USE = "tool_use"
    END_TURN = "end_turn"
    MAX_TOKENS = "max_tokens"
    REFUSAL = "refusal"
    PAUSE = "pause"
    CONTEXT_FULL = "context_full"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Usage:
    """What calls consumed. `cost` is in millionths of a US dollar, so sums are exact."""

    model_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.model_calls + other.model_calls,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
            self.cost + other.cost,
        )


@dataclass(frozen=True, slots=True)
class Text:
    text: str


@dataclass(frozen=True, slots=True)
class CallPart:
    """A tool call as part of an assistant message."""

    call: ToolCall


@dataclass(frozen=True, slots=True)
class ResultPart:
    """The answer to a call; it stands in the user message right after the call."""

    call_id: str
    name: str
    content: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Opaque:
    """A vendor's block that must be echoed verbatim to the same model, or dropped."""

    model: str
    data: Mapping[str, Any]


Part = Text | CallPart | ResultPart | Opaque


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of the model's history. `role` is `user` or `assistant`."""

    role: str
    parts: tuple[Part, ...]

    @classmethod
    def user(cls, text: str) -> ChatMessage:
        return cls("user", (Text(text),))

    @classmethod
    def assistant(cls, text: str) -> ChatMessage:
        return cls("assistant", (Text(text),))

    @property
    def text(self) -> str:
        return "\n".join(part.text for part in self.parts if isinstance(part, Text))


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """Everything a model sees for one call.

    `role` names the agent (`solo`, `orchestrator`, `knowledge`, `orders`, `escalation`,
    `reviewer`) and selects the model by settings. `system` and `tools` form the cacheable
    prefix, so neither holds a clock, an id or anything of a tenant; what changes from turn to
    turn (today's date, who is asking) stands in `context`, which adapters put after the history.
    In `messages` the current words of the customer are the last user message that has `Text`
    parts, one part for each message sent. `schema`, when given with `next`, is the form that a
    final text must fill as JSON; with `structured` it is the form to fill. `deadline` is
    seconds left for the whole call.
    """

    role: str
    system: str
    messages: tuple[ChatMessage, ...]
    tools: tuple[ToolSpec, ...] = ()
    context: Mapping[str, Any] = field(default_factory=dict)
    schema: type[BaseModel] | None = None
    max_output_tokens: int = 2_000
    deadline: float = 60.0


@dataclass(frozen=True, slots=True)
class ModelReply:
    """One turn of the model. `model` is the name as the vendor answered it."""

    parts: tuple[Part, ...]
    stop: StopReason
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    notice: str = ""  # said in the trace, for example that the offline rules took over

    @property
    def text(self) -> str:
        return "\n".join(part.text for part in self.parts if isinstance(part, Text)).strip()

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        return tuple(part.call for part in self.parts if isinstance(part, CallPart))


class LLMClient(Protocol):
    """The port. Adapters raise `PortError` and nothing else for trouble on their side."""

    def next(self, request: ModelRequest) -> ModelReply:
        """Return the model's next turn: text, or tool calls with `StopReason.TOOL_USE`."""
        ...

    def structured(self, request: ModelRequest) -> ModelReply:
        """Return one reply whose text is meant to be JSON of `request.schema`.

        The caller validates: no adapter is trusted to have kept to the schema.
        """
        ...
