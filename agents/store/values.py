"""What is written and read of a run, as plain values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from dsupport.contract.llm import Usage


@dataclass(frozen=True, slots=True)
class NewEvent:
    """An event before it has its place in the stream."""

    type: str
    data: dict[str, Any]
    at: datetime
    key: str = ""
    span: str = ""
    parent: str = ""
    agent: str = ""


@dataclass(frozen=True, slots=True)
class NewStep:
    """A finished step, with its result as JSON holds it."""

    place: str
    kind: str
    result: dict[str, Any]
    at: datetime


@dataclass(frozen=True, slots=True)
class NewAttempt:
    """An attempt at a vendor's model, for the cost ledger. `cost` in millionths of a dollar."""

    owner_key: str
    place: str
    provider: str
    role: str
    model: str
    code: str
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    cost: int
    ms: int
    at: datetime


@dataclass(frozen=True, slots=True)
class Pending:
    """What has happened in a run and is not written yet."""

    events: Sequence[NewEvent] = ()
    steps: Sequence[NewStep] = ()
    attempts: Sequence[NewAttempt] = ()

    def __bool__(self) -> bool:
        return bool(self.events or self.steps or self.attempts)


@dataclass(frozen=True, slots=True)
class Hold:
    """A worker's hold on a run: who, and at which attempt."""

    run_id: UUID
    owner: str
    attempt: int


@dataclass(frozen=True, slots=True)
class Written:
    """Whether the hold stood, the stream's last number, and whether somebody wants to cancel."""

    held: bool
    last_seq: int = 0
    cancel_asked: bool = False


@dataclass(frozen=True, slots=True)
class NewMessage:
    """The message that ends a run. `type` is the event whose place in the stream it takes."""

    id: UUID
    author: str
    text: str
    form: dict[str, Any] | None
    type: str


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run ends. Without `usage` what it consumed stays as it is."""

    status: str
    at: datetime
    ending: str = ""
    detail: str = ""
    usage: Usage | None = None
