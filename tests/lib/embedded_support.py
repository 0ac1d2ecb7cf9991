"""What the tests of the embedded servers share: scratch folders and commands that hold a lease."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest
import redis

from dsupport.lib.embedded import Endpoints, lease, paths, postgres, processes, reset, users, valkey

ROOT = Path(__file__).resolve().parents[2]
IS_ROOT = os.geteuid() == 0

HOLD = """
import json, sys
from pathlib import Path
from dsupport.lib.embedded import lease
with lease(Path(sys.argv[1])) as ends:
    print(json.dumps([ends.database_url, ends.database_owner_url, ends.redis_url]), flush=True)
    sys.stdin.readline()
"""


@contextmanager
def scratch(folder: Path, *, made: Path | None = None) -> Iterator[Path]:
    """Give a project's data folder whose servers are gone afterwards, those of a failed test too.

    Root's servers live apart from the project, in a folder that every account can enter. With
    `made`, the servers were already made once, which saves the seconds of the first start.
    """
    data_dir = folder / "project" / ".dsupport"
    with pytest.MonkeyPatch.context() as patch, public_folder() as base:
        patch.setenv("DSUPPORT_ROOT_DATA", str(base))
        if made is not None:
            _copy(made, paths.make_home(data_dir))
        try:
            yield data_dir
        finally:
            eventually(lambda: not _in_use(data_dir))  # a killed holder's exit takes a moment
            reset(data_dir)


@contextmanager
def made_once(folder: Path) -> Iterator[Path]:
    """Give the folder of servers that were started once and stopped, to be copied."""
    with scratch(folder) as data_dir:
        with lease(data_dir):
            pass
        yield home_of(data_dir)


def _copy(made: Path, home: Path) -> None:
    subprocess.run(["cp", "-a", f"{made}/.", str(home)], check=True)  # keeps owners
    state = home / "postgres.json"
    state.write_text(json.dumps({**json.loads(state.read_text()), "socket": ""}))


@contextmanager
def public_folder() -> Iterator[Path]:
    """Give a folder that every account can enter; pytest's own are closed."""
    folder = Path(tempfile.mkdtemp(prefix="dsupport-test-", dir=_place()))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _place() -> str:
    """Return where clusters are copied to and fro: memory where there is enough of it."""
    memory = "/dev/shm"
    if not Path(memory).is_dir():
        return "/tmp"
    found = os.statvfs(memory)
    roomy = found.f_bavail * found.f_frsize > 2 * 1024**3
    return memory if roomy and not found.f_flag & os.ST_NOEXEC else "/tmp"


def python(code: str, *arguments: object) -> list[str]:
    return [sys.executable, "-c", code, *map(str, arguments)]


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


class Holder:
    """Another command that holds a lease until it is told to leave."""

    def __init__(self, data_dir: Path) -> None:
        self._process = subprocess.Popen(
            python(HOLD, data_dir),
            env=environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.pid = self._process.pid

    def wait(self) -> Endpoints:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, self._process.communicate()[1]
        return Endpoints(*json.loads(line))

    def leave(self) -> subprocess.CompletedProcess[str]:
        """End it in the ordinary way; its pipes must close with it."""
        return self._end("\n")

    def send(self, number: signal.Signals) -> subprocess.CompletedProcess[str]:
        self._process.send_signal(number)
        return self._end(None)

    def _end(self, text: str | None) -> subprocess.CompletedProcess[str]:
        try:
            out, err = self._process.communicate(text, timeout=60)
        finally:
            self._process.kill()
        return subprocess.CompletedProcess([], self._process.returncode, out, err)


@contextmanager
def holder(data_dir: Path) -> Iterator[Holder]:
    command = Holder(data_dir)
    try:
        yield command
    finally:
        command.send(signal.SIGKILL)


def living(data_dir: Path) -> list[processes.Server]:
    """Return the servers of a data folder that run."""
    layout = paths.existing(data_dir)
    if layout is None:
        return []
    found = [*postgres.find_all(layout), valkey.find_server(layout)]
    return [server for server in found if server is not None]


def stop_servers_in(home: Path) -> None:
    """Stop what a command of another user left running."""
    layout = paths.Layout(home, None)
    found = [*postgres.find_all(layout), valkey.find_server(layout)]
    processes.stop([server for server in found if server is not None])


def home_of(data_dir: Path) -> Path:
    return paths.locate(data_dir)


def kill_servers(data_dir: Path) -> None:
    """Kill the servers so that they cannot tidy up."""
    kill = ((signal.SIGKILL, 60.0),)
    processes.stop([replace(server, stops=kill) for server in living(data_dir)])
    assert living(data_dir) == []


def query(url: str, statement: str, *arguments: object) -> Any:
    """Run one statement and return its first column's first value, if it has one."""
    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.execute(statement.encode(), arguments or None)
        row = cursor.fetchone() if cursor.description else None
    return row[0] if row else None


@contextmanager
def cache(url: str) -> Iterator[redis.Redis]:
    client = redis.Redis.from_url(url)
    try:
        yield client
    finally:
        client.close()


def eventually(condition: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not become true in time"
        time.sleep(0.005)


def _in_use(data_dir: Path) -> bool:
    home = home_of(data_dir)
    if not home.exists():
        return False
    with users.exclusive(home):
        return bool(users.living(home))
