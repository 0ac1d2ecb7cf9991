"""One Valkey: on a free local port, behind a password, losing nothing when it is killed."""

from __future__ import annotations

import json
import logging
import secrets
import signal
import socket
import time
from dataclasses import dataclass
from pathlib import Path

from .files import private_folder, read_json, read_pid, write_private
from .paths import Layout
from .processes import POLL_SECONDS, Server, is_ours, spawn, start_failed, stop
from .wheels import valkey_program

logger = logging.getLogger(__name__)

_STOPS = ((signal.SIGTERM, 10.0), (signal.SIGKILL, 5.0))
_START_SECONDS = 120.0  # a large file takes its time to load
_SILENT_SECONDS = 15.0
_PORTS_TO_TRY = 5
_STATE = "valkey.json"

# The password stands in this file, not on a command line that every user can list.
_CONFIG = """\
bind 127.0.0.1
port {port}
requirepass {password}
protected-mode yes
dir ./
appendonly yes
appendfsync everysec
save ""
set-proc-title no
databases 16
"""


@dataclass(frozen=True, slots=True)
class Cache:
    """Where one Valkey listens and how to log in."""

    layout: Layout
    port: int
    password: str

    @property
    def url(self) -> str:
        return f"redis://:{self.password}@127.0.0.1:{self.port}/0"


def start(layout: Layout, *, keep_address: bool) -> Cache:
    """Return the Valkey of this layout, started when it is not there.

    `keep_address` says that others use it: after a crash it comes back where they look for it.
    """
    cache = _load(layout)
    server = find_server(layout)
    if server is not None:
        if cache is not None and _becomes_ready(cache, server):
            return cache
        logger.warning("Valkey does not answer; starting it again")
        stop([server])
    logger.info("Starting Valkey")
    first = cache if keep_address else None
    for _ in range(_PORTS_TO_TRY):
        # A fresh password: whoever has taken our old port may have been told the old one.
        cache = first or Cache(layout, _free_port(), secrets.token_hex(24))
        first = None
        if _launch(cache):
            return cache
    raise start_failed("Valkey", _log(layout))


def find_server(layout: Layout) -> Server | None:
    """Return the living server, whatever a stale pid file says."""
    pid = read_pid(_folder(layout) / "server.pid")
    mark = str(_folder(layout) / "valkey.conf")
    return Server(pid, mark, _STOPS) if pid is not None and is_ours(pid, mark) else None


def _folder(layout: Layout) -> Path:
    return layout.home / "valkey"


def _log(layout: Layout) -> Path:
    return layout.logs / "valkey.log"


def _load(layout: Layout) -> Cache | None:
    state = read_json(layout.home / _STATE)
    return Cache(layout, state["port"], state["password"]) if state else None


def _launch(cache: Cache) -> bool:
    """Start the server; tell whether it answers (its port may have been taken meanwhile)."""
    layout = cache.layout
    folder = private_folder(_folder(layout), owner=layout.account)
    config = folder / "valkey.conf"
    text = _CONFIG.format(port=cache.port, password=cache.password)
    write_private(config, text, owner=layout.account)
    # Written before the start, so that a command killed right after it can be followed.
    state = {"port": cache.port, "password": cache.password}
    write_private(layout.home / _STATE, json.dumps(state))
    pid = spawn(
        [str(valkey_program(layout)), str(config)],
        pid_file=folder / "server.pid",
        log=_log(layout),
        account=layout.account,
    )
    server = Server(pid, str(config), _STOPS)
    if _becomes_ready(cache, server):
        return True
    stop([server])
    return False


def _becomes_ready(cache: Cache, server: Server) -> bool:
    """Wait for the server; give up when it died, or neither answers nor says that it loads."""
    deadline = time.monotonic() + _START_SECONDS
    silent_until = time.monotonic() + _SILENT_SECONDS
    while server.lives() and time.monotonic() < min(deadline, silent_until):
        reply = _ask(cache)
        if reply.startswith("+PONG"):
            return server.lives()
        if reply.startswith("-LOADING"):
            silent_until = deadline
        time.sleep(POLL_SECONDS)
    return False


def _ask(cache: Cache) -> str:
    """Log in, ping, and return the answer to the ping; empty when there is none."""
    try:
        with socket.create_connection(("127.0.0.1", cache.port), timeout=2) as connection:
            connection.sendall(f"AUTH {cache.password}\r\nPING\r\n".encode())
            with connection.makefile("r", encoding="utf-8", errors="replace") as replies:
                login, answer = replies.readline(), replies.readline()
    except OSError:
        return ""
    return answer if login.startswith("+OK") else ""


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
