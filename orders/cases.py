"""An order read for a decision: the row, what the rules see of it, and the state decided on."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Prefetch

from dsupport.contract.principal import Principal
from orders.errors import OrderNotFound
from orders.models import Customer, Order, OrderItem, Payment, PaymentMethod, Shipment, Variant
from orders.policy import Choice, Line, Method, Movement, OrderCase
from orders.rules import (
    MethodKind,
    OrderStatus,
    Parcel,
    ParcelStatus,
    PaymentKind,
    PaymentStatus,
    local_day,
    order_key,
    sum_up_delivery,
)

ADDRESS_FIELDS = ("line1", "line2", "city", "region", "postcode", "country")
_HAS_ARRIVED = {OrderStatus.DELIVERED, OrderStatus.RETURN_REQUESTED, OrderStatus.EXCHANGE_REQUESTED}


@dataclass(frozen=True, slots=True)
class Opened:
    """An order of the asker's and what the rules see of it."""

    order: Order
    case: OrderCase


def open_case(
    principal: Principal, number: str, *, now: datetime | None = None, lock: bool = False
) -> Opened:
    """Read one of the asker's orders; somebody else's is as absent as one never placed.

    `now` is needed by rules that count days. With `lock`, the order and the asker's wallet stay
    as they are until the caller's transaction ends.
    """
    rows = Order.objects.for_principal(principal).filter(number_key=order_key(number))
    if lock:
        rows = rows.select_for_update(of=("self",))
    order: Order | None = _with_lines(rows, principal).first()
    if order is None:
        raise OrderNotFound
    return Opened(order, _case(order, read_wallet(principal, lock=lock), now))


def read_wallet(principal: Principal, *, lock: bool = False) -> tuple[Method, ...]:
    rows = PaymentMethod.objects.for_principal(principal)
    if lock:
        rows = rows.select_for_update()
    return tuple(
        Method(row.external_id, MethodKind(row.kind), row.description, row.balance_minor)
        for row in rows
    )


def find_choices(order: Order, skus: Sequence[str]) -> list[Choice | None]:
    """Return the variants of these numbers that the order's shop sells, None for others."""
    rows = Variant.objects.for_tenant(order.tenant_id).filter(sku__in=set(skus))
    found = {row.sku: row for row in rows.select_related("product").prefetch_related("prices")}
    return [_choice(found.get(sku), order.currency) for sku in skus]


def own_profile(principal: Principal, *, lock: bool = False) -> Customer:
    """Return the asker's own account; a guest has none."""
    rows = Customer.objects.for_principal(principal)
    if lock:
        rows = rows.select_for_update()
    found: Customer | None = rows.first()
    if found is None:
        raise OrderNotFound
    return found


def is_email_free(principal: Principal, email: str) -> bool:
    """Tell whether no other account of the shop has this address, in any spelling of case."""
    rows = Customer.objects.with_email(principal.tenant_id, email)
    return not rows.exclude(pk=principal.customer_id).exists()


def address_of(row: Order | Customer) -> dict[str, str]:
    return {field: getattr(row, field) for field in ADDRESS_FIELDS}


def state_of(opened: Opened, *, methods: Collection[str] = ()) -> dict[str, Any]:
    """Return the state that a decision about an order rests on, as plain JSON.

    Of the wallet: the gift cards that hold money of the order, and `methods`.
    """
    order, case = opened.order, opened.case
    named = {*methods, *case.held}
    return {
        "order": order.number,
        "status": order.status,
        "currency": order.currency,
        "address": address_of(order),
        "lines": [
            {"sku": line.sku, "name": line.name, "price": line.price, "quantity": line.quantity}
            for line in case.lines
        ],
        "held": dict(case.held),
        "methods": {
            method.id: {"name": method.description, "balance": method.balance}
            for method in case.wallet
            if method.id in named
        },
    }


def _with_lines(rows: Any, principal: Principal) -> Any:
    items = OrderItem.objects.for_principal(principal).select_related("variant__product")
    payments = Payment.objects.for_principal(principal).select_related("method").order_by("pk")
    return rows.select_related("tenant").prefetch_related(
        Prefetch("items", items),
        Prefetch("shipments", Shipment.objects.for_principal(principal)),
        Prefetch("payments", payments),
    )


def _case(order: Order, wallet: tuple[Method, ...], now: datetime | None) -> OrderCase:
    zone = order.tenant.zone
    status = OrderStatus(order.status)
    delivered_on = None
    if now is not None and status in _HAS_ARRIVED:
        parcels = [
            Parcel(ParcelStatus(row.status), row.promised_on, row.delivered_at)
            for row in order.shipments.all()
        ]
        delivered_at = sum_up_delivery(status, parcels, now, zone).delivered_at
        delivered_on = local_day(delivered_at, zone) if delivered_at else None
    return OrderCase(
        number=order.number,
        status=status,
        currency=order.currency,
        lines=tuple(_line(item) for item in order.items.all()),
        movements=tuple(_movement(payment) for payment in order.payments.all()),
        wallet=wallet,
        today=local_day(now, zone) if now is not None else None,
        delivered_on=delivered_on,
        window_days=order.tenant.return_window_days,
    )


def _line(item: OrderItem) -> Line:
    product = item.variant.product.external_id if item.variant else ""
    return Line(item.position, item.sku, item.name, product, item.price_minor, item.quantity)


def _movement(payment: Payment) -> Movement:
    method = payment.method.external_id if payment.method else ""
    kind, status = PaymentKind(payment.kind), PaymentStatus(payment.status)
    return Movement(kind, status, method, payment.amount_minor)


def _choice(variant: Variant | None, currency: str) -> Choice | None:
    if variant is None:
        return None
    price = next((p.amount_minor for p in variant.prices.all() if p.currency == currency), None)
    return Choice(
        variant.sku, variant.product.external_id, variant.product.name, variant.available, price
    )
