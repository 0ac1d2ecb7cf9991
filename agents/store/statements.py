"""Running a statement past the object mapper and its cursors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, LiteralString

from django.db import connection
from psycopg import Cursor


def fetch_row(sql: LiteralString, parameters: Mapping[str, Any]) -> tuple[Any, ...] | None:
    """Run one statement on this thread's connection and return its first row.

    Inside the caller's transaction if there is one. Errors are Django's, as everywhere.
    """
    connection.ensure_connection()
    connection.validate_no_broken_transaction()
    with connection.wrap_database_errors, Cursor(connection.connection) as cursor:
        return cursor.execute(sql, parameters).fetchone()
