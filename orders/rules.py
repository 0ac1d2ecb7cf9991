"""The shop's own arithmetic: states, numbers, days. Values in, verdict out."""

from __future__ import annotations

import hashlib
import hmac
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from enum import StrEnum
from zoneinfo import ZoneInfo

from orders.errors import InvalidDate, StatusNotAllowed


class OrderStatus(StrEnum):
    """How far an order has come. What was paid back stands in its payments, not here."""

    PENDING = "pending"
    ITEMS_CHANGED = "items_changed"  # pending, and its one change of items is used up
    PROCESSED = "processed"
    SHIPPED = "shipped"
    DELIVERED = "delivered"
    CANCELLED = "cancelled"
    RETURN_REQUESTED = "return_requested"
    RETURNED = "returned"
    EXCHANGE_REQUESTED = "exchange_requested"
    EXCHANGED = "exchanged"


class ParcelStatus(StrEnum):
    """Where a parcel is. `UNKNOWN` is said when no source of ours tells."""

    UNKNOWN = "unknown"
    PREPARING = "preparing"
    IN_TRANSIT = "in_transit"
    OUT_FOR_DELIVERY = "out_for_delivery"
    HELD_UP = "held_up"
    DELIVERED = "delivered"
    LOST = "lost"
    RETURNED = "returned"


class PaymentKind(StrEnum):
    PAYMENT = "payment"
    REFUND = "refund"


class PaymentStatus(StrEnum):
    PENDING = "pending"
    COMPLETED = "completed"
    FAILED = "failed"


class MethodKind(StrEnum):
    CARD = "card"
    PAYPAL = "paypal"
    GIFT_CARD = "gift_card"


TRANSITIONS: Mapping[OrderStatus, frozenset[OrderStatus]] = {
    OrderStatus.PENDING: frozenset(
        {OrderStatus.ITEMS_CHANGED, OrderStatus.PROCESSED, OrderStatus.CANCELLED}
    ),
    OrderStatus.ITEMS_CHANGED: frozenset({OrderStatus.PROCESSED}),
    OrderStatus.PROCESSED: frozenset({OrderStatus.SHIPPED, OrderStatus.DELIVERED}),
    OrderStatus.SHIPPED: frozenset({OrderStatus.DELIVERED, OrderStatus.RETURNED}),
    OrderStatus.DELIVERED: frozenset(
        {OrderStatus.RETURN_REQUESTED, OrderStatus.EXCHANGE_REQUESTED}
    ),
    OrderStatus.CANCELLED: frozenset(),
    # A request that is withdrawn or turned down leaves the order delivered.
    OrderStatus.RETURN_REQUESTED: frozenset({OrderStatus.RETURNED, OrderStatus.DELIVERED}),
    OrderStatus.RETURNED: frozenset(),
    OrderStatus.EXCHANGE_REQUESTED: frozenset({OrderStatus.EXCHANGED, OrderStatus.DELIVERED}),
    OrderStatus.EXCHANGED: frozenset(),
}

# What somebody still has to do something about.
UNDER_WAY = frozenset(
    status for status, after in TRANSITIONS.items() if after and status is not OrderStatus.DELIVERED
)

STATUS_TEXT: Mapping[OrderStatus, str] = {
    OrderStatus.PENDING: "Received, not packed yet",
    OrderStatus.ITEMS_CHANGED: "Received and changed once, not packed yet",
    OrderStatus.PROCESSED: "Packed, waiting for the carrier",
    OrderStatus.SHIPPED: "On its way",
    OrderStatus.DELIVERED: "Delivered",
    OrderStatus.CANCELLED: "Cancelled",
    OrderStatus.RETURN_REQUESTED: "Delivered, return requested",
    OrderStatus.RETURNED: "Returned",
    OrderStatus.EXCHANGE_REQUESTED: "Delivered, exchange requested",
    OrderStatus.EXCHANGED: "Exchanged",
}

_NOT_AWAITED = frozenset({ParcelStatus.DELIVERED, ParcelStatus.RETURNED})
_NOTHING_COMES = frozenset({OrderStatus.CANCELLED, OrderStatus.RETURNED, OrderStatus.EXCHANGED})


def can_become(current: OrderStatus, wanted: OrderStatus) -> bool:
    """Tell whether an order may move from one status to another."""
    return wanted in TRANSITIONS[current]


def check_can_become(current: OrderStatus, wanted: OrderStatus) -> None:
    """Raise `StatusNotAllowed` unless the order may move to the wanted status."""
    if not can_become(current, wanted):
        raise StatusNotAllowed(current.value, wanted.value)


# --- Numbers and e-mail addresses, in any spelling --------------------------------------------
_DASHES = r"\-\u2010\u2011\u2012\u2013\u2014\u2015\u2212"
_DROPPED = re.compile(rf"[#{_DASHES}\s]")
_PREFIX = re.compile(r"(?:order|ord)+(?=.)")


def order_key(number: str) -> str:
    """Return the spelling-free form of an order number: `#W261`, `ORD-w261` and `w 261` are one.

    Compatibility forms (full-width digits) are unified, case, `#`, blanks and dashes dropped,
    and a leading "ord" or "order". What cannot be printed is dropped too, so the key may be
    handed to a database.
    """
    printable = "".join(char for char in number if unicodedata.category(char)[0] != "C")
    folded = unicodedata.normalize("NFKC", printable).casefold()
    key = unicodedata.normalize("NFKC", _DROPPED.sub("", folded))
    prefix = _PREFIX.match(key)
    return key[prefix.end() :] if prefix else key


