"""The statements that a run lives by, in SQL of their own: the object mapper costs several times
the work here. What a statement is to hold together stands in one of them."""

from agents.store.reading import Briefing, Locked, Uttered, claim, lock_run, read_briefing
from agents.store.values import (
    Ending,
    Hold,
    NewAttempt,
    NewEvent,
    NewMessage,
    NewStep,
    Pending,
    Written,
)
from agents.store.writing import append, finish, has_newer_words, write

__all__ = [
    "Briefing",
    "Ending",
    "Hold",
    "Locked",
    "NewAttempt",
    "NewEvent",
    "NewMessage",
    "NewStep",
    "Pending",
    "Uttered",
    "Written",
    "append",
    "claim",
    "finish",
    "has_newer_words",
    "lock_run",
    "read_briefing",
    "write",
]
