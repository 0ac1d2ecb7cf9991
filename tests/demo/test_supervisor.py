from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from dsupport.demo.supervisor import Program, StopSignals, Supervisor, Trouble
from tests.demo.processes import eventually, lives

ROOT = Path(__file__).resolve().parents[2]

SLEEPER = "import time; print('up', flush=True); time.sleep(600)"
STUBBORN = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {SLEEPER}"
# Says its child's pid, and does not end it.
PARENT = (
    "import subprocess, sys, time; "
    "p = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']); "
    "print(p.pid, flush=True); time.sleep(600)"
)

# A supervisor in a process of its own, which can be signalled and killed.
SUPERVISE = """
import json, sys
from pathlib import Path
from dsupport.demo.supervisor import Program, StopSignals, Supervisor, Trouble

folder, codes, options = Path(sys.argv[1]), json.loads(sys.argv[2]), json.loads(sys.argv[3])
try:
    with StopSignals() as signals, Supervisor(folder, signals, **options) as supervisor:
        for name, code in codes.items():
            supervisor.start(Program(name, (sys.executable, "-c", code)))
        for name, code in codes.items():
            log = supervisor.log_of(name)
            supervisor.wait_until(name, lambda: log.read_text() != "", seconds=20)
        print(json.dumps(supervisor.pids), flush=True)
        supervisor.wait_for_signal()
except Trouble as trouble:
    print(trouble, file=sys.stderr)
    sys.exit(1)
"""


class Supervised:
    """A running supervisor and the pids of what it runs."""

    def __init__(self, folder: Path, codes: dict[str, str], **options: object) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", SUPERVISE, folder, json.dumps(codes), json.dumps(options)],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, self.process.communicate()[1]
        self.pids: dict[str, int] = json.loads(line)

    def ends(self) -> tuple[int, str]:
        """Wait for the supervisor and return its status and its last words."""
        _, errors = self.process.communicate(timeout=20)
        return self.process.returncode, errors


@contextmanager
def supervised(folder: Path, codes: dict[str, str], **options: object) -> Iterator[Supervised]:
    found = Supervised(folder, codes, **options)
    try:
        yield found
    finally:
        found.process.kill()
        found.process.communicate()
        for pid in found.pids.values():
            with suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)


def none_live(pids: dict[str, int]) -> bool:
    return not any(lives(pid) for pid in pids.values())


def python(name: str, code: str) -> Program:
    return Program(name, (sys.executable, "-c", textwrap.dedent(code)))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signal_ends_every_program_cleanly(tmp_path, number):
    with supervised(tmp_path, {"one": SLEEPER, "two": SLEEPER}) as found:
        found.process.send_signal(number)
        assert found.ends() == (0, "")
        assert none_live(found.pids)


def test_program_that_ignores_sigterm_is_killed_after_grace(tmp_path):
    with supervised(tmp_path, {"calm": SLEEPER, "deaf": STUBBORN}, grace=0.5) as found:
        began = time.monotonic()
        found.process.send_signal(signal.SIGTERM)
        assert found.ends()[0] == 0
        assert none_live(found.pids)
        assert time.monotonic() - began > 0.5


def test_second_ctrl_c_hurries_and_leaves_nothing(tmp_path):
    with supervised(tmp_path, {"deaf": STUBBORN}, grace=600) as found:
        found.process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        assert lives(found.pids["deaf"])
        found.process.send_signal(signal.SIGINT)
        assert found.ends() == (0, "")
        assert none_live(found.pids)


def test_program_that_dies_ends_all_and_is_named(tmp_path):
    dying = "import sys, time; print('up', flush=True); time.sleep(1); sys.exit('no more paper')"
    with supervised(tmp_path, {"web": SLEEPER, "printer": dying}) as found:
        status, errors = found.ends()
        assert status == 1
        assert "The printer process ended by itself (status 1)" in errors
        assert "no more paper" in errors
        assert none_live(found.pids)


def test_program_that_was_killed_is_told_so(tmp_path):
    with supervised(tmp_path, {"web": SLEEPER, "worker": SLEEPER}) as found:
        os.kill(found.pids["worker"], signal.SIGKILL)
        status, errors = found.ends()
        assert status == 1
        assert "The worker process ended by itself (killed by SIGKILL)" in errors
        assert none_live(found.pids)


