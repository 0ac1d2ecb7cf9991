"""Starting servers that outlive us, knowing ours from strangers, and stopping them in time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from .errors import EmbeddedError
from .files import Account

POLL_SECONDS = 0.02
_NAMELESS_POLLS = 50
_LOG_LIMIT = 10_000_000
# Nothing of the caller's: PG* variables would change what initdb and the server do.
_ENVIRONMENT = {"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"}
# The shell notes its pid and becomes the server, so that a command killed right here still leaves
# a trace of what it started.
_NOTE_PID = 'echo $$ > "$PID_FILE"; exec "$@"'
# Servers whose parent we are; without us they would stay in the process table when they end.
_children: set[int] = set()


@dataclass(frozen=True, slots=True)
class Server:
    """A server process that we may signal: it bears `mark` in its command line."""

    pid: int
    mark: str
    stops: tuple[tuple[signal.Signals, float], ...]

    def lives(self) -> bool:
        return is_ours(self.pid, self.mark)


class _RunAs(TypedDict, total=False):
    user: int
    group: int
    extra_groups: list[int]


def spawn(argv: Sequence[str], *, pid_file: Path, log: Path, account: Account | None) -> int:
    """Start a server that outlives us, holds none of our files, and return its pid."""
    _rotate(log)
    with open(log, "ab", opener=_private) as output:
        try:
            process = subprocess.Popen(
                ["/bin/sh", "-c", _NOTE_PID, "sh", *argv],
                cwd=pid_file.parent,
                env={**_ENVIRONMENT, "PID_FILE": str(pid_file)},
                umask=0o077,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
                **run_as(account),
            )
        except OSError as error:
            raise _failed(Path(argv[0]).name, log, error) from error
    process.returncode = 0  # we reap it ourselves; `Popen` would warn of a child left running
    _children.add(process.pid)
    return process.pid


def run(
    argv: Sequence[str], *, cwd: Path, log: Path, account: Account | None, seconds: float
) -> None:
    """Run one of the servers' programs to its end, its words going to the log."""
    with open(log, "ab", opener=_private) as output:
        try:
            subprocess.run(
                argv,
                check=True,
                timeout=seconds,
                cwd=cwd,
                env=_ENVIRONMENT,
                umask=0o077,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
                **run_as(account),
            )
        except (subprocess.SubprocessError, OSError) as error:
            raise _failed(Path(argv[0]).name, log, error) from error


def run_as(account: Account | None) -> _RunAs:
    """Return the arguments that make a subprocess drop root's powers."""
    if account is None:
        return {}
    return {"user": account.uid, "group": account.gid, "extra_groups": []}


def is_ours(pid: int, mark: str) -> bool:
    """Tell whether the process lives and is the one we started, not a later bearer of its pid."""
    arguments = _command_line(pid)
    if sys.platform == "linux":
        return mark in arguments
    return any(mark in argument for argument in arguments)


def stop(servers: Sequence[Server]) -> None:
    """Stop servers side by side: ask, then insist, each step bounded in time."""
    left = [server for server in servers if server.lives()]
    for step in range(max((len(server.stops) for server in left), default=0)):
        deadlines = []
        for server in left:
            what, seconds = server.stops[min(step, len(server.stops) - 1)]
            with suppress(ProcessLookupError):
                os.kill(server.pid, what)
            deadlines.append((server, time.monotonic() + seconds))
        left = [server for server, deadline in deadlines if not _gone(server, deadline)]


def start_failed(program: str, log: Path) -> EmbeddedError:
    """Describe a failed start by the last words of its log."""
    return EmbeddedError(
        "start_failed",
        f"{program} did not start. Its log {log} ends with:\n{_tail(log)}\n"
        "Run the command again; if it fails the same way, `uv run manage.py demo --reset` "
        "clears the data and starts afresh.",
    )


def _failed(program: str, log: Path, error: Exception) -> EmbeddedError:
    with open(log, "ab", opener=_private) as output:
        output.write(f"{error}\n".encode())
    return start_failed(program, log)


def _reap() -> None:
    for pid in list(_children):
        try:
            ended = os.waitpid(pid, os.WNOHANG)[0]
        except ChildProcessError:  # somebody else waited, or we are a fork of its parent
            ended = pid
        if ended:
            _children.discard(pid)


def _gone(server: Server, deadline: float) -> bool:
    while server.lives():
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_SECONDS)
    _reap()
    return True


def _command_line(pid: int) -> list[str]:
    """Return a living process's arguments; none for a dead one, a zombie or a kernel thread."""
    if sys.platform == "linux":
        return _command_line_from_proc(Path(f"/proc/{pid}"))
    listed = subprocess.run(
        ["ps", "-ww", "-o", "stat=,command=", "-p", str(pid)],
        capture_output=True,
        text=True,
        check=False,
    ).stdout.strip()
    return [] if not listed or listed.startswith("Z") else [listed]


def _command_line_from_proc(process: Path) -> list[str]:
    for _ in range(_NAMELESS_POLLS):
        try:
            raw = (process / "cmdline").read_bytes()
            if raw:
                return [os.fsdecode(part) for part in raw.split(b"\0") if part]
            state = (process / "stat").read_text().rpartition(")")[2].split()[0]
            if state in "ZX" and len(list((process / "task").iterdir())) == 1:
                return []
        except OSError:
            return []
        # Nameless for a moment: it is becoming another program, or it is on its way out with
        # its files and ports still open.
        time.sleep(POLL_SECONDS / 4)
    return []


def _rotate(log: Path) -> None:
    if log.exists() and log.stat().st_size > _LOG_LIMIT:
        log.replace(log.with_suffix(".old"))


def _tail(log: Path) -> str:
    try:
        lines = log.read_text(errors="replace").splitlines()
    except OSError:
        return "(no log)"
    return "\n".join(f"  {line}" for line in lines[-8:])


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
