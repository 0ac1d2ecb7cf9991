"""What a model may call, what it asked for and what code answered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict

from dsupport.contract.principal import Principal


class ToolArguments(BaseModel):
    """Base of every argument schema: strict types, no unknown and no identity arguments."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class ErrorCategory(StrEnum):
    """The closed set of reasons a tool call can fail for, as the model sees them."""

    INVALID_INPUT = "invalid_input"
    FORBIDDEN = "forbidden"
    NOT_FOUND = "not_found"
    CONFLICT = "conflict"
    UNAVAILABLE = "unavailable"
    LIMIT = "limit"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call as the model asked for it. `id` is the vendor's and only pairs call and result."""

    id: str
    name: str
    arguments: Mapping[str, Any]
    malformed: str = ""  # the raw text when the vendor's arguments were not valid JSON


@dataclass(frozen=True, slots=True)
class Source:
    """A passage that a search put before the model, citable in the answer of the same run."""

    doc_id: str
    title: str
    heading: str
    version: int
    score: float
    text: str


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What code answered. `data` is JSON-shaped and is all that the model may see.

    `sources` are passages that may be cited; `ticket` is the number of a ticket the call opened
    or found; `card` is what a customer is shown to confirm; `trust` says where the words came
    from: `shop` (facts from our tables), `article` (written by staff, still data) or `outside` (a
    carrier, a remote server).
    """

    data: Any
    is_error: bool = False
    category: ErrorCategory | None = None
    sources: tuple[Source, ...] = ()
    ticket: str = ""
    trust: str = "shop"
    truncated: bool = False
    card: Mapping[str, Any] | None = None

    @classmethod
    def error(cls, category: ErrorCategory, code: str, message: str) -> ToolResult:
        """Build an error result; `code` is precise (`missing_argument:email`), `message` helps."""
        return cls(
            data={"error": code, "category": category.value, "message": message},
            is_error=True,
            category=category,
        )


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What code hands to a tool beside the model's arguments.

    `key` is the call's place in the run: a repeated execution after a crash carries the same
    key, so an effect is applied once. `customer_words` is what is being answered, and
    `earlier_words` what the customer wrote before, oldest first. `evidence` is what the gate
    freezes with a proposal.
    """

    principal: Principal
    now: datetime
    key: str
    run_id: str = ""
    conversation_id: str = ""
    customer_words: tuple[str, ...] = ()
    earlier_words: tuple[str, ...] = ()
    evidence: Mapping[str, Any] = field(default_factory=dict)


ToolBody = Callable[[Any, ToolContext], ToolResult]


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A name, a description, an argument schema and the code behind them.

    `max_bytes` bounds the result's JSON; `timeout` (seconds) is how long the engine waits.
    `writes` marks a tool that goes through the gate; all others only read. `personal` marks one
    that reads the asker's own data, so it is refused while nobody is established. `progress`
    is the plain sentence a customer sees while it runs; `{name}` fields come from the arguments.
    """

    name: str
    description: str
    arguments: type[ToolArguments]
    body: ToolBody
    max_bytes: int = 16_000
    timeout: float = 10.0
    writes: bool = False
    personal: bool = False
    progress: str = "Working on it…"

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema offered to the model; it allows no additional properties."""
        return self.arguments.model_json_schema()
