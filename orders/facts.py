"""An order, a parcel or a product as JSON facts, every figure computed here and by no model."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

from dsupport.lib.money import Money
from orders.models import Order, OrderItem, Payment, Shipment
from orders.ports import CarrierReport
from orders.rules import (
    Delivery,
    OrderStatus,
    Parcel,
    ParcelStatus,
    PaymentKind,
    local_day,
    return_window_last_day,
    status_text,
    sum_up_delivery,
)

Facts = dict[str, Any]
_EVENT_LENGTH = 200
_LINES_IN_A_LIST = 6


def describe_order(order: Order, now: datetime) -> Facts:
    """Return all that a customer may know of an order, with its items, parcels and payments."""
    zone = order.tenant.zone
    delivery = _delivery(order, now)
    payments = list(order.payments.all())
    last_day = return_window_last_day(delivery.delivered_at, order.tenant.return_window_days, zone)
    names = {item.pk: item.name for item in order.items.all()}
    return {
        **_head(order, delivery),
        "items": [_item(item, order.currency) for item in order.items.all()],
        "shipments": [
            describe_parcel(parcel, names, now, zone) for parcel in order.shipments.all()
        ],
        "payments": [_money_moved(p, zone) for p in payments if p.kind == PaymentKind.PAYMENT],
        "refunds": [_money_moved(p, zone) for p in payments if p.kind == PaymentKind.REFUND],
        "delivered_on": _day(delivery.delivered_at, zone),
        "return_window_ends_on": _iso(last_day),
    }


def summarise_order(order: Order, now: datetime) -> Facts:
    """Return the line of an order in a list."""
    lines = [f"{item.quantity} × {item.name}" for item in order.items.all()]
    shown = lines[:_LINES_IN_A_LIST]
    if len(lines) > len(shown):
        shown.append(f"and {len(lines) - len(shown)} more")
    return {**_head(order, _delivery(order, now)), "items": shown}


def describe_parcel(
    shipment: Shipment, item_names: dict[int, str], now: datetime, zone: ZoneInfo
) -> Facts:
    """Return a parcel as our own record has it."""
    contents = shipment.contents.all()
    return {
        "carrier": shipment.carrier,
        "tracking_number": shipment.tracking_number,
        "status": shipment.status,
        "shipped_on": _day(shipment.shipped_at, zone),
        "promised_on": _iso(shipment.promised_on),
        "delivered_on": _day(shipment.delivered_at, zone),
        "days_late": _parcel(shipment).days_late(now, zone),
        "items": [
            f"{part.quantity} × {item_names[part.item_id]}"
            for part in contents
            if part.item_id in item_names
        ],
    }


def describe_report(report: CarrierReport, zone: ZoneInfo) -> Facts:
    """Return a carrier's word, cut to a sentence's length and freed of what cannot be printed."""
    text = "".join(char if char.isprintable() else " " for char in report.last_event)
    aware = report.at is not None and report.at.tzinfo is not None
    return {
        "status": ParcelStatus(report.status).value,
        "last_event": text[:_EVENT_LENGTH].strip(),
        "at": _day(report.at, zone) if aware else None,
        "estimated_on": _iso(report.estimated_on),
    }


def _head(order: Order, delivery: Delivery) -> Facts:
    status = OrderStatus(order.status)
    parcels = [_parcel(shipment) for shipment in order.shipments.all()]
    return {
        "number": order.number,
        "status": status.value,
        "status_text": status_text(status, parcels, delivery),
        "placed_on": _day(order.placed_at, order.tenant.zone),
        "currency": order.currency,
        "total": str(Money(order.total_minor, order.currency)),
        "promised_on": _iso(delivery.promised_on),
        "days_late": delivery.days_late,
        "late": delivery.is_late,
    }


def _delivery(order: Order, now: datetime) -> Delivery:
    parcels: Iterable[Shipment] = order.shipments.all()
    return sum_up_delivery(OrderStatus(order.status), map(_parcel, parcels), now, order.tenant.zone)


def _parcel(shipment: Shipment) -> Parcel:
    return Parcel(ParcelStatus(shipment.status), shipment.promised_on, shipment.delivered_at)


def _item(item: OrderItem, currency: str) -> Facts:
    return {
        "name": item.name,
        "options": item.options,
        "quantity": item.quantity,
        "price": str(Money(item.price_minor, currency)),
        "sku": item.sku,
    }


def _money_moved(payment: Payment, zone: ZoneInfo) -> Facts:
    return {
        "method": payment.description,
        "amount": str(Money(payment.amount_minor, payment.currency)),
        "status": payment.status,
        "on": _day(payment.at, zone),
    }


def _day(at: datetime | None, zone: ZoneInfo) -> str | None:
    return None if at is None else local_day(at, zone).isoformat()


def _iso(day: date | None) -> str | None:
    return None if day is None else day.isoformat()
