"""What the generator makes: plain values that hold an order of the demo shop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from dsupport.demo.source import Postal
from dsupport.lib.money import Money
from orders.rules import MethodKind, OrderStatus, ParcelStatus, PaymentKind, PaymentStatus


@dataclass(frozen=True, slots=True)
class Method:
    """A way to pay in a customer's profile; `key` tells it apart in the whole shop."""

    key: str
    kind: MethodKind
    label: str
    last_four: str
    currency: str
    balance: Money | None = None

    @property
    def description(self) -> str:
        return f"{self.label} ending {self.last_four}" if self.last_four else self.label


@dataclass(frozen=True, slots=True)
class Line:
    sku: str
    name: str
    options: Mapping[str, str]
    quantity: int
    price: Money
    is_large: bool = False

    @property
    def total(self) -> Money:
        return Money(self.price.minor * self.quantity, self.price.currency)


@dataclass(frozen=True, slots=True)
class ParcelFacts:
    """One parcel. `contents` are positions of lines, each travelling whole."""

    status: ParcelStatus
    promised_on: date
    contents: tuple[int, ...]
    carrier: str = ""
    tracking_number: str = ""
    shipped_at: datetime | None = None
    delivered_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class PaymentFacts:
    """Money that moved or should have; `reference` tells the payments of an order apart."""

    reference: str
    kind: PaymentKind
    status: PaymentStatus
    method: Method
    amount: Money
    at: datetime


@dataclass(frozen=True, slots=True)
class OrderFacts:
    number: str
    email: str
    address: Postal
    status: OrderStatus
    placed_at: datetime
    fee: Money
    lines: tuple[Line, ...]
    parcels: tuple[ParcelFacts, ...] = ()
    payments: tuple[PaymentFacts, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def currency(self) -> str:
        return self.fee.currency

    @property
    def goods(self) -> Money:
        return sum_of((line.total for line in self.lines), self.currency)

    @property
    def total(self) -> Money:
        return self.goods + self.fee


def sum_of(amounts: Any, currency: str) -> Money:
    """Return the exact sum, which is zero of the currency for no amounts."""
    return sum(amounts, Money(0, currency))
