"""A database for the length of a block: migrated, empty, dropped afterwards."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.db import connections
from psycopg import sql


@contextmanager
def scratch_database() -> Iterator[str]:
    """Point every connection of this process at a new database inside the block; yield its name.

    The owner makes it, so that roles and rights are those of the real one. Threads that hold a
    connection of their own keep it: start them inside.
    """
    name = f"scratch_{os.getpid()}_{secrets.token_hex(4)}"
    before = {alias: connections[alias].settings_dict["NAME"] for alias in connections}
    _as_owner(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    _point(dict.fromkeys(before, name))
    try:
        call_command("migrate", database="owner", verbosity=0, interactive=False)
        yield name
    finally:
        _point(before)
        _as_owner(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))


def _as_owner(statement: sql.Composed) -> None:
    with connections["owner"].cursor() as cursor:
        cursor.execute(statement.as_string())
    connections["owner"].close()


def _point(names: dict[str, str]) -> None:
    for alias, name in names.items():
        connection: Any = connections[alias]
        connection.close()
        if connection.pool:
            connection.close_pool()
        connection.settings_dict["NAME"] = name
        settings.DATABASES[alias]["NAME"] = name
