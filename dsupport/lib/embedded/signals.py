"""Turning a termination signal into an exit that unwinds, so that leases are given back."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGTERM, signal.SIGHUP)


@contextmanager
def exit_on_termination() -> Iterator[None]:
    """Exit through the stack on SIGTERM and SIGHUP, unless the program handles them itself.

    Only the first one counts: a second must not tear the clean-up apart.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    exiting = False

    def leave(number: int, _frame: FrameType | None) -> None:
        nonlocal exiting
        if not exiting:
            exiting = True
            raise SystemExit(128 + number)

    taken = [number for number in _SIGNALS if signal.getsignal(number) is signal.SIG_DFL]
    for number in taken:
        signal.signal(number, leave)
    try:
        yield
    finally:
        for number in taken:
            if signal.getsignal(number) is leave:
                signal.signal(number, signal.SIG_DFL)
