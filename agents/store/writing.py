"""Writing to a run: steps, events, the ledger and the end, each in one round trip."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields
from datetime import datetime
from functools import cache
from typing import Any, LiteralString
from uuid import UUID

from agents.store.statements import fetch_row
from agents.store.values import (
    Ending,
    Hold,
    NewAttempt,
    NewEvent,
    NewMessage,
    Pending,
    Written,
)

# Each piece names `bump`: the conversation with its stream's last number after these events.
_EVENTS = """events AS (
    INSERT INTO agents_event
        (conversation_id, seq, run_id, key, type, span, parent, agent, data, at)
    SELECT bump.conversation_id, bump.last_seq - %(count)s + item.ordinality, %(run)s::uuid,
           item.key, item.type, item.span, item.parent, item.agent, item.data, item.at
    FROM bump, ROWS FROM (jsonb_to_recordset(%(events)s::jsonb) AS
        (key text, type text, span text, parent text, agent text, data jsonb, at timestamptz))
        WITH ORDINALITY AS item (key, type, span, parent, agent, data, at, ordinality)
)"""
_STEPS = """steps AS (
    INSERT INTO agents_step (run_id, place, kind, result, attempt, at)
    SELECT %(run)s::uuid, item.place, item.kind, item.result, %(attempt)s, item.at
    FROM bump, jsonb_to_recordset(%(steps)s::jsonb) AS
        item (place text, kind text, result jsonb, at timestamptz)
    ON CONFLICT (run_id, place) DO NOTHING
)"""
# Not behind the fence: what was spent was spent, whoever holds the run now.
_ATTEMPTS = """attempts AS (
    INSERT INTO agents_modelattempt
        (tenant_id, run_id, owner_key, place, provider, role, model, code,
         input_tokens, output_tokens, cached_tokens, cost, ms, at)
    SELECT run.tenant_id, run.id, item.owner_key, item.place, item.provider, item.role,
           item.model, item.code, item.input_tokens, item.output_tokens, item.cached_tokens,
           item.cost, item.ms, item.at
    FROM agents_run AS run, jsonb_to_recordset(%(attempts)s::jsonb) AS item
         (owner_key text, place text, provider text, role text, model text, code text,
          input_tokens int, output_tokens int, cached_tokens int, cost bigint, ms int,
          at timestamptz)
    WHERE run.id = %(run)s
)"""
_MESSAGE = """said AS (
    INSERT INTO agents_message
        (id, conversation_id, run_id, author, name, text, form, client_id, seq, created_at)
    SELECT item.id, bump.conversation_id, %(run)s::uuid, item.author, '', item.text, item.form, '',
           bump.last_seq - %(count)s + item.place, %(now)s
    FROM bump, jsonb_to_recordset(%(message)s::jsonb) AS
        item (id uuid, author text, text text, form jsonb, place int)
)"""


@cache
def _statement(frame: LiteralString, pieces: tuple[LiteralString, ...]) -> LiteralString:
    """Return a statement with those of the pieces that have something to write.

    An empty one would cost a tenth of a millisecond.
    """
    return frame.replace("%(pieces)s", "".join(f", {piece}" for piece in pieces))


def _pieces(pending: Pending) -> tuple[LiteralString, ...]:
    pieces = ((pending.events, _EVENTS), (pending.steps, _STEPS), (pending.attempts, _ATTEMPTS))
    return tuple(piece for rows, piece in pieces if rows)


_WRITE = """
WITH fence AS (
    SELECT id, conversation_id, cancel_asked_at IS NOT NULL AS cancel_asked
    FROM agents_run
    WHERE id = %(run)s AND lease_owner = %(owner)s AND attempt = %(attempt)s AND status = 'running'
    FOR SHARE
), bump AS (
    UPDATE agents_conversation SET last_seq = last_seq + %(count)s
    FROM fence WHERE agents_conversation.id = fence.conversation_id
    RETURNING agents_conversation.id AS conversation_id, last_seq
)%(pieces)s
SELECT bump.last_seq, fence.cancel_asked FROM fence, bump
"""


def write(hold: Hold, pending: Pending) -> Written:
    """Append events and finished steps of a run, if the hold still stands.

    A statement of a worker that no longer holds the run writes nothing and says so. Attempts
    are booked in any case.
    """
    parameters = {
        **_pending(pending),
        "run": hold.run_id,
        "owner": hold.owner,
        "attempt": hold.attempt,
        "count": len(pending.events),
    }
    row = fetch_row(_statement(_WRITE, _pieces(pending)), parameters)
    return Written(False) if row is None else Written(True, row[0], row[1])


_APPEND = """
WITH bump AS (
    UPDATE agents_conversation SET last_seq = last_seq + %(count)s, updated_at = %(now)s
    WHERE id = %(conversation)s RETURNING id AS conversation_id, last_seq
)%(pieces)s
SELECT last_seq FROM bump
"""


def append(
    conversation_id: UUID, events: Sequence[NewEvent], *, run_id: UUID | None, now: datetime
) -> list[int]:
    """Append events to a conversation inside the caller's transaction; return their numbers."""
    parameters = {
        "conversation": conversation_id,
        "run": run_id,
        "count": len(events),
        "now": now,
        "events": _events(events),
    }
    row = fetch_row(_statement(_APPEND, (_EVENTS,)), parameters)
    last = int(row[0]) if row else 0
    return list(range(last - len(events) + 1, last + 1))


