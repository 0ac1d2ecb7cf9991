"""A conversation as a run reads it: what was said, what is being asked, and by whom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agents.context import Said
from agents.models import Message
from agents.store import Uttered
from dsupport.contract.principal import Principal

_ANSWERERS = {Message.Author.ASSISTANT, Message.Author.STAFF}


@dataclass(frozen=True, slots=True)
class Talk:
    """What was said before, the words to answer, and the asker as of the newest of them.

    `upto` is the sequence number of the newest message of the customer that was read.
    """

    past: Sequence[Said]
    words: Sequence[str]
    earlier_words: Sequence[str]
    principal: Principal
    upto: int
    tickets: frozenset[str]


def as_talk(messages: Sequence[Uttered]) -> Talk:
    """Return a conversation as a run sees it: what the customer wrote since the last answer is
    what is being asked. At least one message is the customer's.
    """
    answered = max((m.seq for m in messages if m.author in _ANSWERERS), default=0)
    asked = [m for m in messages if m.author == Message.Author.CUSTOMER and m.seq > answered]
    if not asked:
        # Everything was answered by the time the run was taken: read the last words once more.
        asked = [m for m in messages if m.author == Message.Author.CUSTOMER][-1:]
    first = asked[0].seq
    before = [m for m in messages if m.seq < first]
    return Talk(
        past=[Said(m.author, m.text, m.ticket) for m in before],
        words=[m.text for m in asked],
        earlier_words=[m.text for m in before if m.author == Message.Author.CUSTOMER],
        principal=Principal.from_json(asked[-1].principal or {}),
        upto=asked[-1].seq,
        tickets=frozenset(m.ticket for m in messages if m.ticket),
    )
