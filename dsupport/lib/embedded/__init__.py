"""PostgreSQL and Valkey that start by themselves when no server is configured.

Commands share them: the first starts them, the last one stops them. They are nobody's children,
so they live for as long as anybody uses them, and a command that is killed leaves nothing that
the next one cannot take up.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from . import files, paths, postgres, processes, users, valkey
from .errors import EmbeddedError
from .signals import exit_on_termination

__all__ = ["EmbeddedError", "Endpoints", "lease", "reset"]

logger = logging.getLogger(__name__)

_DATABASE, _CACHE = "database", "cache"


@dataclass(frozen=True, slots=True)
class Endpoints:
    """Where the servers are. An address is empty when that server was not asked for."""

    database_url: str
    database_owner_url: str
    redis_url: str


@contextmanager
def lease(data_dir: Path, *, database: bool = True, cache: bool = True) -> Iterator[Endpoints]:
    """Start or share the servers of a data folder, and stop them when the last user leaves."""
    wanted = {_DATABASE: database, _CACHE: cache}
    parts = frozenset(part for part, is_wanted in wanted.items() if is_wanted)
    with exit_on_termination():
        held = _Held(data_dir)
        try:
            yield held.take(parts)
        finally:
            held.give_back()


def reset(data_dir: Path) -> None:
    """Clear all data; refuse while any command uses the servers."""
    layout = paths.existing(data_dir)
    if layout is None:
        return
    with users.exclusive(layout.home):
        pids = sorted({user.pid for user in users.living(layout.home)})
        if pids:
            raise EmbeddedError(
                "in_use",
                f"The servers are in use by process {', '.join(map(str, pids))}. "
                "End it, then run this again.",
            )
        processes.stop([*postgres.find_all(layout), *_found(valkey.find_server(layout))])
        postgres.tidy(layout)
        for path in layout.home.iterdir():
            if path.name != "lock":  # another command may be waiting for it
                files.remove(path)
        paths.forget_note(data_dir)


class _Held:
    """What one lease holds, so that it can be given back whatever happened in between."""

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir
        self._home = paths.make_home(data_dir)
        self._home_id = self._home.stat().st_ino
        self._layout: paths.Layout | None = None
        self._user: users.User | None = None
        self._servers: list[processes.Server] = []
        self._socket: Path | None = None

    def take(self, parts: frozenset[str]) -> Endpoints:
        with users.exclusive(self._home):
            layout = self._layout = paths.prepare(self._data_dir)
            others = frozenset().union(*(user.parts for user in users.living(self._home)))
            self._user = users.register(self._home, parts)
            cache = cluster = None
            if _CACHE in parts:
                cache = valkey.start(layout, keep_address=_CACHE in others)
                self._servers += _found(valkey.find_server(layout))
            if _DATABASE in parts:
                cluster = postgres.start(layout)
                self._socket = Path(cluster.socket)
                self._servers += _found(postgres.find_server(layout))
        return Endpoints(
            database_url=cluster.url(postgres.APP) if cluster else "",
            database_owner_url=cluster.url(postgres.OWNER) if cluster else "",
            redis_url=cache.url if cache else "",
        )

    def give_back(self) -> None:
        """Leave, and stop what nobody uses any more; a forked child leaves that to its parent."""
        user, layout = self._user, self._layout
        if user is None or layout is None or user.pid != os.getpid():
            return
        if not self._is_home_there():
            logger.warning("%s was removed while it was in use", self._home)
            users.leave(user)
            processes.stop(self._servers)
            if self._socket is not None:
                paths.remove_socket_folder(self._socket)
            return
        with users.exclusive(self._home):
            users.leave(user)
            _stop_unused(layout)

    def _is_home_there(self) -> bool:
        try:
            return self._home.stat().st_ino == self._home_id
        except FileNotFoundError:
            return False


def _stop_unused(layout: paths.Layout) -> None:
    used = frozenset().union(*(user.parts for user in users.living(layout.home)))
    idle = []
    if _DATABASE not in used:
        idle += postgres.find_all(layout)
    if _CACHE not in used:
        idle += _found(valkey.find_server(layout))
    if idle:
        logger.info("Stopping the servers that nobody uses any more")
        processes.stop(idle)
    if _DATABASE not in used:
        postgres.tidy(layout)


def _found(server: processes.Server | None) -> list[processes.Server]:
    return [] if server is None else [server]
