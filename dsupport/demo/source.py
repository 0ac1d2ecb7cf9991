"""The demo shop as it is written down: `data/*.yaml`, read into values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import yaml

from dsupport.lib.money import Money

DATA = Path(__file__).parent / "data"
ARTICLES = DATA / "articles"

# What the shop's help calls large items; they travel alone, later and for a fee of their own.
_LARGE = frozenset({"HL-BNCH-01", "HL-BOWL-01", "HL-CHST-01"})


@dataclass(frozen=True, slots=True)
class Postal:
    """A delivery address, its parts named as in the shop's records."""

    line1: str
    line2: str
    city: str
    region: str
    postcode: str
    country: str


@dataclass(frozen=True, slots=True)
class Person:
    """A customer of the shop."""

    first_name: str
    last_name: str
    email: str
    currency: str
    address: Postal


@dataclass(frozen=True, slots=True)
class StaffMember:
    username: str
    first_name: str
    last_name: str
    email: str
    role: str


@dataclass(frozen=True, slots=True)
class VariantEntry:
    sku: str
    options: Mapping[str, str]
    prices: Mapping[str, Money]
    available: bool


@dataclass(frozen=True, slots=True)
class ProductEntry:
    sku: str
    name: str
    category: str
    description: str
    variants: tuple[VariantEntry, ...]

    @property
    def is_large(self) -> bool:
        return self.sku in _LARGE


@dataclass(frozen=True, slots=True)
class CarrierEntry:
    name: str
    countries: frozenset[str]
    tracking_template: str
    tracking_pattern: str


@dataclass(frozen=True, slots=True)
class Service:
    """One way of shipping: business days from dispatch, and what it costs."""

    name: str
    min_days: int
    max_days: int
    price: Money
    free_from: Money | None = None

    def fee(self, goods: Money) -> Money:
        """Return the fee of an order; standard shipping is free from an amount on."""
        if self.free_from is not None and self.free_from <= goods:
            return Money(0, self.price.currency)
        return self.price


@dataclass(frozen=True, slots=True)
class Terms:
    """What the shop offers in one currency's region."""

    standard: Service
    express: Service
    large_item: Service


@dataclass(frozen=True, slots=True)
class Shop:
    """Everything that the demo shop is made from. `settings` are the tenant's own fields."""

    settings: Mapping[str, Any]
    zone: ZoneInfo
    currencies: tuple[str, ...]
    products: tuple[ProductEntry, ...]
    people: tuple[Person, ...]
    staff: tuple[StaffMember, ...]
    carriers: tuple[CarrierEntry, ...]
    terms: Mapping[str, Terms]

    def carrier_for(self, country: str) -> CarrierEntry:
        return next(carrier for carrier in self.carriers if country in carrier.countries)

    def person(self, email: str) -> Person:
        return next(person for person in self.people if person.email == email)

    def variant(self, sku: str) -> tuple[ProductEntry, VariantEntry]:
        return next(
            (product, variant)
            for product in self.products
            for variant in product.variants
            if variant.sku == sku
        )


_TENANT_FIELDS = (
    "slug", "name", "tagline", "mark", "timezone", "currency", "return_window_days",
    "opening_hours", "holidays", "starter_questions",
)  # fmt: skip


@cache
def read_shop() -> Shop:
    """Return the demo shop; its files ship with the project and are read once."""
    shop, people, catalogue = (_read(name) for name in ("shop", "people", "catalogue"))
    return Shop(
        settings={field: shop[field] for field in _TENANT_FIELDS},
        zone=ZoneInfo(shop["timezone"]),
        currencies=tuple(shop["currencies"]),
        products=tuple(_product(entry) for entry in catalogue["products"]),
        people=tuple(_person(entry) for entry in people["customers"]),
        staff=tuple(StaffMember(**entry) for entry in people["staff"]),
        carriers=tuple(_carrier(entry) for entry in shop["carriers"]),
        terms={entry["currency"]: _terms(entry) for entry in shop["shipping"]},
    )


def _read(name: str) -> Any:
    return yaml.safe_load((DATA / f"{name}.yaml").read_text(encoding="utf-8"))


def _product(entry: Mapping[str, Any]) -> ProductEntry:
    return ProductEntry(
        sku=entry["sku"],
        name=entry["name"],
        category=entry["category"],
        description=entry["description"],
        variants=tuple(
            VariantEntry(
                sku=variant["sku"],
                options=variant["options"],
                prices={code: Money.parse(price, code) for code, price in variant["price"].items()},
                available=variant["available"],
            )
            for variant in entry["variants"]
        ),
    )


def _person(entry: Mapping[str, Any]) -> Person:
    return Person(
        first_name=entry["first_name"],
        last_name=entry["last_name"],
        email=entry["email"],
        currency=entry["currency"],
        address=Postal(**entry["address"], country=entry["country"]),
    )


def _carrier(entry: Mapping[str, Any]) -> CarrierEntry:
    return CarrierEntry(
        name=entry["name"],
        countries=frozenset(entry["countries"]),
        tracking_template=entry["tracking_template"],
        tracking_pattern=entry["tracking_pattern"],
    )


def _terms(entry: Mapping[str, Any]) -> Terms:
    currency = entry["currency"]

    def service(key: str, name: str) -> Service:
        offer = entry[key]
        free_from = offer.get("free_from")
        return Service(
            name=name,
            min_days=offer["min_days"],
            max_days=offer["max_days"],
            price=Money.parse(offer["price"], currency),
            free_from=None if free_from is None else Money.parse(free_from, currency),
        )

    return Terms(
        standard=service("standard", "Standard"),
        express=service("express", "Express"),
        large_item=service("large_item", "Large item"),
    )
