"""The chain as the application uses it, and as the application's role attacks it in raw SQL."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import DatabaseError, connection, transaction

from approvals.models import AuditEntry, AuditHead
from approvals.rules import GENESIS
from approvals.services import record, verify
from tests.approvals.conftest import NOW, note_thing, run_sql


def test_record_returns_what_the_database_set(db):
    first, second = note_thing(a=1), note_thing(b="é")
    assert (first.seq, second.seq) == (1, 2)
    assert first.prev_hash == GENESIS
    assert second.prev_hash == first.hash
    assert AuditEntry.objects.get(pk=second.pk).hash == second.hash
    head = AuditHead.objects.get(pk=1)
    assert (head.count, head.hash) == (2, second.hash)


def test_record_each_shop_has_its_own_chain(db):
    note_thing(1), note_thing(2), note_thing(None), note_thing(None)
    assert [(e.tenant_id, e.seq) for e in AuditEntry.objects.order_by("id")] == [
        (1, 1),
        (2, 1),
        (None, 1),
        (None, 2),
    ]
    assert verify().ok
    assert verify().entries == 4


def test_record_outside_a_transaction_is_refused(committed_db):
    with pytest.raises(RuntimeError, match="commits together"):
        record(tenant_id=1, kind="a.b", actor="x", subject="", detail={}, now=NOW)


def test_record_odd_text_is_kept_readable(db):
    entry = note_thing(
        subject="thing:\x00" + "x" * 400, words="a\x00b", share=0.25, deep={"$a": [None]}
    )
    assert len(entry.subject) == 200
    assert json.loads(entry.detail) == {"words": "a\ufffdb", "share": "0.25", "deep": {"a": [None]}}
    assert verify().ok


def test_record_rolled_back_leaves_no_gap(db):
    note_thing()
    with transaction.atomic():
        note_thing()
        transaction.set_rollback(True)
    assert note_thing().seq == 2
    assert verify().ok


def test_record_insert_chooses_nothing_of_its_own(db):
    note_thing()
    run_sql(
        "default",
        "INSERT INTO approvals_auditentry (id, tenant_id, seq, at, recorded_at, kind, actor, "
        "subject, detail, prev_hash, hash) VALUES (1, 1, 99, %s, '2001-01-01', 'a.b', 'x', '', "
        "'{}', 'made up', 'made up') ON CONFLICT DO NOTHING",
        NOW,
    )
    assert verify().ok
    entry = AuditEntry.objects.get(seq=2)
    assert entry.recorded_at.year > 2001


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE approvals_auditentry SET actor = 'staff:bob'",
        "DELETE FROM approvals_auditentry",
        "TRUNCATE approvals_auditentry",
        "UPDATE approvals_audithead SET count = 0",
        "DELETE FROM approvals_audithead",
        "TRUNCATE approvals_audithead",
        "INSERT INTO approvals_audithead VALUES (77, 5, repeat('0', 64))",
        "ALTER TABLE approvals_auditentry DISABLE TRIGGER ALL",
        "DROP TRIGGER chain ON approvals_auditentry",
        "SET session_replication_role = replica",
        "SELECT setval('approvals_auditentry_number', 1)",
        "SELECT nextval('approvals_auditentry_number')",
        "CREATE TEMP TABLE mine (LIKE approvals_auditentry); "
        "CREATE TRIGGER t BEFORE INSERT ON mine FOR EACH ROW "
        "EXECUTE FUNCTION approvals_audit_chain()",
    ],
)
def test_application_role_cannot_tamper(db, statement):
    note_thing()
    with (
        pytest.raises(DatabaseError, match=r"permission denied|must be owner"),
        transaction.atomic(),
    ):
        run_sql("default", statement)
    assert verify().ok


def test_application_role_temporary_tables_do_not_shadow(db):
    note_thing()
    run_sql(
        "default", "CREATE TEMP TABLE approvals_audithead (chain bigint, count bigint, hash text)"
    )
    run_sql("default", "INSERT INTO pg_temp.approvals_audithead VALUES (1, 40, repeat('a', 64))")
    assert note_thing().seq == 2
    run_sql("default", "DROP TABLE pg_temp.approvals_audithead")
    assert verify().ok


def test_verify_empty_table_holds(db):
    found = verify()
    assert (found.ok, found.entries, found.first_bad) == (True, 0, None)


def test_verify_reports_progress_by_batches(db):
    run_sql(
        "default",
        "INSERT INTO approvals_auditentry (tenant_id, at, kind, actor, subject, detail) "
        "SELECT 1, now(), 'a.b', 'x', 'n:' || n, '{}' FROM generate_series(1, 4500) AS n",
    )
    seen: list[int] = []
    assert verify(progress=seen.append).entries == 4500
    assert seen == [2000, 4000]


def test_verify_while_others_write_raises_no_alarm(committed_db):
    def write(_number: int) -> None:
        try:
            note_thing()
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        writing = [pool.submit(write, number) for number in range(60)]
        found = [verify() for _ in range(10)]
        for job in writing:
            job.result()
    assert all(each.ok for each in found)
    assert verify().entries == 60
    assert sorted(AuditEntry.objects.values_list("seq", flat=True)) == list(range(1, 61))
