"""The database backend: Django's own, with a cheaper check of pooled connections.

A run takes a connection from the pool before every model call and gives it back, so a question
and an answer each time would cost as much as the statements themselves.
"""

from __future__ import annotations

import select
from collections.abc import Callable
from time import monotonic
from typing import Any, ClassVar

from django.db.backends.postgresql import base
from psycopg import Connection, OperationalError
from psycopg_pool import ConnectionPool

ASK_AFTER_SECONDS = 10.0
ask = ConnectionPool.check_connection


class PooledConnection(Connection[Any]):
    """A connection that knows when it was last found alive, by `time.monotonic`."""

    alive_at: float = 0.0


def check_connection(connection: PooledConnection) -> None:
    """Raise `OperationalError` for a connection that a pool should not give away.

    An idle one has nothing to read: a server that ends says so, and so does its socket, without
    a question. Only what cannot be seen so (a network that swallows packets) needs one, and only
    after a while.
    """
    now = monotonic()
    if _has_news(connection) or now - connection.alive_at > ASK_AFTER_SECONDS:
        ask(connection)
    connection.alive_at = now


def _has_news(connection: PooledConnection) -> bool:
    if connection.closed:
        raise OperationalError("the connection is closed")
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN | select.POLLPRI)
    return bool(poll.poll(0))


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's wrapper, its pool made with `check_connection` where health checks are on."""

    # Django's own, which its type stubs do not know.
    _connection_pools: ClassVar[dict[str, Any]]
    _configure_connection: Callable[..., Any]

    @property
    def pool(self) -> Any:
        options = self.settings_dict["OPTIONS"].get("pool")
        known = self._connection_pools.get(self.alias)
        if known is not None or not options:
            return known
        made = ConnectionPool(
            kwargs={**self.get_connection_params(), "autocommit": True},
            connection_class=PooledConnection,
            open=False,
            configure=self._configure_connection,
            check=check_connection if self.settings_dict["CONN_HEALTH_CHECKS"] else None,
            **options,
        )
        # Several threads may make one at a time; the first to say so wins.
        return self._connection_pools.setdefault(self.alias, made)
