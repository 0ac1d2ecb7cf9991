"""Become a program that does not outlive its supervisor.

Run by path, without the project: `python -I -S leash.py SUPERVISOR PIPE PROGRAM ARGUMENT…`. The
process turns into the program, so nothing stands between the supervisor and what it started.
Linux kills it when the supervisor dies, however that happens; elsewhere (PIPE is not -1) a watcher
kills its process group when the pipe, of which the supervisor holds the other end, is closed.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from contextlib import suppress

_PR_SET_PDEATHSIG = 1
_SUPERVISOR_GONE = 75


def main(argv: list[str]) -> None:
    supervisor, pipe, program = int(argv[1]), int(argv[2]), argv[3:]
    if pipe >= 0:
        _watch(pipe)
    else:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != supervisor:  # it died before the call above
            sys.exit(_SUPERVISOR_GONE)
    os.execvp(program[0], program)  # noqa: S606 - the supervisor's own command


def _watch(pipe: int) -> None:
    """Leave a watcher behind in this process group, which ends with the program's group."""
    if os.fork():
        os.close(pipe)
        return
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # the supervisor ends the watcher last
    with suppress(OSError):
        os.read(pipe, 1)
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    main(sys.argv)
