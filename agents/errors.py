"""Refusals of the chat and the endings of a run that are not an answer."""

from __future__ import annotations

from enum import StrEnum

from dsupport.contract.errors import Conflict, InvalidInput, LimitReached, NotFound


class EmptyMessage(InvalidInput):
    code = "empty_message"


class MessageTooLong(InvalidInput):
    code = "message_too_long"


class UnreadableMessage(InvalidInput):
    code = "unreadable_message"


class TooManyMessages(LimitReached):
    code = "too_many_messages"


class UnknownPosture(InvalidInput):
    code = "unknown_posture"


class ConversationNotFound(NotFound):
    code = "conversation_not_found"


class RunNotFound(NotFound):
    code = "run_not_found"


class RunOver(Conflict):
    code = "run_over"


class AssemblyRefused(ValueError):
    """A team that must not exist, such as an orchestrator that holds a data tool."""


class StopCause(StrEnum):
    """Why a run stopped without an answer. Each is a path of code, never the model's choice."""

    TURNS = "turns"
    TIME = "time"
    TOKENS = "tokens"
    MONEY = "money"
    CANCELLED = "cancelled"
    LOST = "lost"  # another worker holds the run now
    DRAINING = "draining"  # this process ends; another goes on with the run
    WAIT = "wait"  # the vendor asked for patience; the run goes on later
    REFUSAL = "refusal"
    TRUNCATED = "truncated"
    CONTEXT_FULL = "context_full"
    UNKNOWN_STOP = "unknown_stop"
    EMPTY_REPLY = "empty_reply"
    REPEATED_CALL = "repeated_call"
    CHECKS_FAILED = "checks_failed"
    MODEL_DOWN = "model_down"


class RunStopped(Exception):
    """End a run from inside the loop; the runner hands over, or lets go when it was cancelled."""

    def __init__(self, cause: StopCause, detail: str = "") -> None:
        super().__init__(f"{cause.value}: {detail}" if detail else cause.value)
        self.cause = cause
        self.detail = detail