_NEWER_WORDS = """
SELECT EXISTS (SELECT 1 FROM agents_message
               WHERE conversation_id = %(conversation)s AND author = 'customer'
                     AND seq > %(upto)s)
"""


def has_newer_words(conversation_id: UUID, upto: int) -> bool:
    """Tell whether the customer has written more since; ask with the conversation locked."""
    row = fetch_row(_NEWER_WORDS, {"conversation": conversation_id, "upto": upto})
    return row is None or bool(row[0])


_FINISH = """
WITH bump AS (
    UPDATE agents_conversation SET last_seq = last_seq + %(count)s, updated_at = %(now)s
    WHERE id = %(conversation)s RETURNING id AS conversation_id, last_seq
), ended AS (
    UPDATE agents_run
    SET status = %(status)s, ending = %(ending)s, detail = %(detail)s, finished_at = %(now)s,
        lease_owner = '', lease_until = NULL, version = version + 1,
        model_calls = COALESCE(%(model_calls)s::int, model_calls),
        input_tokens = COALESCE(%(input_tokens)s::bigint, input_tokens),
        output_tokens = COALESCE(%(output_tokens)s::bigint, output_tokens),
        cost = COALESCE(%(cost)s::bigint, cost)
    WHERE id = %(run)s
)%(pieces)s
SELECT last_seq FROM bump
"""


def finish(
    run_id: UUID,
    conversation_id: UUID,
    ending: Ending,
    *,
    events: Sequence[NewEvent],
    message: NewMessage | None = None,
    pending: Pending = Pending(),  # noqa: B008  (a frozen value)
    attempt: int = 0,
) -> int:
    """End a run whose row and conversation the caller has locked; return the stream's last number.

    `events` come after those that were pending. The message takes the number of its event.
    """
    all_events = [*pending.events, *events]
    usage = ending.usage
    written = Pending(all_events, pending.steps, pending.attempts)
    pieces = (*_pieces(written), _MESSAGE) if message else _pieces(written)
    parameters = {
        **_pending(written),
        "run": run_id,
        "conversation": conversation_id,
        "attempt": attempt,
        "count": len(all_events),
        "now": ending.at,
        "message": _json([_message(message, all_events)] if message else []),
        "status": ending.status,
        "ending": ending.ending,
        "detail": ending.detail.replace("\x00", ""),
        "model_calls": usage.model_calls if usage else None,
        "input_tokens": usage.input_tokens if usage else None,
        "output_tokens": usage.output_tokens if usage else None,
        "cost": usage.cost if usage else None,
    }
    row = fetch_row(_statement(_FINISH, pieces), parameters)
    if row is None:
        raise LookupError(f"There is no conversation {conversation_id}.")
    return int(row[0])


def _message(message: NewMessage, events: Sequence[NewEvent]) -> dict[str, Any]:
    types = [event.type for event in events]
    place = len(types) - types[::-1].index(message.type)
    return {
        "id": message.id,
        "author": message.author,
        "text": message.text,
        "form": message.form,
        "place": place,
    }


def _pending(pending: Pending) -> dict[str, Any]:
    steps = [
        {"place": s.place, "kind": s.kind, "result": s.result, "at": s.at.isoformat()}
        for s in pending.steps
    ]
    return {
        "events": _events(pending.events),
        "steps": _json(steps),
        "attempts": _json([_fields(attempt) for attempt in pending.attempts]),
    }


_ATTEMPT_FIELDS = tuple(field.name for field in fields(NewAttempt))


def _fields(attempt: NewAttempt) -> dict[str, Any]:
    return {name: getattr(attempt, name) for name in _ATTEMPT_FIELDS}


def _events(events: Sequence[NewEvent]) -> str:
    return _json(
        [
            {
                "key": event.key,
                "type": event.type,
                "span": event.span,
                "parent": event.parent,
                "agent": event.agent,
                "data": event.data,
                "at": event.at.isoformat(),
            }
            for event in events
        ]
    )


def _json(value: Any) -> str:
    # PostgreSQL's jsonb holds no null character; it cannot be part of anything a person wrote.
    return json.dumps(value, ensure_ascii=False, default=str).replace("\\u0000", "")
