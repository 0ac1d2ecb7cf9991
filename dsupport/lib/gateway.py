"""Calls to other services: a deadline, a few attempts, growing pauses and a circuit breaker.

Only calls that may be repeated belong here: reads, and effects that carry an idempotency key.
What is called gets the seconds it may take and raises `PortError` when the other side fails;
anything else it raises is a bug and passes through untouched.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from dsupport.contract.errors import PortError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class CallPolicy:
    """How one kind of call is made. All times are seconds.

    The pause before attempt n+1 is random between nothing and `backoff` times 2^(n-1), at most
    `longest_backoff`, and never shorter than what the other side asked for. `trip_after`
    failures in a row open the breaker for `rest`; then one call may try. Whoever asks for more
    patience than a call has time for is left alone for that long, at most `longest_rest`.
    """

    attempts: int = 3
    timeout: float = 10.0
    backoff: float = 0.5
    longest_backoff: float = 8.0
    trip_after: int = 5
    rest: float = 30.0
    longest_rest: float = 600.0

    def __post_init__(self) -> None:
        if self.attempts < 1 or self.trip_after < 1:
            raise ValueError("a policy makes at least one attempt and allows one failure")
        if self.timeout <= 0 or min(self.backoff, self.longest_backoff, self.rest) < 0:
            raise ValueError("a policy's times are positive")


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt that was made, for the trace and the cost ledger. `error` is None on success.

    A failed attempt may have been carried out, and billed, on the other side all the same.
    """

    name: str
    number: int
    seconds: float
    error: PortError | None


class Room:
    """How many calls of this process may be with one service at once."""

    def __init__(self, places: int) -> None:
        self._places = threading.BoundedSemaphore(places)

    @contextmanager
    def place(self, seconds: float) -> Iterator[None]:
        """Hold a place inside the block; `PortError("busy")` when none came free in time."""
        if not self._places.acquire(timeout=max(seconds, 0)):
            raise PortError(
                "Too many calls are under way already; try again in a moment.", code="busy"
            )
        try:
            yield
        finally:
            self._places.release()


class BreakerState(StrEnum):
    CLOSED = "closed"  # calls pass
    OPEN = "open"  # calls fail at once
    HALF_OPEN = "half_open"  # one call is trying whether the other side is back


class Breaker:
    """Remember the failures of one service, for all threads of this process."""

    def __init__(self, *, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._failures = 0
        self._open_until: float | None = None
        self._probing = False

    @property
    def state(self) -> BreakerState:
        with self._lock:
            if self._open_until is None:
                return BreakerState.CLOSED
            return BreakerState.HALF_OPEN if self._probing else BreakerState.OPEN

    def admit(self) -> float:
        """Return 0 when a call may go ahead, else the seconds until it is worth asking again.

        Who is admitted must report back with `succeeded`, `failed` or `released`.
        """
        with self._lock:
            if self._open_until is None:
                return 0.0
            waiting = self._open_until - self._clock()
            if waiting > 0:
                return waiting
            if self._probing:
                return 1.0
            self._probing = True
            return 0.0

    def succeeded(self) -> None:
        with self._lock:
            self._failures = 0
            self._open_until = None
            self._probing = False

    def failed(self, policy: CallPolicy) -> None:
        with self._lock:
            self._failures += 1
            if self._probing or self._failures >= policy.trip_after:
                self._open_until = self._clock() + policy.rest
            self._probing = False

    def rest(self, seconds: float) -> None:
        """Let nobody ask for as long as the other side has asked to be left alone."""
        with self._lock:
            self._open_until = max(self._open_until or 0.0, self._clock() + seconds)
            self._probing = False

    def released(self) -> None:
        """Take an admission back that ended without a word about the other side."""
        with self._lock:
            self._probing = False


class Gateway:
    """Make outside calls by their policies. One breaker per name; safe to share by threads."""

    def __init__(
        self,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        random: Callable[[], float] = random.random,
    ) -> None:
        self._clock = clock
        self._sleep = sleep
        self._random = random
        self._lock = threading.Lock()
        self._breakers: dict[str, Breaker] = {}

    def breaker(self, name: str) -> Breaker:
        """Return the breaker of a service."""
        with self._lock:
            return self._breakers.setdefault(name, Breaker(clock=self._clock))

    def forget(self) -> None:
        """Close every breaker, as after a start."""
        with self._lock:
            self._breakers.clear()

    def call(
        self,
        name: str,
        fn: Callable[[float], T],
        *,
        policy: CallPolicy,
        deadline: float,
        on_attempt: Callable[[Attempt], None] | None = None,
    ) -> T:
        """Return `fn(timeout)`, tried again while the failure is retryable and time is left.

        `deadline` is the seconds for everything, pauses included: a pause that would outlast it
        is not begun, and the last failure is raised at once. Raises `PortError`; its code is
        `circuit_open` when the breaker let no attempt through.
        """
        ends = self._clock() + deadline
        breaker = self.breaker(name)
        failure: PortError | None = None
        for number in range(1, policy.attempts + 1):
            if failure is not None and not self._pause(failure, number - 1, policy, ends):
                if failure.retry_after:
                    breaker.rest(min(failure.retry_after, policy.longest_rest))
                raise failure
            left = ends - self._clock()
            if left <= 0:
                raise failure or PortError(
                    f"no time was left to call {name}", code="timeout", retryable=True
                )
            wait = breaker.admit()
            if wait > 0:
                raise failure or _circuit_open(name, wait)
            try:
                return self._attempt(
                    name, fn, number, min(policy.timeout, left), policy, breaker, on_attempt
                )
            except PortError as error:
                if not error.retryable:
                    raise
                failure = error
        assert failure is not None  # noqa: S101 - the loop ran at least once and did not return
        raise failure

    def _attempt(
        self,
        name: str,
        fn: Callable[[float], T],
        number: int,
        timeout: float,
        policy: CallPolicy,
        breaker: Breaker,
        on_attempt: Callable[[Attempt], None] | None,
    ) -> T:
        begun = self._clock()
        try:
            result = fn(timeout)
        except PortError as error:
            # A refusal (a wrong request, an unknown number) proves that the other side is alive.
            breaker.failed(policy) if error.retryable else breaker.succeeded()
            if on_attempt is not None:
                on_attempt(Attempt(name, number, self._clock() - begun, error))
            raise
        except BaseException:
            breaker.released()
            raise
        breaker.succeeded()
        if on_attempt is not None:
            on_attempt(Attempt(name, number, self._clock() - begun, None))
        return result

    def _pause(self, failure: PortError, failures: int, policy: CallPolicy, ends: float) -> bool:
        longest = min(policy.longest_backoff, policy.backoff * 2 ** (failures - 1))
        pause = max(self._random() * longest, failure.retry_after or 0.0)
        if pause >= ends - self._clock():
            return False
        if pause > 0:
            self._sleep(pause)
        return True


def read_retry_after(value: str | None) -> float | None:
    """Return the seconds of a `retry-after` header; dates and nonsense are None (RFC 9110, 10.2.3).

    Vendors send seconds; a date would need their clock, so it counts as not said.
    """
    try:
        seconds = float(value or "")
    except ValueError:
        return None
    return seconds if 0 <= seconds < float("inf") else None


def _circuit_open(name: str, wait: float) -> PortError:
    return PortError(
        f"{name} failed repeatedly and is left alone for {wait:.0f} s",
        code="circuit_open",
        retryable=True,
        retry_after=wait,
    )


# The process-wide gateway. Tests make their own.
gateway = Gateway()
