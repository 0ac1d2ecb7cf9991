"""The demo as it is typed: real processes, real sockets, and nothing left behind."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.demo.running import desk_environment, run, started
from tests.lib.embedded_support import living

pytestmark = pytest.mark.process


@pytest.fixture
def environment(demo_db: str, tmp_path: Path) -> Iterator[dict[str, str]]:
    with desk_environment(demo_db, tmp_path) as variables:
        yield variables


def test_check_plays_a_conversation_and_leaves_nothing(environment):
    done = run(environment, "demo", "--check")
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
    with started(environment) as (process, shown):
        found = re.search(r"Chat +(http://127\.0\.0\.1:\d+)/", shown)
        assert found
        with urllib.request.urlopen(f"{found[1]}/", timeout=20) as page:
            assert "Holm &amp; Larch" in page.read().decode()
        assert _sign_in(found[1], shown) == 200
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGINT)  # an impatient second one tears nothing apart
        _, errors = process.communicate(timeout=90)
        assert process.returncode == 0, errors
        assert "Traceback" not in errors
    assert living(Path(environment["DSUPPORT_DATA"])) == []


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


def test_port_in_use_is_one_line_and_status_2(environment):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        done = run(environment, "demo", "--port", str(port))
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert f"Port {port} is in use" in done.stderr
