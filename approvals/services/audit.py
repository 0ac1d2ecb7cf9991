"""Writing to the audit chain, and proving that nobody has changed it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection, transaction

from approvals.evidence import clean, plain
from approvals.models import AuditEntry, AuditHead
from approvals.rules import GENESIS, EntryFacts, entry_hash
from dsupport.lib.canonical import canonical_json

_BATCH = 2_000
# One statement, so one moment: entries and heads are seen as they stood together. A head without
# entries and entries without a head both give rows.
_CHAIN = """
SELECT coalesce(entry.tenant_id, 0), head.chain, head.count, head.hash, entry.id,
       entry.tenant_id, entry.seq, entry.at, entry.recorded_at, entry.kind, entry.actor,
       entry.subject, entry.detail, entry.prev_hash, entry.hash
FROM approvals_auditentry AS entry
FULL JOIN approvals_audithead AS head ON head.chain = coalesce(entry.tenant_id, 0)
ORDER BY coalesce(head.chain, entry.tenant_id, 0), entry.seq, entry.id
"""


def record(
    *,
    tenant_id: int | None,
    kind: str,
    actor: str,
    subject: str,
    detail: Mapping[str, Any],
    now: datetime,
) -> AuditEntry:
    """Add an entry to a shop's chain (or the whole system's) and return it.

    Call it last in the transaction that does what it tells about: the chain's head stays locked
    until the commit. An entry that cannot be written takes that transaction with it.
    """
    if not connection.in_atomic_block:
        raise RuntimeError("an audit entry commits together with what it tells about")
    entry: AuditEntry = AuditEntry.objects.create(
        tenant_id=tenant_id,
        at=now,
        kind=kind,
        actor=clean(actor, 150),
        subject=clean(subject, 200),
        detail=canonical_json(plain(detail)),
    )
    return entry


@dataclass(frozen=True, slots=True)
class BadPlace:
    """Where a chain first does not hold. `id` is None when the row itself is missing."""

    tenant_id: int | None
    seq: int
    id: int | None
    problem: str

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "tenant": self.tenant_id,
            "seq": self.seq,
            "problem": self.problem,
        }


@dataclass(frozen=True, slots=True)
class Verification:
    """What checking the chains found."""

    entries: int
    first_bad: BadPlace | None

    @property
    def ok(self) -> bool:
        return self.first_bad is None


@dataclass(frozen=True, slots=True)
class _Row:
    """An entry with its chain's head, either of which may be missing."""

    chain: int
    head_count: int | None
    head_hash: str | None
    id: int | None
    facts: EntryFacts | None
    hash: str

    @classmethod
    def read(cls, row: tuple[Any, ...]) -> _Row:
        facts = None if row[4] is None else EntryFacts(*row[5:14])
        chain = row[0] if row[1] is None else row[1]
        return cls(chain, row[2], row[3], row[4], facts, row[14] or "")


def verify(*, progress: Callable[[int], None] | None = None) -> Verification:
    """Compute every hash again and compare it with the table, the chain and its head."""
    walk = _Walk()
    with closing(_rows()) as rows:
        for count, row in enumerate(rows, start=1):
            walk.step(row)
            if walk.bad is not None:
                break
            if progress is not None and count % _BATCH == 0:
                progress(count)
    walk.finish()
    return Verification(entries=walk.entries, first_bad=walk.bad)


def count_entries() -> int:
    """Return how many entries the heads count, without reading the entries."""
    return sum(AuditHead.objects.values_list("count", flat=True))


def _rows() -> Generator[_Row, None, None]:
    with transaction.atomic(), connection.chunked_cursor() as cursor:
        cursor.execute(_CHAIN)
        while batch := cursor.fetchmany(_BATCH):
            yield from map(_Row.read, batch)


class _Walk:
    """The state of walking along the chains, one after the other, each from its start."""

    def __init__(self) -> None:
        self.entries = 0
        self.bad: BadPlace | None = None
        self._last: _Row | None = None  # the row before, whose chain's end is still to be checked
        self._seq = 0
        self._hash = GENESIS
        self._id: int | None = None

    def step(self, row: _Row) -> None:
        if self._last is None or row.chain != self._last.chain:
            self.finish()
            self._seq, self._hash, self._id = 0, GENESIS, None
        if self.bad is None:
            self._last = row
            if row.facts is not None:
                self._check(row, row.facts)

    def finish(self) -> None:
        """Compare the end of a chain with its head, which is kept outside the table."""
        last = self._last
        if self.bad is not None or last is None:
            return
        if last.head_count is None:
            self._fail(last, self._seq, last.id, "the chain has no head")
        elif last.head_count > self._seq:
            missing = last.head_count - self._seq
            self._fail(last, self._seq + 1, None, f"the tail was cut: {missing} missing at the end")
        elif last.head_count < self._seq or last.head_hash != self._hash:
            self._fail(last, self._seq, last.id, "the last entry is not the one the head knows")

    def _check(self, row: _Row, facts: EntryFacts) -> None:
        self.entries += 1
        expected = self._seq + 1
        if facts.seq > expected:
            self._fail(row, expected, None, f"entries are missing before number {facts.seq}")
        elif facts.seq < expected:
            self._fail(row, facts.seq, row.id, "the place in the chain is taken twice")
        elif entry_hash(facts) != row.hash:
            self._fail(row, facts.seq, row.id, "the entry was changed")
        elif facts.prev_hash != self._hash:
            # This entry is whole and says what it was chained to, so the one before is another.
            self._fail(row, self._seq, self._id, "the entry was rewritten after the next one")
        else:
            self._seq, self._hash, self._id = facts.seq, row.hash, row.id

    def _fail(self, row: _Row, seq: int, entry_id: int | None, problem: str) -> None:
        self.bad = BadPlace(row.chain or None, seq, entry_id, problem)
