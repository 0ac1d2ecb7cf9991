"""What the order room needs from outside."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Protocol

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
