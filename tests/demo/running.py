"""Running the demo as it is typed, and finding what it leaves behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.lib.embedded_support import scratch

ROOT = Path(__file__).resolve().parents[2]


@contextmanager
def desk_environment(database: str, folder: Path) -> Iterator[dict[str, str]]:
    """Give what a command needs to work on a copy of the demo shop; nothing may be left of it.

    It has a Valkey of its own, so that it shares no queue with other tests.
    """
    mark = f"demo-{os.getpid()}-{time.monotonic_ns()}"
    with scratch(folder) as data_dir:
        yield {
            **{name: value for name, value in os.environ.items() if "PYTEST" not in name},
            "DSUPPORT_TEST_MARK": mark,
            "DJANGO_SETTINGS_MODULE": "dsupport.settings",
            "DATABASE_URL": _at_database("DATABASE_URL", database),
            "DATABASE_OWNER_URL": _at_database("DATABASE_OWNER_URL", database),
            "REDIS_URL": "",
            "DSUPPORT_DATA": str(data_dir),
            "DSUPPORT_LOG_LEVEL": "WARNING",
        }
        left = _processes_with(mark)
        for pid in left:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        assert left == []


def _at_database(variable: str, name: str) -> str:
    return f"{os.environ[variable].rpartition('/')[0]}/{name}"


def _processes_with(mark: str) -> list[int]:
    """Return the processes that have inherited a mark in their environment, zombies aside."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and int(entry.name) != os.getpid():
            with suppress(OSError):
                if mark.encode() in (entry / "environ").read_bytes():
                    found.append(int(entry.name))
    return found


def run(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


@contextmanager
def started(environment: dict[str, str]) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Give a running demo and what it has shown."""
    with subprocess.Popen(
        [sys.executable, "manage.py", "demo", "--port", "0"],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        shown = ""
        try:
            assert process.stdout is not None
            while "Press Ctrl-C" not in shown and (line := process.stdout.readline()):
                shown += line
            assert "Press Ctrl-C" in shown, process.communicate(timeout=90)[1]
            yield process, shown
        finally:
            process.kill()
            process.communicate()
