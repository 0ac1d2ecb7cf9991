"""Builders of a small shop, for tests that say only what matters to them."""

from __future__ import annotations

from datetime import UTC, date, datetime
from itertools import count
from typing import Any

import pytest

from dsupport.contract.principal import Principal, Proof
from dsupport.models import Tenant

# Two cores are shared by many test processes: a slow example is no failure.

_numbers = count(5000)


class Shop:
    """A tenant and short ways to fill it."""

    def __init__(self, tenant: Tenant) -> None:
        self.tenant = tenant

    def customer(self, email: str = "ada@example.com", **fields: Any) -> Any:
        from orders.models import Customer

        defaults = {
            "external_id": email.partition("@")[0],
            "first_name": "Ada",
            "last_name": "Moore",
            "currency": "EUR",
        }
        return Customer.objects.create(tenant=self.tenant, email=email, **{**defaults, **fields})

    def order(self, customer: Any = None, number: str = "", **fields: Any) -> Any:
        from orders.models import Order
        from orders.rules import order_key

        number = number or str(next(_numbers))
        defaults = {
            "email": customer.email if customer is not None else "guest@example.com",
            "status": "delivered",
            "currency": "EUR",
            "total_minor": 9980,
            "placed_at": datetime(2026, 10, 1, 9, tzinfo=UTC),
        }
        return Order.objects.create(
            tenant=self.tenant,
            customer=customer,
            number=number,
            number_key=order_key(number),
            **{**defaults, **fields},
        )

    def item(self, order: Any, **fields: Any) -> Any:
        defaults = {
            "position": order.items.count(),
            "name": "Kettle",
            "sku": "KET-1",
            "options": {"colour": "red"},
            "price_minor": 4990,
        }
        return order.items.create(**{**defaults, **fields})

    def parcel(self, order: Any, **fields: Any) -> Any:
        defaults = {
            "position": order.shipments.count(),
            "carrier": "Swift",
            "tracking_number": f"SW{next(_numbers)}",
            "status": "in_transit",
            "promised_on": date(2026, 10, 5),
        }
        return order.shipments.create(**{**defaults, **fields})

    def payment(self, order: Any, **fields: Any) -> Any:
        defaults = {
            "reference": str(next(_numbers)),
            "kind": "payment",
            "description": "Visa ending 4242",
            "amount_minor": order.total_minor,
            "currency": order.currency,
            "status": "completed",
        }
        return order.payments.create(**{**defaults, **fields})

    def product(self, name: str, variants: dict[str, Any] | None = None, **fields: Any) -> Any:
        """Store a product; `variants` maps an article number to `(options, {currency: minor})`."""
        from orders.models import Product

        product = Product.objects.create(
            tenant=self.tenant, name=name, **{"external_id": f"p{next(_numbers)}", **fields}
        )
        for sku, (options, prices) in (variants or {}).items():
            variant = product.variants.create(tenant=self.tenant, sku=sku, options=options)
            for currency, minor in prices.items():
                variant.prices.create(currency=currency, amount_minor=minor)
        return product

    def signed_in(self, customer: Any) -> Principal:
        return Principal(
            tenant_id=self.tenant.pk, proof=Proof.LOGIN, visitor="v1", customer_id=customer.pk
        )

    def guest(self, *orders: Any) -> Principal:
        principal = Principal(tenant_id=self.tenant.pk, visitor="v2")
        for order in orders:
            principal = principal.with_proved_order(order.pk)
        return principal


@pytest.fixture
def shop(tenant: Tenant) -> Shop:
    return Shop(tenant)


@pytest.fixture
def other_shop(db: None) -> Shop:
    return Shop(
        Tenant.objects.create(
            slug="other", name="Other", timezone="America/Los_Angeles", return_window_days=30
        )
    )
