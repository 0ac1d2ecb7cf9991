"""The customers a visitor of the demo may try, each with an order that has a story."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.db.models import Count, Exists, OuterRef
from django.db.models.functions import TruncDate

from dsupport.contract.errors import NotFound
from dsupport.contract.principal import Principal, Proof
from dsupport.models import Tenant
from orders.models import Customer, Order, Payment, Shipment
from orders.rules import OrderStatus, ParcelStatus, PaymentKind, local_day

SHOWN = 10
_UNDER_WAY = [ParcelStatus.IN_TRANSIT, ParcelStatus.OUT_FOR_DELIVERY, ParcelStatus.HELD_UP]


def list_showcase(*, tenant: Tenant, now: datetime) -> list[dict[str, str]]:
    """Return `email`, `name` and `why` of up to ten customers, most telling story first."""
    shown: dict[int, dict[str, str]] = {}
    for why, rows in _stories(tenant, now):
        order = rows.exclude(customer_id__in=shown).select_related("customer").first()
        if order is not None and len(shown) < SHOWN:
            shown[order.customer_id] = _entry(order.customer, why.format(order.number))
    for customer in _others(tenant, shown)[: SHOWN - len(shown)]:
        shown[customer.pk] = _entry(customer, f"{customer.order_count} orders")
    return list(shown.values())


def enter_as(*, tenant: Tenant, principal: Principal, email: str) -> Principal:
    """Return the visitor as a customer without asking for a password.

    Only for edges that nobody but an operator reaches: the demo and the terminal.
    """
    customer = (
        Customer.objects.with_email(tenant.pk, email).first() if email.isprintable() else None
    )
    if customer is None:
        raise NotFound(
            "This shop has no customer with this e-mail. Check its spelling.",
            code="unknown_customer",
        )
    return Principal(
        tenant_id=tenant.pk,
        proof=Proof.LOGIN,
        visitor=principal.visitor,
        customer_id=customer.pk,
    )


def _stories(tenant: Tenant, now: datetime) -> Iterator[tuple[str, Any]]:
    orders = Order.objects.for_tenant(tenant.pk).exclude(customer=None).order_by("pk")
    parcels = Shipment.objects.for_tenant(tenant.pk).filter(order=OuterRef("pk"))
    refunds = Payment.objects.for_tenant(tenant.pk).filter(
        order=OuterRef("pk"), kind=PaymentKind.REFUND
    )
    overdue = parcels.filter(status__in=_UNDER_WAY, promised_on__lt=local_day(now, tenant.zone))
    came_late = parcels.filter(
        status=ParcelStatus.DELIVERED, promised_on__lt=TruncDate("delivered_at", tzinfo=tenant.zone)
    )
    several = orders.annotate(parcels=Count("shipments")).filter(parcels__gt=1)
    in_part = orders.filter(Exists(refunds)).exclude(status=OrderStatus.CANCELLED)
    asked_back = orders.filter(status=OrderStatus.RETURN_REQUESTED)
    yield "Order {} is late and still on its way", orders.filter(Exists(overdue))
    yield "Order {}: the parcel is lost", orders.filter(Exists(parcels.filter(status="lost")))
    yield "Order {} came late", orders.filter(Exists(came_late))
    yield "Order {} travels in several parcels", several
    yield "Order {} was refunded in part", in_part
    yield "Order {} was cancelled", orders.filter(status=OrderStatus.CANCELLED)
    yield "Order {} is not packed yet", orders.filter(status=OrderStatus.PENDING)
    yield "A return of order {} was asked for", asked_back
    yield "Order {} was paid in another currency", orders.exclude(currency=tenant.currency)
    yield "Order {} was delivered", orders.filter(status=OrderStatus.DELIVERED)


def _others(tenant: Tenant, shown: dict[int, dict[str, str]]) -> Any:
    rows = Customer.objects.for_tenant(tenant.pk).exclude(pk__in=shown)
    return rows.annotate(order_count=Count("orders")).filter(order_count__gt=0).order_by("pk")


def _entry(customer: Customer, why: str) -> dict[str, str]:
    return {"email": customer.email, "name": customer.name, "why": why}
