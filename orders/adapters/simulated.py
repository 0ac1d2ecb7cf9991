"""A carrier that needs no network: its reports follow from the tracking number alone.

A tracking number made by `tracking_code` carries a status and the day of the last scan in its
digits, guarded by two check digits, as real numbers carry routing data. Of every other number
this carrier knows nothing, and says so. `Faults` make it slow, unreachable or untruthful: for a
block of code (`faulty`), or for every process of a running desk (`set_faults`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime, timedelta
from datetime import time as wall_time

from django.core.cache import cache
from redis.exceptions import RedisError

from dsupport.contract.errors import PortError
from orders.ports import CarrierReport
from orders.rules import ParcelStatus

_EPOCH = date(2020, 1, 1)
_CACHE_KEY = "orders:carrier:faults"
_ESTIMATE = timedelta(days=2)
# The position in this tuple is the first digit of a code, so its order is part of the format.
_STATUSES = (
    ParcelStatus.PREPARING,
    ParcelStatus.IN_TRANSIT,
    ParcelStatus.OUT_FOR_DELIVERY,
    ParcelStatus.HELD_UP,
    ParcelStatus.DELIVERED,
    ParcelStatus.LOST,
    ParcelStatus.RETURNED,
)
_EVENTS = {
    ParcelStatus.PREPARING: "Shipping label created; the parcel has not been handed over yet",
    ParcelStatus.IN_TRANSIT: "Left a depot on its way to the next one",
    ParcelStatus.OUT_FOR_DELIVERY: "Loaded for delivery",
    ParcelStatus.HELD_UP: "Held up at a depot",
    ParcelStatus.DELIVERED: "Delivered",
    ParcelStatus.LOST: "No scan for a long time; a search was started",
    ParcelStatus.RETURNED: "Returned to the sender",
    ParcelStatus.UNKNOWN: "The carrier has no scan of this parcel",
}


@dataclass(frozen=True, slots=True)
class Faults:
    """What is wrong with the carrier. `status` and `says` replace what it would truly report."""

    down: bool = False
    delay: float = 0.0
    status: ParcelStatus | None = None
    says: str = ""


_block: ContextVar[Faults | None] = ContextVar("carrier_faults", default=None)


@contextmanager
def faulty(faults: Faults) -> Iterator[None]:
    """Let the carrier misbehave for what runs in this context."""
    token = _block.set(faults)
    try:
        yield
    finally:
        _block.reset(token)


def set_faults(faults: Faults | None, *, seconds: int = 3600) -> None:
    """Let the carrier misbehave for every process of this desk, or None to end it."""
    if faults is None:
        cache.delete(_CACHE_KEY)
    else:
        cache.set(_CACHE_KEY, asdict(faults), seconds)


def present_faults() -> Faults:
    """Return the faults in force: of this block, else of the whole desk."""
    own = _block.get()
    if own is not None:
        return own
    try:
        stored = cache.get(_CACHE_KEY)
    except RedisError:  # the simulation is no reason to need a cache
        stored = None
    return Faults(**stored) if stored else Faults()


def tracking_code(template: str, *, status: ParcelStatus, scanned_on: date, serial: int) -> str:
    """Return a tracking number of which this carrier knows the story.

    Each `#` of the template becomes a digit; there must be at least nine, and a letter beside
    them. `serial` tells apart parcels of one status and day.
    """
    room = template.count("#") - 7
    day = (scanned_on - _EPOCH).days
    if room < 2 or not any(char.isalpha() for char in template):
        raise ValueError(f"{template!r} has no letter or fewer than nine digits to fill")
    if not 0 <= day <= 9999 or not 0 <= serial < 10**room:
        raise ValueError("the day or the serial number does not fit into a tracking number")
    body = f"{_STATUSES.index(status)}{day:04}{serial:0{room}}"
    digits = iter(body + _check_digits(body))
    return "".join(next(digits) if char == "#" else char for char in template)


class SimulatedCarrier:
    """The shipped stand-in for a carrier's service."""

    def __init__(
        self,
        *,
        faults: Callable[[], Faults] = present_faults,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._faults = faults
        self._sleep = sleep

    def track(self, carrier: str, tracking_number: str, *, timeout: float) -> CarrierReport:
        faults = self._faults()
        if faults.delay > 0:
            self._sleep(min(faults.delay, timeout))
        if faults.delay > timeout:
            raise PortError(f"{carrier} did not answer in time", code="timeout", retryable=True)
        if faults.down:
            raise PortError(f"{carrier} cannot be reached", retryable=True)
        status, scanned_on = _read(tracking_number)
        return CarrierReport(
            status=faults.status or status,
            last_event=faults.says or _EVENTS[faults.status or status],
            at=datetime.combine(scanned_on, wall_time(12), UTC) if scanned_on else None,
            estimated_on=_estimate(faults.status or status, scanned_on),
        )


def _read(tracking_number: str) -> tuple[ParcelStatus, date | None]:
    digits = "".join(char for char in tracking_number if char in "0123456789")
    body, check = digits[:-2], digits[-2:]
    known = (
        len(digits) >= 9
        and any(char.isalpha() for char in tracking_number)
        and _check_digits(body) == check
        and int(body[0]) < len(_STATUSES)
    )
    if not known:
        return ParcelStatus.UNKNOWN, None
    return _STATUSES[int(body[0])], _EPOCH + timedelta(days=int(body[1:5]))


def _check_digits(body: str) -> str:
    return f"{98 - int(body) * 100 % 97:02}"


def _estimate(status: ParcelStatus, scanned_on: date | None) -> date | None:
    if scanned_on is None:
        return None
    if status is ParcelStatus.OUT_FOR_DELIVERY:
        return scanned_on
    return scanned_on + _ESTIMATE if status is ParcelStatus.IN_TRANSIT else None
