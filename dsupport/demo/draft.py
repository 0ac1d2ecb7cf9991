"""One order of the demo shop on its way to becoming facts: what every course of events shares."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from random import Random
from typing import Any, Protocol

from dsupport.demo.days import HOURS, Calendar, Hours
from dsupport.demo.facts import Line, Method, OrderFacts, ParcelFacts, PaymentFacts
from dsupport.demo.source import Person, Postal, Service, Shop, Terms
from dsupport.lib.money import Money
from orders.rules import MethodKind, OrderStatus, ParcelStatus, PaymentKind, PaymentStatus

_REMOTE = frozenset({"HI", "AK", "Okinawa"})
_REMOTE_DAYS = 3
_GIFT_SHARE = 0.5
_GIFT_PART = {"EUR": Money(2500, "EUR"), "USD": Money(2500, "USD"), "JPY": Money(3000, "JPY")}


class CodeMaker(Protocol):
    """Makes the tracking numbers of which the carrier of the demo knows the story."""

    def __call__(
        self, template: str, *, status: ParcelStatus, scanned_on: date, serial: int
    ) -> str: ...


@dataclass(frozen=True, slots=True)
class World:
    """The shop at the moment of seeding; every date follows from `now`."""

    shop: Shop
    calendar: Calendar
    now: datetime
    code_for: CodeMaker

    @property
    def today(self) -> date:
        return self.now.astimezone(self.shop.zone).date()

    def ago(self, days: int) -> date:
        return self.today - timedelta(days=days)


@dataclass(frozen=True, slots=True)
class Trip:
    """The days of a parcel, on the shop's calendar."""

    shipped_on: date
    promised_on: date
    delivered_on: date | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """Who buys what and where it goes; `rng` decides the rest, `serial` numbers the parcels."""

    world: World
    rng: Random
    person: Person
    address: Postal
    wallet: tuple[Method, ...]
    lines: tuple[Line, ...]
    currency: str
    serial: int
    express: bool = False

    @property
    def terms(self) -> Terms:
        return self.world.shop.terms[self.currency]

    @property
    def hours(self) -> Hours:
        return HOURS[self.currency]

    @property
    def service(self) -> Service:
        """Return how the ordinary goods travel; remote places have no express and wait longer."""
        service = self.terms.standard
        if self.address.region in _REMOTE:
            return replace(service, max_days=service.max_days + _REMOTE_DAYS)
        return self.terms.express if self.express else service

    @property
    def fee(self) -> Money:
        if any(line.is_large for line in self.lines):
            return self.terms.large_item.price
        goods = sum((line.total for line in self.lines), Money(0, self.currency))
        return self.service.fee(goods)

    def positions(self, *, large: bool) -> tuple[int, ...]:
        """Return the lines that travel alone (`large`) or those that travel together."""
        return tuple(i for i, line in enumerate(self.lines) if line.is_large is large)

    # --- Days and moments ---------------------------------------------------------------------
    def shipped(self, day: date, service: Service | None = None) -> Trip:
        """Return the trip of a parcel that left on a day."""
        return Trip(day, self.world.calendar.after(day, (service or self.service).max_days))

    def promised(self, day: date) -> Trip:
        """Return the trip of a parcel that was promised for a day, at the latest."""
        return Trip(self.world.calendar.before(day, self.service.max_days), day)

    def arriving(self, day: date) -> Trip:
        """Return the trip of a parcel that came on a day, in time."""
        taken = self.rng.randint(self.service.min_days, self.service.max_days)
        trip = self.shipped(self.world.calendar.before(day, taken))
        return replace(trip, promised_on=max(trip.promised_on, day), delivered_on=day)

    def placed_before(self, trip: Trip) -> datetime:
        """Return when an order that left on that day was placed: that day or the evening before."""
        calendar = self.world.calendar
        if self.rng.random() < 0.7:
            return calendar.moment(trip.shipped_on, self.hours.placing, self.rng)
        return calendar.moment(calendar.before(trip.shipped_on, 1), self.hours.evening, self.rng)

    # --- Parcels ------------------------------------------------------------------------------
    def parcel(
        self,
        status: ParcelStatus,
        trip: Trip,
        *,
        contents: Iterable[int] | None = None,
        scanned_on: date | None = None,
        extra: int = 0,
    ) -> ParcelFacts:
        """Return a parcel that has left; its tracking number tells the carrier's side."""
        carrier = self.world.shop.carrier_for(self.address.country)
        calendar, arrived = self.world.calendar, None
        if trip.delivered_on is not None:
            arrived = calendar.moment(trip.delivered_on, self.hours.arriving, self.rng)
        code = self.world.code_for(
            carrier.tracking_template,
            status=status,
            scanned_on=scanned_on or trip.delivered_on or trip.shipped_on,
            serial=self.serial + extra,
        )
        return ParcelFacts(
            status=status,
            promised_on=trip.promised_on,
            contents=tuple(range(len(self.lines)) if contents is None else contents),
            carrier=carrier.name,
            tracking_number=code,
            shipped_at=calendar.moment(trip.shipped_on, self.hours.leaving, self.rng),
            delivered_at=arrived,
        )

    def waiting_parcels(self) -> tuple[ParcelFacts, ...]:
        """Return the parcels of an order that has not left: promised, without a number yet."""
        calendar = self.world.calendar
        leaves_on = calendar.after(self.world.today - timedelta(days=1), 1)
        kinds = ((False, self.service), (True, self.terms.large_item))
        return tuple(
            ParcelFacts(
                status=ParcelStatus.PREPARING,
                promised_on=calendar.after(leaves_on, service.max_days),
                contents=contents,
            )
            for is_large, service in kinds
            if (contents := self.positions(large=is_large))
        )

    # --- Money --------------------------------------------------------------------------------
    def pay(self, placed_at: datetime, left_at: datetime | None) -> tuple[PaymentFacts, ...]:
        """Return how the order is paid: a card when it leaves, all else when it is placed.

        A gift card, good in its own currency alone, pays a part; another method pays the rest.
        """
        total = sum((line.total for line in self.lines), self.fee)
        gifts = [method for method in self.wallet if method.kind is MethodKind.GIFT_CARD]
        main = self.rng.choice([method for method in self.wallet if method not in gifts])
        parts = [(main, total)]
        if gifts and gifts[0].currency == self.currency and self.rng.random() < _GIFT_SHARE:
            part = min(_GIFT_PART[self.currency], total)
            parts = [(gifts[0], part), (main, total - part)]
        return tuple(
            _paid(f"P{index}", method, amount, placed_at, left_at)
            for index, (method, amount) in enumerate(parts, start=1)
            if amount.minor
        )

    def order(
        self,
        status: OrderStatus,
        placed_at: datetime,
        parcels: tuple[ParcelFacts, ...],
        payments: tuple[PaymentFacts, ...],
        **notes: Any,
    ) -> OrderFacts:
        """Return the order's facts; its number is given when all orders are known."""
        name = "Large item" if self.positions(large=True) else self.service.name
        metadata: Mapping[str, Any] = {
            "shipping": {"service": name, "fee_minor": self.fee.minor},
            **notes,
        }
        return OrderFacts(
            number="",
            email=self.person.email,
            address=self.address,
            status=status,
            placed_at=placed_at,
            fee=self.fee,
            lines=self.lines,
            parcels=parcels,
            payments=payments,
            metadata=metadata,
        )


def refund(
    payments: Iterable[PaymentFacts],
    amount: Money,
    at: datetime,
    status: PaymentStatus = PaymentStatus.COMPLETED,
) -> tuple[PaymentFacts, ...]:
    """Return an amount to where it came from: card or account first, gift card last."""
    taken = [paid for paid in payments if paid.status is PaymentStatus.COMPLETED]
    parts: list[PaymentFacts] = []
    for paid in sorted(taken, key=lambda paid: paid.method.kind is MethodKind.GIFT_CARD):
        part = min(amount, paid.amount)
        if part.minor:
            reference = f"R{len(parts) + 1}"
            parts.append(PaymentFacts(reference, PaymentKind.REFUND, status, paid.method, part, at))
            amount -= part
    return tuple(parts)


def _paid(
    reference: str, method: Method, amount: Money, placed_at: datetime, left_at: datetime | None
) -> PaymentFacts:
    if method.kind is not MethodKind.CARD:
        status, at = PaymentStatus.COMPLETED, placed_at
    elif left_at is None:
        status, at = PaymentStatus.PENDING, placed_at
    else:
        status, at = PaymentStatus.COMPLETED, left_at
    return PaymentFacts(reference, PaymentKind.PAYMENT, status, method, amount, at)
