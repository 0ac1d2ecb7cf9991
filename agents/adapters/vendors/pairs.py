"""A history that every vendor accepts: each call is answered in the very next message."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dsupport.contract.llm import CallPart, ChatMessage, Opaque, Part, ResultPart, Text

LOST = (
    '{"error": "result_lost", "message": "The result of this call was lost. Do not assume that it '
    'happened; look it up again or hand over."}'
)


def paired(messages: Sequence[ChatMessage]) -> tuple[ChatMessage, ...]:
    """Return the history with its pairs repaired and nothing empty in it.

    A call without a result (a crash between the two, a trimmed history) gets an error result; a
    result without a call is dropped. Results stand first in their message, in the order of the
    calls. Empty texts, and messages that hold nothing else, are left out.
    """
    repaired: list[ChatMessage] = []
    waiting: tuple[CallPart, ...] = ()
    for message in messages:
        if waiting and message.role != "user":
            repaired.append(ChatMessage("user", _answers(waiting, ())))
            waiting = ()
        parts = _readable(message.parts)
        if message.role == "user":
            given = [part for part in parts if isinstance(part, ResultPart)]
            others = tuple(part for part in parts if not isinstance(part, ResultPart))
            parts = (*_answers(waiting, given), *others)
            waiting = ()
        else:
            waiting = tuple(part for part in parts if isinstance(part, CallPart))
        if parts:
            repaired.append(replace(message, parts=parts))
    if waiting:
        repaired.append(ChatMessage("user", _answers(waiting, ())))
    return tuple(repaired)


def _answers(calls: Sequence[CallPart], given: Sequence[ResultPart]) -> tuple[ResultPart, ...]:
    by_id = {result.call_id: result for result in given}
    return tuple(
        by_id.get(part.call.id) or ResultPart(part.call.id, part.call.name, LOST, is_error=True)
        for part in calls
    )


def _readable(parts: Sequence[Part]) -> tuple[Part, ...]:
    return tuple(part for part in parts if not isinstance(part, Text) or part.text.strip())


def index_of_words(messages: Sequence[ChatMessage]) -> int:
    """Return where the customer's current words stand: the last user message with text.

    What changes from turn to turn is put there. It keeps its place while tools are called, so a
    cached beginning of the request stays equal. 0 when there is no such message.
    """
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        if message.role == "user" and any(isinstance(part, Text) for part in message.parts):
            return index
    return 0


def for_model(parts: Sequence[Part], model: str) -> tuple[Part, ...]:
    """Return the parts that a model may see: blocks of another model are dropped."""
    return tuple(part for part in parts if not isinstance(part, Opaque) or part.model == model)
