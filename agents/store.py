"""The statements a run writes with: one round trip for steps, events and the fence.

Raw SQL, because the object mapper costs several times the work here. A statement of a worker
that no longer holds the run writes nothing and says so.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection


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
), events AS (
    INSERT INTO agents_event
        (conversation_id, seq, run_id, key, type, span, parent, agent, data, at)
    SELECT bump.conversation_id, bump.last_seq - %(count)s + item.ordinality, %(run)s,
           item.key, item.type, item.span, item.parent, item.agent, item.data, item.at
    FROM bump, ROWS FROM (jsonb_to_recordset(%(events)s::jsonb) AS
        (key text, type text, span text, parent text, agent text, data jsonb, at timestamptz))
        WITH ORDINALITY AS item (key, type, span, parent, agent, data, at, ordinality)
), steps AS (
    INSERT INTO agents_step (run_id, place, kind, result, attempt, at)
    SELECT %(run)s, item.place, item.kind, item.result, %(attempt)s, item.at
    FROM fence, jsonb_to_recordset(%(steps)s::jsonb) AS
        item (place text, kind text, result jsonb, at timestamptz)
    ON CONFLICT (run_id, place) DO NOTHING
), attempts AS (
    -- Not behind the fence: what was spent was spent, whoever holds the run now.
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
)
SELECT bump.last_seq, fence.cancel_asked FROM fence, bump
"""


def write(
    hold: Hold,
    events: Sequence[NewEvent],
    steps: Sequence[NewStep],
    attempts: Sequence[NewAttempt] = (),
) -> Written:
    """Append events and finished steps of a run in one statement, if the hold still stands.

    Attempts are booked in any case.
    """
    parameters: dict[str, Any] = {
        "run": hold.run_id,
        "owner": hold.owner,
        "attempt": hold.attempt,
        "count": len(events),
        "events": _json([_event(event) for event in events]),
        "steps": _json(
            [
                {"place": s.place, "kind": s.kind, "result": s.result, "at": s.at.isoformat()}
                for s in steps
            ]
        ),
        "attempts": _json([asdict(attempt) for attempt in attempts]),
    }
    with connection.cursor() as cursor:
        cursor.execute(_WRITE, parameters)
        row = cursor.fetchone()
    return Written(False) if row is None else Written(True, row[0], row[1])


_APPEND = """
WITH bump AS (
    UPDATE agents_conversation SET last_seq = last_seq + %(count)s, updated_at = %(now)s
    WHERE id = %(conversation)s RETURNING last_seq
)
INSERT INTO agents_event (conversation_id, seq, run_id, key, type, span, parent, agent, data, at)
SELECT %(conversation)s, bump.last_seq - %(count)s + item.ordinality, %(run)s,
       item.key, item.type, item.span, item.parent, item.agent, item.data, item.at
FROM bump, ROWS FROM (jsonb_to_recordset(%(events)s::jsonb) AS
    (key text, type text, span text, parent text, agent text, data jsonb, at timestamptz))
    WITH ORDINALITY AS item (key, type, span, parent, agent, data, at, ordinality)
RETURNING seq
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
        "events": _json([_event(event) for event in events]),
    }
    with connection.cursor() as cursor:
        cursor.execute(_APPEND, parameters)
        return sorted(row[0] for row in cursor.fetchall())


def _event(event: NewEvent) -> dict[str, Any]:
    return {
        "key": event.key,
        "type": event.type,
        "span": event.span,
        "parent": event.parent,
        "agent": event.agent,
        "data": event.data,
        "at": event.at.isoformat(),
    }


def _json(value: Any) -> str:
    # PostgreSQL's jsonb holds no null character; it cannot be part of anything a person wrote.
    return json.dumps(value, ensure_ascii=False, default=str).replace("\\u0000", "")
