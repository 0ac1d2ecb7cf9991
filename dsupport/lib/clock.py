"""The shop's clock. Services and rules take `now`; edges ask here, tests and evaluations set it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime

_frozen: ContextVar[datetime | None] = ContextVar("frozen_clock", default=None)


def now() -> datetime:
    """Return the current time in UTC, or the frozen one.

    `DSUPPORT_CLOCK` (ISO 8601 with offset) freezes a whole process; `frozen` freezes a block.
    """
    value = _frozen.get()
    if value is not None:
        return value
    return _process_clock() or datetime.now(UTC)


@contextmanager
def frozen(at: datetime) -> Iterator[None]:
    """Freeze the clock for this context; `at` must carry a time zone."""
    if at.tzinfo is None:
        raise ValueError("the clock needs a time with a zone, for example 2026-10-15T09:00:00Z")
    token = _frozen.set(at.astimezone(UTC))
    try:
        yield
    finally:
        _frozen.reset(token)


def _process_clock() -> datetime | None:
    from django.conf import settings

    value: datetime | None = settings.DSUPPORT_CLOCK
    return value
