"""What the order room needs from outside."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Protocol

from dsupport.lib.money import Money
from orders.rules import ParcelStatus


@dataclass(frozen=True, slots=True)
class CarrierReport:
    """What a carrier says about a parcel: its word, not our record.

    `last_event` is the carrier's own text and may hold anything.
    """

    status: ParcelStatus
    last_event: str = ""
    at: datetime | None = None
    estimated_on: date | None = None


class Carrier(Protocol):
    """The port to parcel carriers. Adapters raise `PortError` for trouble on their side."""

    def track(self, carrier: str, tracking_number: str, *, timeout: float) -> CarrierReport:
        """Return the carrier's latest report within `timeout` seconds.

        A number of which the carrier knows nothing is a report with status `unknown`.
        """
        ...


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a payment provider says of a refund: its own reference, for good."""

    reference: str


class PaymentGateway(Protocol):
    """The port to who moves money. A key acts once, however often it is sent.

    `PortError` with `retryable` leaves unknown whether money moved; without it, none did.
    """

    def refund(self, *, key: str, amount: Money, to: str, timeout: float) -> Receipt: ...

    def look_up(self, key: str, *, timeout: float) -> Receipt | None:
        """Return the receipt of a key, or None when nothing was done under it."""
        ...
