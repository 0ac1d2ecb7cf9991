"""The imported shop in the shape of the set's `db.json`, flat, to compare before and after."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from dsupport.lib.money import Money
from orders.importers.tau2 import STATUSES
from orders.models import Customer, Order, Payment, PaymentMethod

View = Mapping[str, Any]

_STATUS_NAMES = {status: name for name, status in STATUSES.items()}
_ADDRESS = {
    "address1": "line1", "address2": "line2", "city": "city", "state": "region",
    "zip": "postcode", "country": "country",
}  # fmt: skip
_NOTES = (
    "cancel_reason", "return_items", "return_payment_method_id", "exchange_items",
    "exchange_new_items", "exchange_payment_method_id", "exchange_price_difference",
)  # fmt: skip


def read_view(tenant_id: int) -> dict[str, Any]:
    """Return every value of the shop's orders and customers by its path in `db.json`."""
    view: dict[str, Any] = {}
    orders = Order.objects.for_tenant(tenant_id).prefetch_related(
        "items__variant__product", "payments__method"
    )
    for order in orders:
        _put_order(view, order)
    for customer in Customer.objects.for_tenant(tenant_id):
        for name, field in _ADDRESS.items():
            view[f"/users/{customer.external_id}/address/{name}"] = getattr(customer, field)
    methods = PaymentMethod.objects.for_tenant(tenant_id).select_related("customer")
    for method in methods:
        if method.balance_minor is not None:
            path = f"/users/{method.customer.external_id}/payment_methods/{method.external_id}"
            view[f"{path}/balance"] = _number(method.balance_minor, method.currency)
    return view


def differences(before: View, after: View) -> dict[str, tuple[Any, Any]]:
    """Return what changed: path to the value before and after, None where there was none."""
    return {
        path: (before.get(path), after.get(path))
        for path in before.keys() | after.keys()
        if before.get(path) != after.get(path)
    }


def wanted(effects: list[Mapping[str, Any]]) -> dict[str, tuple[Any, Any]]:
    """Return the effects of a task of the set in the same form."""
    return {item["path"]: (exact(item["before"]), exact(item["after"])) for item in effects}


def exact(value: Any) -> Any:
    """Return a value of the set with its numbers as exact decimals."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, int | float):
        return Decimal(str(value))
    if isinstance(value, Mapping):
        return {key: exact(item) for key, item in value.items()}
    return [exact(item) for item in value]


def _put_order(view: dict[str, Any], order: Order) -> None:
    path = f"/orders/{order.number}"
    view[f"{path}/status"] = _STATUS_NAMES.get(order.status, order.status)  # type: ignore[call-overload]
    view[f"{path}/items"] = [
        {
            "name": item.name,
            "product_id": item.variant.product.external_id if item.variant else None,
            "item_id": item.sku,
            "price": _number(item.price_minor, order.currency),
            "options": item.options,
        }
        for item in order.items.all()
    ]
    payments = sorted(order.payments.all(), key=lambda payment: payment.pk)
    view[f"{path}/payment_history"] = [_payment(payment) for payment in payments]
    for name, field in _ADDRESS.items():
        view[f"{path}/address/{name}"] = getattr(order, field)
    for note in _NOTES:
        value = order.metadata.get(note)
        if value is not None:
            is_number = note == "exchange_price_difference"
            view[f"{path}/{note}"] = Decimal(value) if is_number else value


def _payment(payment: Payment) -> dict[str, Any]:
    return {
        "transaction_type": payment.kind,
        "amount": _number(payment.amount_minor, payment.currency),
        "payment_method_id": payment.method.external_id if payment.method else None,
    }


def _number(minor: int, currency: str) -> Decimal:
    return Money(minor, currency).decimal