def email_key(email: str) -> str:
    """Return the form in which two spellings of an e-mail address compare equal."""
    return unicodedata.normalize("NFC", email).strip().casefold()


def is_proof(*, stored_email: str | None, given_email: str) -> bool:
    """Tell whether the e-mail given is the one the order was placed with.

    An order that does not exist (`stored_email` is None) takes the same work as a wrong guess.
    """
    stored = _fingerprint(stored_email if stored_email is not None else "")
    matches = hmac.compare_digest(stored, _fingerprint(given_email))
    return matches and bool(stored_email)


def _fingerprint(email: str) -> bytes:
    return hashlib.sha256(email_key(email).encode(errors="surrogatepass")).digest()


# --- Days on the shop's calendar --------------------------------------------------------------
def local_day(at: datetime, zone: ZoneInfo) -> date:
    """Return the day on the shop's calendar at a moment, which must carry its zone."""
    if at.tzinfo is None:
        raise ValueError("a moment needs a zone")
    return at.astimezone(zone).date()


def read_day(text: str) -> date:
    """Return the day written as `2026-11-30`; raise `InvalidDate` for anything else."""
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", text.strip(), re.ASCII):
        raise InvalidDate
    try:
        return date.fromisoformat(text.strip())
    except ValueError:
        raise InvalidDate from None


def day_bounds(day: date, zone: ZoneInfo) -> tuple[datetime, datetime]:
    """Return the first moment of a shop's day and the first moment of the next one.

    The two are 23 or 25 hours apart on the days that the clocks change.
    """
    if not date.min < day < date(9999, 12, 30):
        raise InvalidDate
    start = datetime.combine(day, time.min, zone)
    return start, datetime.combine(day + timedelta(days=1), time.min, zone)


def days_late(
    promised_on: date | None, delivered_at: datetime | None, now: datetime, zone: ZoneInfo
) -> int | None:
    """Return how many calendar days a parcel came, or is by now, after the promised day.

    Days are the shop's own: one o'clock at night is already late, whatever the hour in UTC.
    None when no day was promised.
    """
    if promised_on is None:
        return None
    arrived = local_day(delivered_at if delivered_at is not None else now, zone)
    return max(0, (arrived - promised_on).days)


def return_window_last_day(
    delivered_at: datetime | None, window_days: int | None, zone: ZoneInfo
) -> date | None:
    """Return the last day on which a return is still in time; None when nothing tells."""
    if delivered_at is None or window_days is None:
        return None
    return local_day(delivered_at, zone) + timedelta(days=window_days)


def is_return_window_open(
    delivered_at: datetime | None, window_days: int | None, now: datetime, zone: ZoneInfo
) -> bool | None:
    """Tell whether a return is in time: until 23:59:59 of the last day on the shop's clock."""
    last_day = return_window_last_day(delivered_at, window_days, zone)
    return None if last_day is None else local_day(now, zone) <= last_day


@dataclass(frozen=True, slots=True)
class Parcel:
    """The dates of one parcel."""

    status: ParcelStatus
    promised_on: date | None
    delivered_at: datetime | None

    def days_late(self, now: datetime, zone: ZoneInfo) -> int | None:
        """Return the delay; None also for an arrival of which no moment is recorded."""
        if self.status in _NOT_AWAITED and self.delivered_at is None:
            return None
        return days_late(self.promised_on, self.delivered_at, now, zone)


@dataclass(frozen=True, slots=True)
class Delivery:
    """What an order's parcels come to, taken together."""

    promised_on: date | None
    delivered_at: datetime | None
    days_late: int | None

    @property
    def is_late(self) -> bool:
        return bool(self.days_late)


def status_text(status: OrderStatus, parcels: Sequence[Parcel], delivery: Delivery) -> str:
    """Return in plain words how an order stands, with its delay and what became of its parcels."""
    words = [STATUS_TEXT[status]]
    arrived = sum(parcel.status is ParcelStatus.DELIVERED for parcel in parcels)
    if status is OrderStatus.SHIPPED and 0 < arrived < len(parcels):
        words.append(f"{arrived} of {len(parcels)} parcels delivered")
    if delivery.days_late:
        words.append(f"{delivery.days_late} {'day' if delivery.days_late == 1 else 'days'} late")
    troubles = {ParcelStatus.LOST: "lost", ParcelStatus.HELD_UP: "held up at the carrier"}
    for trouble, text in troubles.items():
        count = sum(parcel.status is trouble for parcel in parcels)
        if count and status not in _NOTHING_COMES:
            words.append(f"{count} {'parcel is' if count == 1 else 'parcels are'} {text}")
    return ", ".join(words)


def sum_up_delivery(
    status: OrderStatus, parcels: Iterable[Parcel], now: datetime, zone: ZoneInfo
) -> Delivery:
    """Return the delivery of a whole order: complete with its last parcel, late as its latest.

    Nothing is awaited of a cancelled, returned or exchanged order, so it is never late.
    """
    every = list(parcels)
    arrivals = [parcel.delivered_at for parcel in every]
    complete = [at for at in arrivals if at is not None]
    promised = [parcel.promised_on for parcel in every if parcel.promised_on is not None]
    late = [days for parcel in every if (days := parcel.days_late(now, zone)) is not None]
    return Delivery(
        promised_on=max(promised, default=None),
        delivered_at=max(complete) if every and len(complete) == len(arrivals) else None,
        days_late=None if status in _NOTHING_COMES else max(late, default=None),
    )
