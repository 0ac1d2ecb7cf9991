"""Running several programs as one: started together, watched, ended together."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import BinaryIO, Self

from dsupport.demo import leash

POLL_SECONDS = 0.05
_READY_POLL_SECONDS = 0.2  # asking more often would slow down what we wait for
_KILL_SECONDS = 5.0
_TAIL_LINES = 15
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Trouble(Exception):
    """A program ended by itself or did not become ready; the message shows its last words."""


@dataclass(frozen=True)
class Program:
    """What to run. `keep` are file descriptors that the program inherits."""

    name: str
    argv: Sequence[str]
    env: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    cwd: Path | None = None
    keep: tuple[int, ...] = ()


class StopSignals:
    """Counts Ctrl-C, SIGTERM and SIGHUP instead of letting them tear the clean-up apart."""

    def __init__(self) -> None:
        self.count = 0
        self._before: dict[signal.Signals, signal._HANDLER] = {}

    def __enter__(self) -> Self:
        for number in _SIGNALS:
            # Whoever started us with nohup wants SIGHUP ignored.
            if signal.getsignal(number) is not signal.SIG_IGN:
                self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *_exception: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    @staticmethod
    def ignore() -> None:
        """Let nothing interrupt what is left to do before this process ends."""
        for number in _SIGNALS:
            signal.signal(number, signal.SIG_IGN)

    def _note(self, _number: int, _frame: FrameType | None) -> None:
        self.count += 1


class Supervisor:
    """Starts programs in process groups of their own, their words going to log files.

    `stop` ends every group: it asks, and insists after `grace` seconds or when the person who
    waits presses Ctrl-C once more. If this process is killed, the programs die with it.
    """

    def __init__(
        self,
        logs: Path,
        signals: StopSignals,
        *,
        grace: float = 10.0,
        watch_by_pipe: bool = sys.platform != "linux",
    ) -> None:
        self._logs = logs
        self._signals = signals
        self._grace = grace
        self._children: list[tuple[Program, subprocess.Popen[bytes]]] = []
        self._pipe = os.pipe() if watch_by_pipe else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.stop()

    @property
    def pids(self) -> dict[str, int]:
        return {program.name: child.pid for program, child in self._children}

    def start(self, program: Program) -> None:
        """Start a program; it holds neither our terminal nor any file of ours but `keep`."""
        pipe = self._pipe[0] if self._pipe else -1
        leashed = [sys.executable, "-I", "-S", leash.__file__, str(os.getpid()), str(pipe)]
        with _fresh(self.log_of(program.name)) as log:
            child = subprocess.Popen(
                [*leashed, *program.argv],
                env=program.env,
                cwd=program.cwd,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                pass_fds=program.keep if pipe < 0 else (*program.keep, pipe),
            )
        self._children.append((program, child))

    def log_of(self, name: str) -> Path:
        return self._logs / f"{name}.log"

    def check(self) -> None:
        """Raise `Trouble` when a program has ended by itself."""
        for program, child in self._children:
            if child.poll() is not None:
                raise Trouble(
                    f"The {program.name} process ended by itself ({_ending(child.returncode)}). "
                    f"{self._last_words(program.name)}"
                )

    def wait_until(self, name: str, is_ready: Callable[[], bool], *, seconds: float) -> bool:
        """Wait for a program to become ready; return False when asked to stop meanwhile."""
        deadline = time.monotonic() + seconds
        while not self._signals.count:
            self.check()
            if is_ready():
                return True
            if time.monotonic() > deadline:
                raise Trouble(
                    f"The {name} process was not ready within {seconds:.0f} seconds. "
                    f"{self._last_words(name)}"
                )
            time.sleep(_READY_POLL_SECONDS)
        return False

    def wait_for_signal(self) -> None:
        """Return when somebody asks to stop; raise `Trouble` when a program ends by itself."""
        while not self._signals.count:
            self.check()
            time.sleep(POLL_SECONDS)

    def stop(self) -> None:
        """End every program and what it may have started; safe to call again."""
        asked = self._signals.count
        for _, child in self._children:
            _signal_group(child, signal.SIGTERM)
        deadline = time.monotonic() + self._grace
        while self._living() and time.monotonic() < deadline and self._signals.count <= asked:
            time.sleep(POLL_SECONDS)
        for _, child in self._children:
            _signal_group(child, signal.SIGKILL)
        deadline = time.monotonic() + _KILL_SECONDS
        while self._living() and time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)
        self._children.clear()
        if self._pipe:
            for descriptor in self._pipe:
                os.close(descriptor)
            self._pipe = None

    def _living(self) -> bool:
        states = [child.poll() for _, child in self._children]  # reaps every one that has ended
        return None in states

    def _last_words(self, name: str) -> str:
        log = self.log_of(name)
        lines = log.read_text(errors="replace").splitlines()[-_TAIL_LINES:]
        if not lines:
            return f"Its log {log} is empty."
        return "\n".join([f"Its log {log} ends with:", *(f"  {line}" for line in lines)])


def _signal_group(child: subprocess.Popen[bytes], number: signal.Signals) -> None:
    """Signal a child's whole group, which may outlive the child itself."""
    with suppress(ProcessLookupError, PermissionError):  # macOS refuses for a group of zombies
        os.killpg(child.pid, number)


def _fresh(log: Path) -> BinaryIO:
    """Open an empty log for its owner alone; the one of the last start is kept beside it."""
    if log.exists():
        log.replace(log.with_suffix(".old.log"))
    return os.fdopen(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab")


def _ending(status: int) -> str:
    if status < 0:
        return f"killed by {signal.Signals(-status).name}"
    return f"status {status}"
