"""Real worker processes for tests, on a database of the test's own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agents.models import Event

ROOT = Path(__file__).resolve().parents[2]
LEASE = "2"


@contextmanager
def worker(
    database: str, log: Path, *, places: int = 4, **settings: str
) -> Iterator[subprocess.Popen[bytes]]:
    """Start a real Celery worker on a database, in a process group of its own."""
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "dsupport.settings",
        "DATABASE_URL": _on(os.environ["DATABASE_URL"], database),
        "DSUPPORT_LEASE_SECONDS": LEASE,
        "DSUPPORT_DB_POOL": "4",
        "DSUPPORT_LOG_LEVEL": "INFO",
        **settings,
    }
    command = [
        sys.executable,
        "-m",
        "celery",
        "-A",
        "dsupport",
        "worker",
        "-P",
        "threads",
        "-c",
        str(places),
    ]
    with log.open("ab") as output:
        process = subprocess.Popen(
            [*command, "--without-gossip", "--without-mingle"],
            cwd=ROOT, env=environment, stdout=output, stderr=output, start_new_session=True,
        )  # fmt: skip
        try:
            yield process
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _on(url: str, database: str) -> str:
    head, _, tail = url.partition("?")
    return f"{head.rsplit('/', 1)[0]}/{database}{'?' + tail if tail else ''}"


def wait_for(what: str, happened: Callable[[], bool], seconds: float, log: Path) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if happened():
            return
        time.sleep(0.1)
    pytest.fail(f"{what} did not happen within {seconds:g} s:\n{log.read_text()[-3_000:]}")


def said(run_id, type: str) -> bool:
    return Event.objects.for_run(run_id).filter(type=type).exists()
