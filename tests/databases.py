"""Databases for tests, cloned from templates that are made once for a state of the code."""

from __future__ import annotations

import fcntl
import hashlib
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import psycopg
from django.conf import settings
from django.core.management import call_command
from django.db import connections
from psycopg import sql

ROOT = Path(__file__).resolve().parent.parent
SEEDED_AT = datetime(2026, 10, 15, 9, 0, tzinfo=UTC)
_KEEP = 4  # templates kept of each kind; older ones belong to code that has changed


@contextmanager
def owner_cursor() -> Iterator[psycopg.Cursor]:
    """Open a cursor of the owner on the server's own database, outside Django."""
    with psycopg.connect(os.environ["DATABASE_OWNER_URL"], autocommit=True) as connection:
        yield connection.cursor()


def fingerprint(*patterns: str) -> str:
    """Return a hash over the files that match, by name and content."""
    total = hashlib.sha256()
    for pattern in patterns:
        for path in sorted(ROOT.glob(pattern)):
            if path.is_file() and "__pycache__" not in path.parts:
                total.update(str(path.relative_to(ROOT)).encode())
                total.update(path.read_bytes())
    return total.hexdigest()[:12]


def empty_template() -> str:
    """Return the name of a migrated database without rows, made when it is missing."""
    key = fingerprint("*/migrations/*.py")
    return _template(f"template_empty_{key}", "template1", _migrate)


def demo_template() -> str:
    """Return the name of a database with the demo shop, seeded at `SEEDED_AT`."""
    key = fingerprint(
        "*/migrations/*.py",
        "dsupport/demo/**/*",
        "dsupport/lib/money.py",
        "knowledge/**/*.py",
        "knowledge/data/*",
        "orders/**/*.py",
        "tickets/models.py",
    )
    return _template(f"template_demo_{key}", empty_template(), _seed)


def create_database(template: str) -> str:
    """Clone a template into a new database and return its name."""
    name = f"test_{os.getpid()}_{secrets.token_hex(4)}"
    with _lock(), owner_cursor() as cursor:
        cursor.execute(
            sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(
                sql.Identifier(name), sql.Identifier(template)
            )
        )
    return name


def drop_database(name: str) -> None:
    with owner_cursor() as cursor:
        cursor.execute(
            sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name))
        )


@contextmanager
def connected_to(name: str) -> Iterator[None]:
    """Point Django's connections at a database inside the block."""
    before = {alias: connections[alias].settings_dict["NAME"] for alias in connections}
    _point(dict.fromkeys(before, name))
    try:
        yield
    finally:
        _point(before)


def _point(names: dict[str, str]) -> None:
    for alias, name in names.items():
        connections[alias].close()
        connections[alias].settings_dict["NAME"] = name
        settings.DATABASES[alias]["NAME"] = name


def _template(name: str, base: str, fill: Callable[[], None]) -> str:
    with _lock(f"{name.rsplit('_', 1)[0]}"), owner_cursor() as cursor:
        if _exists(cursor, name):
            return name
        making = f"{name}_making"
        cursor.execute(sql.SQL("DROP DATABASE IF EXISTS {}").format(sql.Identifier(making)))
        cursor.execute(
            sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(
                sql.Identifier(making), sql.Identifier(base)
            )
        )
        with connected_to(making):
            fill()
        cursor.execute(
            sql.SQL("ALTER DATABASE {} RENAME TO {}").format(
                sql.Identifier(making), sql.Identifier(name)
            )
        )
        _drop_old(cursor, name)
    return name


def _migrate() -> None:
    # New tables in template1 belong to the owner, and so does the schema of each database.
    call_command("migrate", database="owner", verbosity=0, interactive=False)


def _seed() -> None:
    from dsupport.demo.seed import seed_demo
    from dsupport.lib import clock

    with clock.frozen(SEEDED_AT):
        seed_demo()


def _exists(cursor: psycopg.Cursor, name: str) -> bool:
    cursor.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name])
    return cursor.fetchone() is not None


def _drop_old(cursor: psycopg.Cursor, newest: str) -> None:
    kind = newest.rsplit("_", 1)[0]
    cursor.execute(
        "SELECT datname FROM pg_database WHERE datname LIKE %s AND datname <> %s ORDER BY oid DESC",
        [f"{kind}\\_%", newest],
    )
    for (name,) in cursor.fetchall()[_KEEP - 1 :]:
        cursor.execute(
            sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name))
        )


@contextmanager
def _lock(name: str = "clone") -> Iterator[None]:
    """Let one test process at a time make a template: cloning refuses while it is in use."""
    path = settings.DSUPPORT_DATA / f"{name}.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
