"""Taking a run, reading what its worker needs, and locking it for its end."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from agents.rules import MAX_ATTEMPTS
from agents.store.statements import fetch_row
from agents.store.values import Hold

# Who may be taken is `Run.objects.claimable()` with attempts left; a test holds the two together.
# The version makes each claim's name its own: a hold from before is worth nothing, also when the
# same process takes the run again.
_CLAIM = """
WITH taken AS (
    UPDATE agents_run
    SET status = 'running', lease_owner = %(owner)s::text || '#' || version,
        lease_until = statement_timestamp() + make_interval(secs => %(seconds)s),
        attempt = attempt + 1, version = version + 1,
        started_at = COALESCE(started_at, %(now)s)
    WHERE id = %(run)s AND attempt < %(most)s AND (
        (status = 'queued' AND (not_before IS NULL OR not_before <= statement_timestamp()))
        OR (status = 'running' AND lease_until < statement_timestamp()))
    RETURNING conversation_id, lease_owner, attempt
), said AS (
    SELECT 1 FROM agents_event WHERE run_id = %(run)s AND key = %(key)s
), bump AS (
    UPDATE agents_conversation SET last_seq = last_seq + 1 FROM taken
    WHERE agents_conversation.id = taken.conversation_id AND NOT EXISTS (SELECT 1 FROM said)
    RETURNING agents_conversation.id AS conversation_id, last_seq
), started AS (
    INSERT INTO agents_event
        (conversation_id, seq, run_id, key, type, span, parent, agent, data, at)
    SELECT conversation_id, last_seq, %(run)s, %(key)s, 'run.started', %(span)s, '', 'desk',
           %(data)s::jsonb, %(now)s
    FROM bump
)
SELECT taken.lease_owner, taken.attempt FROM taken
"""


def claim(
    run_id: UUID, owner: str, *, seconds: float, text: str, span: str, now: datetime
) -> Hold | None:
    """Take a run by one conditional update; None when somebody else has it or it is over.

    The stream says so with `text`, the first time. The lease runs `seconds` by the database's
    clock; `now` is the shop's.
    """
    parameters: dict[str, Any] = {
        "run": run_id,
        "owner": owner,
        "seconds": seconds,
        "most": MAX_ATTEMPTS,
        "key": "run|run.started",
        "span": span,
        "data": json.dumps({"text": text}),
        "now": now,
    }
    row = fetch_row(_CLAIM, parameters)
    return None if row is None else Hold(run_id, row[0], row[1])


@dataclass(frozen=True, slots=True)
class Uttered:
    """Something said in a conversation, with who was asking as the server knew it then."""

    author: str
    text: str
    seq: int
    ticket: str
    principal: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class Shop:
    """What a run needs of its shop: its name and its hours (as in `Tenant`)."""

    name: str
    zone: ZoneInfo
    opening_hours: Mapping[str, Any]
    holidays: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Briefing:
    """All that a worker reads when it takes a run. `said` are the keys of events of it."""

    run_id: UUID
    tenant_id: int
    conversation_id: UUID
    provider: str
    architecture: str
    waits: int
    cancel_asked: bool
    shop: Shop
    messages: Sequence[Uttered]
    steps: Mapping[str, Any]
    said: Sequence[str]
    last_seq: int


_BRIEFING = """
SELECT run.tenant_id, run.conversation_id, run.provider, run.architecture, run.waits,
       run.cancel_asked_at IS NOT NULL,
       shop.name, shop.timezone, shop.opening_hours, shop.holidays,
       (SELECT COALESCE(jsonb_agg(jsonb_build_array(
            author, text, seq, COALESCE(form ->> 'ticket_id', ''), principal) ORDER BY seq), '[]')
        FROM agents_message WHERE conversation_id = run.conversation_id),
       (SELECT COALESCE(jsonb_object_agg(place, result), '{}')
        FROM agents_step WHERE run_id = run.id),
       (SELECT COALESCE(jsonb_agg(key), '[]') FROM agents_event WHERE run_id = run.id),
       (SELECT last_seq FROM agents_conversation WHERE id = run.conversation_id)
FROM agents_run AS run JOIN dsupport_tenant AS shop ON shop.id = run.tenant_id
WHERE run.id = %(run)s
"""


def read_briefing(run_id: UUID) -> Briefing:
    """Read what a run is about and what has been done of it; for the worker that holds it."""
    row = fetch_row(_BRIEFING, {"run": run_id})
    if row is None:
        raise LookupError(f"There is no run {run_id}.")
    messages, steps, said = (json.loads(text) for text in row[10:13])
    return Briefing(
        run_id=run_id,
        tenant_id=row[0],
        conversation_id=row[1],
        provider=row[2],
        architecture=row[3],
        waits=row[4],
        cancel_asked=row[5],
        shop=Shop(row[6], ZoneInfo(row[7]), json.loads(row[8]), json.loads(row[9])),
        messages=[Uttered(*fields) for fields in messages],
        steps=steps,
        said=said,
        last_seq=row[13],
    )


@dataclass(frozen=True, slots=True)
class Locked:
    """A run and its conversation under lock: what may have changed since they were read."""

    conversation_id: UUID
    cancel_asked: bool
    posture: str


_LOCK = """
SELECT run.conversation_id, run.cancel_asked_at IS NOT NULL, talk.posture
FROM agents_run AS run JOIN agents_conversation AS talk ON talk.id = run.conversation_id
WHERE run.id = %(run)s AND run.lease_owner = %(owner)s AND run.attempt = %(attempt)s
  AND run.status = 'running'
FOR NO KEY UPDATE OF run, talk
"""


def lock_run(hold: Hold) -> Locked | None:
    """Lock a run and its conversation in the caller's transaction; None when the hold is lost.

    Not for their keys: a message that comes in holds the conversation and refers to the run.
    """
    parameters = {"run": hold.run_id, "owner": hold.owner, "attempt": hold.attempt}
    row = fetch_row(_LOCK, parameters)
    return None if row is None else Locked(*row)