@pytest.mark.parametrize("watch_by_pipe", [False, True])
def test_killed_supervisor_takes_its_programs_along(tmp_path, watch_by_pipe):
    """By the kernel on Linux, by a watcher of a pipe elsewhere, also when SIGTERM is ignored."""
    codes = {"calm": SLEEPER, "deaf": STUBBORN}
    with supervised(tmp_path, codes, watch_by_pipe=watch_by_pipe) as found:
        found.process.kill()
        assert eventually(lambda: none_live(found.pids))


@pytest.mark.parametrize("watch_by_pipe", [False, True])
def test_signal_ends_what_programs_have_started(tmp_path, watch_by_pipe):
    with supervised(tmp_path, {"parent": PARENT}, watch_by_pipe=watch_by_pipe) as found:
        child = int((tmp_path / "parent.log").read_text())
        assert lives(child)
        found.process.send_signal(signal.SIGTERM)
        assert found.ends()[0] == 0
        assert eventually(lambda: not lives(child))
        assert none_live(found.pids)


def test_start_becomes_the_program_itself(tmp_path):
    """The pid is the program's own, in a group of its own, holding no file of ours."""
    code = """
    import json, os, time
    held = [os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd")
            if os.path.exists(f"/proc/self/fd/{fd}")]
    print(json.dumps([os.getpid(), os.getpgid(0), held]), flush=True)
    time.sleep(600)
    """
    with (tmp_path / "ours").open("w") as ours, StopSignals() as signals:
        os.set_inheritable(ours.fileno(), True)
        with Supervisor(tmp_path, signals) as supervisor:
            supervisor.start(python("probe", code))
            log = supervisor.log_of("probe")
            assert supervisor.wait_until("probe", lambda: "]]" in log.read_text(), seconds=20)
            pid, group, held = json.loads(log.read_text())
            assert pid == group == supervisor.pids["probe"]
            assert set(held) <= {"/dev/null", str(log)}


def test_kept_descriptor_reaches_the_program(tmp_path):
    reader, writer = os.pipe()
    code = f"import os; os.write({writer}, b'hello'); import time; time.sleep(600)"
    with StopSignals() as signals, Supervisor(tmp_path, signals) as supervisor:
        supervisor.start(Program("writer", (sys.executable, "-c", code), keep=(writer,)))
        assert os.read(reader, 5) == b"hello"
    os.close(reader)
    os.close(writer)


def test_wait_until_too_slow_names_program_and_log(tmp_path):
    with StopSignals() as signals, Supervisor(tmp_path, signals) as supervisor:
        supervisor.start(python("slow", "print('warming up', flush=True)\n" + SLEEPER))
        log = supervisor.log_of("slow")
        supervisor.wait_until("slow", lambda: "warming" in log.read_text(), seconds=20)
        with pytest.raises(Trouble, match=r"slow process was not ready within 0 seconds.*\n.*warm"):
            supervisor.wait_until("slow", lambda: False, seconds=0.1)


def test_program_that_does_not_exist_is_trouble(tmp_path):
    with StopSignals() as signals, Supervisor(tmp_path, signals) as supervisor:
        supervisor.start(Program("ghost", ("/no/such/program",)))
        with pytest.raises(Trouble, match="ghost process ended by itself"):
            supervisor.wait_until("ghost", lambda: False, seconds=20)


def test_log_is_private_and_the_last_one_is_kept(tmp_path):
    for word in ("first", "second"):
        with StopSignals() as signals, Supervisor(tmp_path, signals) as supervisor:
            supervisor.start(python("web", f"print('{word}', flush=True)\n{SLEEPER}"))
            log = supervisor.log_of("web")
            supervisor.wait_until("web", lambda: "up" in log.read_text(), seconds=20)  # noqa: B023
    assert "second" in (tmp_path / "web.log").read_text()
    assert "first" in (tmp_path / "web.old.log").read_text()
    assert (tmp_path / "web.log").stat().st_mode & 0o777 == 0o600


def test_stop_signals_are_counted_and_given_back():
    before = signal.getsignal(signal.SIGTERM)
    with StopSignals() as signals:
        os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGHUP)
        assert signals.count == 2
    assert signal.getsignal(signal.SIGTERM) is before


def test_stop_signals_leave_an_ignored_one_ignored():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with StopSignals() as signals:
            os.kill(os.getpid(), signal.SIGHUP)
            assert signals.count == 0
    finally:
        signal.signal(signal.SIGHUP, before)


def test_stop_twice_is_harmless(tmp_path):
    with StopSignals() as signals, Supervisor(tmp_path, signals) as supervisor:
        supervisor.start(python("one", SLEEPER))
        pids = supervisor.pids
        supervisor.stop()
        supervisor.stop()
        assert none_live(pids)
