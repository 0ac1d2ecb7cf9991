"""Pure decisions about conversations and runs."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from enum import StrEnum

from agents.errors import EmptyMessage, MessageTooLong, StopCause, UnreadableMessage
from dsupport.contract.llm import Usage

MAX_MESSAGE_LENGTH = 8_000
MAX_ATTEMPTS = 3


class RunStatus(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    COMPLETED = "completed"
    HANDED_OVER = "handed_over"
    FAILED = "failed"
    CANCELLED = "cancelled"


# From each state of a run to the states it may go to. `queued` after `running` is a worker that
# gave its run back; the ends have no way out.
TRANSITIONS: dict[RunStatus, frozenset[RunStatus]] = {
    RunStatus.QUEUED: frozenset({RunStatus.RUNNING, RunStatus.CANCELLED, RunStatus.FAILED}),
    RunStatus.RUNNING: frozenset(
        {
            RunStatus.QUEUED,
            RunStatus.RUNNING,  # taken over after the lease of a dead worker ran out
            RunStatus.COMPLETED,
            RunStatus.HANDED_OVER,
            RunStatus.FAILED,
            RunStatus.CANCELLED,
        }
    ),
    RunStatus.COMPLETED: frozenset(),
    RunStatus.HANDED_OVER: frozenset(),
    RunStatus.FAILED: frozenset(),
    RunStatus.CANCELLED: frozenset(),
}
ACTIVE = frozenset({RunStatus.QUEUED, RunStatus.RUNNING})


def can_become(old: RunStatus, new: RunStatus) -> bool:
    """Tell whether a run may go from one state to another."""
    return new in TRANSITIONS[old]


def check_message(text: object) -> str:
    """Return the customer's words ready to store, or raise the refusal that fits.

    Line ends become one kind and invisible control characters go; the words stay as typed.
    """
    if not isinstance(text, str):
        raise UnreadableMessage('The message is not text. Send {"text": "…"}.')
    if len(text) > MAX_MESSAGE_LENGTH:
        raise MessageTooLong(
            f"The message has {len(text):,} characters; {MAX_MESSAGE_LENGTH:,} is the most. "
            "Shorten it or send it in parts."
        )
    if "\x00" in text:
        raise UnreadableMessage("The message holds a null byte. Remove it and send it again.")
    if any(0xD800 <= ord(char) <= 0xDFFF for char in text):
        raise UnreadableMessage("The message holds broken characters. Type it again.")
    unified = text.replace("\r\n", "\n").replace("\r", "\n")
    kept = "".join(c for c in unified if c in "\n\t" or unicodedata.category(c) != "Cc").strip()
    visible = [c for c in kept if unicodedata.category(c) not in {"Cf", "Zs", "Zl", "Zp", "Mn"}]
    if not visible or all(c in "\n\t" for c in visible):
        raise EmptyMessage("The message is empty. Write what you need help with.")
    return kept


@dataclass(frozen=True, slots=True)
class Limits:
    """What one run may spend: turns of the model, seconds, tokens, millionths of a dollar."""

    turns: int = 24
    seconds: float = 90.0
    tokens: int = 200_000
    cost: int = 500_000


def find_overrun(limits: Limits, usage: Usage, elapsed: float) -> StopCause | None:
    """Return which limit a run has reached, or None while it is inside all of them."""
    if usage.model_calls >= limits.turns:
        return StopCause.TURNS
    if elapsed >= limits.seconds:
        return StopCause.TIME
    if usage.input_tokens + usage.output_tokens >= limits.tokens:
        return StopCause.TOKENS
    if usage.cost >= limits.cost:
        return StopCause.MONEY
    return None
