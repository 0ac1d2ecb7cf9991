"""The pool looks at a connection before it gives it away, and asks the server only in doubt."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.db import connection
from psycopg import OperationalError
from psycopg_pool import ConnectionPool

from dsupport.lib.postgres import base
from tests.databases import owner_cursor


@pytest.fixture
def pooled(committed_db):
    """Give a connection of Django's with a pool of one, as a worker has it."""
    made = connection.copy(alias="pooled")
    made.settings_dict["OPTIONS"] = {
        **settings.DATABASES["default"]["OPTIONS"],
        "pool": {"min_size": 0, "max_size": 1},
    }
    yield made
    made.close()
    made.close_pool()


@pytest.fixture
def questions(monkeypatch):
    """Count the round trips that checks cost."""
    asked = []

    def ask(conn):
        asked.append(conn)
        return ConnectionPool.check_connection(conn)

    monkeypatch.setattr(base, "ask", ask)
    return asked


def backend_of(connection) -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return cursor.fetchone()[0]


def test_connection_that_was_just_used_is_given_again_without_a_question(pooled, questions):
    first = backend_of(pooled)
    pooled.close()
    asked = len(questions)
    for _ in range(5):
        assert backend_of(pooled) == first
        pooled.close()
    assert len(questions) == asked


def test_connection_that_was_not_seen_alive_for_long_is_asked(pooled, questions, monkeypatch):
    backend_of(pooled)
    pooled.close()
    asked = len(questions)
    monkeypatch.setattr(base, "ASK_AFTER_SECONDS", 0)
    backend_of(pooled)
    assert len(questions) == asked + 1


def test_connection_that_the_server_ended_is_replaced(pooled):
    first = backend_of(pooled)
    pooled.close()
    with owner_cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [first])
    assert backend_of(pooled) != first


def test_closed_connection_is_refused(pooled):
    pooled.ensure_connection()
    raw = pooled.connection
    raw.close()
    with pytest.raises(OperationalError):
        base.check_connection(raw)
