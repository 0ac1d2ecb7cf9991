"""The demo as it is typed: real processes, real sockets, and nothing left behind."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.process


@pytest.fixture
def environment(demo_db: str, tmp_path: Path) -> Iterator[dict[str, str]]:
    """Give what a command needs to work on a copy of the demo shop, and find what it leaves."""
    marks = {"DSUPPORT_TEST_MARK": f"demo-{os.getpid()}-{time.monotonic_ns()}"}
    yield {
        **{name: value for name, value in os.environ.items() if not name.startswith("PYTEST")},
        **marks,
        "DJANGO_SETTINGS_MODULE": "dsupport.settings",
        "DATABASE_URL": at_database("DATABASE_URL", demo_db),
        "DATABASE_OWNER_URL": at_database("DATABASE_OWNER_URL", demo_db),
        "DSUPPORT_DATA": str(tmp_path / "data"),
        "DSUPPORT_LOG_LEVEL": "WARNING",
    }
    left = processes_with(marks["DSUPPORT_TEST_MARK"])
    for pid in left:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    assert left == []


def at_database(variable: str, name: str) -> str:
    return f"{os.environ[variable].rpartition('/')[0]}/{name}"


def processes_with(mark: str) -> list[int]:
    """Return the processes that have inherited a mark in their environment, zombies aside."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and int(entry.name) != os.getpid():
            with suppress(OSError):
                if mark.encode() in (entry / "environ").read_bytes():
                    found.append(int(entry.name))
    return found


def command(*arguments: str) -> list[str]:
    return [sys.executable, "manage.py", "demo", *arguments]


def run(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*arguments),
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def test_check_plays_a_conversation_and_leaves_nothing(environment):
    done = run(environment, "--check")
    report = json.loads(done.stdout)
    assert report["problems"] == []
    assert (done.returncode, report["ok"], report["order"]) == (0, True, "1042")
    assert "1042" in report["answer"]
    assert "5 October 2026" in report["answer"]
    assert report["seqs"] == list(range(1, len(report["events"]) + 1))
    assert report["events"][-1] == "run.finished"
    assert report["events"].count("answer") == 1
    assert report["web_pid"] != report["worker_pid"]
    for pid in (report["web_pid"], report["worker_pid"]):
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
    assert set(report) >= {"ok", "answer", "order", "events", "seqs", "seconds"}


def test_start_shows_where_to_go_and_ctrl_c_ends_it(environment):
    process = subprocess.Popen(
        command("--port", "0"),
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    shown = ""
    try:
        assert process.stdout is not None
        while "Press Ctrl-C" not in shown and (line := process.stdout.readline()):
            shown += line
        found = re.search(r"Chat +(http://127\.0\.0\.1:\d+)/", shown)
        assert found, shown + process.communicate(timeout=60)[1]
        with urllib.request.urlopen(f"{found[1]}/", timeout=20) as page:
            assert "Holm &amp; Larch" in page.read().decode()
        assert _sign_in(found[1], shown) == 200
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGINT)  # an impatient second one tears nothing apart
        _, errors = process.communicate(timeout=90)
        assert process.returncode == 0, errors
        assert "Traceback" not in errors
    finally:
        process.kill()
        process.communicate()


def _sign_in(url: str, shown: str) -> int:
    """Sign in with the password on the screen, as the first customer on it."""
    password = re.search(r"with the password (\S+)", shown)
    email = re.search(r"\S+@example\.com", shown)
    assert password
    assert email
    body = json.dumps({"email": email[0], "password": password[1]}).encode()
    request = urllib.request.Request(
        f"{url}/api/session/login", body, {"Content-Type": "application/json", "Origin": url}
    )
    with urllib.request.urlopen(request, timeout=20) as reply:
        return int(reply.status)


def test_killed_worker_ends_the_demo_and_is_named(environment):
    process = subprocess.Popen(
        command("--port", "0"),
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        while "Press Ctrl-C" not in (line := process.stdout.readline()) and line:
            pass
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        (worker,) = [pid for pid in children if b"worker" in arguments_of(pid)]
        os.kill(int(worker), signal.SIGKILL)
        _, errors = process.communicate(timeout=90)
        assert process.returncode == 1
        assert "The worker process ended by itself (killed by SIGKILL)" in errors
    finally:
        process.kill()
        process.communicate()


def arguments_of(pid: str) -> list[bytes]:
    return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")


def test_port_in_use_is_one_line_and_status_2(environment):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        done = run(environment, "--port", str(port))
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert f"Port {port} is in use" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--reset",), "--reset clears a database that the demo has started itself"),
        (("--host", "203.0.113.7"), "Cannot listen on 203.0.113.7"),
        (("--data", "/no/such/folder"), "/no/such/folder"),
    ],
)
def test_wrong_use_is_one_line_and_status_2(environment, arguments, words):
    done = run(environment, "--port", "0", *arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert words in done.stderr
    assert done.stderr.count("\n") == 1
