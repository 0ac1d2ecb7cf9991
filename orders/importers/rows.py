"""A shop's data in one neutral form, whatever system it came from; and what came of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from dsupport.lib.money import Money, MoneyError
from orders.rules import MethodKind, OrderStatus, ParcelStatus, PaymentKind, PaymentStatus

_LARGEST = 2**63 - 1


@dataclass(frozen=True, slots=True)
class MethodRow:
    external_id: str
    kind: MethodKind
    currency: str
    label: str = ""
    last_four: str = ""
    balance_minor: int | None = None


@dataclass(frozen=True, slots=True)
class CustomerRow:
    """`row` names the place in the source, here and below, for the report."""

    row: str
    external_id: str
    email: str
    currency: str
    first_name: str = ""
    last_name: str = ""
    address: Mapping[str, str] = field(default_factory=dict)
    methods: tuple[MethodRow, ...] = ()


@dataclass(frozen=True, slots=True)
class VariantRow:
    row: str
    sku: str
    available: bool
    options: Mapping[str, str]
    prices: Mapping[str, int]  # currency to minor units


@dataclass(frozen=True, slots=True)
class ProductRow:
    row: str
    external_id: str
    name: str
    variants: tuple[VariantRow, ...] = ()
    category: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True)
class ItemRow:
    name: str
    sku: str
    price_minor: int
    options: Mapping[str, str]
    quantity: int = 1


@dataclass(frozen=True, slots=True)
class ShipmentRow:
    """`contents` maps positions in the order's items to how many of them travel."""

    status: ParcelStatus
    contents: Mapping[int, int]
    carrier: str = ""
    tracking_number: str = ""
    shipped_at: datetime | None = None
    promised_on: date | None = None
    delivered_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class PaymentRow:
    reference: str
    kind: PaymentKind
    amount_minor: int
    method_id: str = ""  # `external_id` of a method of the order's customer
    status: PaymentStatus = PaymentStatus.COMPLETED
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class OrderRow:
    row: str
    number: str
    number_key: str
    customer_id: str  # `external_id` of the customer, or empty for an order without an account
    email: str
    status: OrderStatus
    currency: str
    total_minor: int
    items: tuple[ItemRow, ...]
    shipments: tuple[ShipmentRow, ...] = ()
    payments: tuple[PaymentRow, ...] = ()
    placed_at: datetime | None = None
    address: Mapping[str, str] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Refusal:
    """A row that was left out, and why."""

    row: str
    reason: str


@dataclass(slots=True)
class ShopRows:
    """Everything that a reader could make sense of, and what it could not."""

    customers: list[CustomerRow] = field(default_factory=list)
    products: list[ProductRow] = field(default_factory=list)
    orders: list[OrderRow] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)

    def refuse(self, row: str, reason: str) -> None:
        self.refused.append(Refusal(row, reason))


@dataclass(slots=True)
class ImportReport:
    """What an import did. A row is counted once, with all that hangs on it."""

    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    refused: list[Refusal] = field(default_factory=list)

    def count(self, outcomes: Iterable[tuple[str, str]]) -> None:
        """Add pairs of a kind (`orders`) and an outcome (`created`, `updated`, `unchanged`)."""
        self.counts.update(outcomes)

    def total(self, outcome: str) -> int:
        return sum(number for (_, found), number in self.counts.items() if found == outcome)

    def to_json(self) -> dict[str, Any]:
        """Return `created`, `updated`, `unchanged`, `refused`, and the counts of each kind."""
        outcomes = ("created", "updated", "unchanged")
        kinds = sorted({kind for kind, _ in self.counts})
        return {
            **{outcome: self.total(outcome) for outcome in outcomes},
            "refused": [{"row": item.row, "reason": item.reason} for item in self.refused],
            "by_kind": {
                kind: {outcome: self.counts[kind, outcome] for outcome in outcomes}
                for kind in kinds
            },
        }


def read_amount(value: Any, currency: str) -> int:
    """Return an amount of a source, in major units, as minor ones; raise `ValueError` if bad.

    `value` is text, an integer or a `Decimal`; JSON must be parsed so that no float arises.
    """
    if isinstance(value, bool | float) or value is None:
        raise ValueError(f"{value!r} is not an amount")
    try:
        minor = Money.parse(str(value), currency).minor
    except (MoneyError, OverflowError) as error:
        raise ValueError(str(error)) from None
    if not 0 <= minor <= _LARGEST:
        raise ValueError(f"{value} is {'negative' if minor < 0 else 'too large to be an amount'}")
    return minor
