"""The chain against its own owner: refused while triggers stand, found out when they do not."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from django.db import DatabaseError, connections

from approvals.services import verify
from tests import databases
from tests.approvals.conftest import note_thing, run_sql

_TABLES = ("approvals_auditentry", "approvals_audithead")


@pytest.fixture(scope="module")
def chained(django_db_setup: None, django_db_blocker: pytest.FixtureRequest) -> Iterator[list[int]]:
    """Give the ids of five committed entries of shop 1, with chains of others around them."""
    with django_db_blocker.unblock():
        name = databases.create_database(databases.empty_template())
        with databases.connected_to(name):
            ids = [note_thing(number=number).pk for number in range(5)]
            note_thing(None), note_thing(3)
            for table in _TABLES:
                run_sql("owner", f"CREATE TABLE kept_{table} AS TABLE {table}")
            yield ids
            connections.close_all()
        databases.drop_database(name)


@pytest.fixture
def chain(chained: list[int]) -> Iterator[list[int]]:
    """Give the chain untouched, whatever the test before has done to it."""
    assert verify().ok
    yield chained
    as_owner(*(f"DELETE FROM {table}" for table in _TABLES))
    as_owner(*(f"INSERT INTO {table} TABLE kept_{table}" for table in _TABLES))


def as_owner(*statements: str) -> None:
    """Change the tables as their owner can: by taking the triggers away first."""
    run_sql("owner", "ALTER TABLE approvals_auditentry DISABLE TRIGGER ALL")
    run_sql("owner", "ALTER TABLE approvals_audithead DISABLE TRIGGER ALL")
    for statement in statements:
        run_sql("owner", statement)
    run_sql("owner", "ALTER TABLE approvals_auditentry ENABLE TRIGGER ALL")
    run_sql("owner", "ALTER TABLE approvals_audithead ENABLE TRIGGER ALL")


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE approvals_auditentry SET actor = 'staff:bob'",
        "UPDATE approvals_auditentry SET actor = 'staff:bob' WHERE false",
        "DELETE FROM approvals_auditentry",
        "TRUNCATE approvals_auditentry",
        "DELETE FROM approvals_audithead",
        "TRUNCATE approvals_audithead",
    ],
)
def test_owner_is_refused_while_the_trigger_stands(chain, statement):
    with pytest.raises(DatabaseError, match="never changed or removed"):
        run_sql("owner", statement)
    assert verify().ok


TAMPERED: list[tuple[str, Callable[[list[int]], str], int | None, int, str]] = [
    (
        "a field changed",
        lambda ids: f"UPDATE approvals_auditentry SET actor = 'staff:bob' WHERE id = {ids[1]}",
        1,
        2,
        "the entry was changed",
    ),
    (
        "the detail changed",
        lambda ids: f"UPDATE approvals_auditentry SET detail = '{{}}' WHERE id = {ids[4]}",
        4,
        5,
        "the entry was changed",
    ),
    (
        "the time of recording changed",
        lambda ids: (
            "UPDATE approvals_auditentry SET recorded_at = recorded_at - interval '1 day' "
            f"WHERE id = {ids[0]}"
        ),
        0,
        1,
        "the entry was changed",
    ),
    (
        "moved to another shop",
        lambda ids: f"UPDATE approvals_auditentry SET tenant_id = 2 WHERE id = {ids[4]}",
        None,
        5,
        "the tail was cut: 1 missing at the end",
    ),
    (
        "one in the middle removed",
        lambda ids: f"DELETE FROM approvals_auditentry WHERE id = {ids[2]}",
        None,
        3,
        "entries are missing before number 4",
    ),
    (
        "the first removed",
        lambda ids: f"DELETE FROM approvals_auditentry WHERE id = {ids[0]}",
        None,
        1,
        "entries are missing before number 2",
    ),
    (
        "the tail cut",
        lambda ids: f"DELETE FROM approvals_auditentry WHERE id BETWEEN {ids[3]} AND {ids[4]}",
        None,
        4,
        "the tail was cut: 2 missing at the end",
    ),
    (
        "everything removed",
        lambda _ids: "DELETE FROM approvals_auditentry WHERE tenant_id = 1",
        None,
        1,
        "the tail was cut: 5 missing at the end",
    ),
    (
        "two swapped",
        lambda ids: (
            f"UPDATE approvals_auditentry SET seq = seq + 100 WHERE id = {ids[1]}; "
            f"UPDATE approvals_auditentry SET seq = 2 WHERE id = {ids[2]}; "
            f"UPDATE approvals_auditentry SET seq = 3 WHERE id = {ids[1]}"
        ),
        2,
        2,
        "the entry was changed",
    ),
    (
        "the head set back with the tail cut",
        lambda ids: (
            f"DELETE FROM approvals_auditentry WHERE id = {ids[4]}; "
            "UPDATE approvals_audithead SET count = 4 WHERE chain = 1"
        ),
        3,
        4,
        "the last entry is not the one the head knows",
    ),
    (
        "the head removed",
        lambda _ids: "DELETE FROM approvals_audithead WHERE chain = 1",
        4,
        5,
        "the chain has no head",
    ),
]


@pytest.mark.parametrize(
    ("what", "statement", "index", "seq", "problem"), TAMPERED, ids=[row[0] for row in TAMPERED]
)
def test_verify_tampering_by_the_owner_is_named(chain, what, statement, index, seq, problem):
    ids = chain
    as_owner(statement(ids))
    found = verify()
    bad = found.first_bad
    assert bad is not None
    assert (bad.tenant_id, bad.seq, bad.problem) == (1, seq, problem)
    assert bad.id == (None if index is None else ids[index])


def test_verify_row_rewritten_with_its_hash_is_named(chain):
    second = chain[1]
    as_owner(
        "UPDATE approvals_auditentry SET actor = 'staff:bob', hash = approvals_audit_digest("
        "tenant_id, seq, at, recorded_at, kind, 'staff:bob', subject, detail, prev_hash) "
        f"WHERE id = {second}"
    )
    bad = verify().first_bad
    assert bad is not None
    assert (bad.id, bad.seq) == (second, 2)
    assert bad.problem == "the entry was rewritten after the next one"
