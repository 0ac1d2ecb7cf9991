"""Reading the retail domain of tau2-bench: one `db.json` with users, products and orders."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from orders.errors import ImportSourceMissing, ImportSourceUnreadable
from orders.importers.rows import (
    CustomerRow,
    ItemRow,
    MethodRow,
    OrderRow,
    PaymentRow,
    ProductRow,
    ShipmentRow,
    ShopRows,
    VariantRow,
)
from orders.importers.tau2_shapes import (
    CURRENCY,
    Tau2Method,
    Tau2Order,
    Tau2Product,
    Tau2User,
    Tau2Variant,
)
from orders.rules import MethodKind, OrderStatus, ParcelStatus, PaymentKind, email_key, order_key

STATUSES: Mapping[str, OrderStatus] = {
    "pending": OrderStatus.PENDING,
    "pending (item modified)": OrderStatus.ITEMS_CHANGED,
    "processed": OrderStatus.PROCESSED,
    "delivered": OrderStatus.DELIVERED,
    "cancelled": OrderStatus.CANCELLED,
    "return requested": OrderStatus.RETURN_REQUESTED,
    "exchange requested": OrderStatus.EXCHANGE_REQUESTED,
}
_ARRIVED = frozenset(
    {OrderStatus.DELIVERED, OrderStatus.RETURN_REQUESTED, OrderStatus.EXCHANGE_REQUESTED}
)
_METHODS = {
    "credit_card": MethodKind.CARD,
    "paypal": MethodKind.PAYPAL,
    "gift_card": MethodKind.GIFT_CARD,
}
_KEPT = (
    "cancel_reason",
    "return_items",
    "return_payment_method_id",
    "exchange_items",
    "exchange_new_items",
    "exchange_payment_method_id",
    "exchange_price_difference",
)


class _Object(dict[str, Any]):
    """A JSON object that remembers which of its keys were written more than once."""

    repeated: tuple[str, ...] = ()


def read_tau2(path: Path) -> ShopRows:
    """Return what stands in the `db.json` of a folder; a row that cannot be used is refused."""
    document = _load(path)
    rows = ShopRows()
    _read_products(document, rows)
    _read_users(document, rows)
    _read_orders(document, rows)
    return rows


def _load(path: Path) -> dict[str, Any]:
    file = path / "db.json" if path.is_dir() else path
    if not file.is_file():
        raise ImportSourceMissing(
            f"There is no db.json in {path}. Give the folder of tau2-bench's retail data."
        )
    try:
        with file.open(encoding="utf-8") as source:
            document = json.load(
                source,
                parse_float=Decimal,
                parse_constant=Decimal,
                object_pairs_hook=_object,
            )
    except (OSError, ValueError, RecursionError) as error:
        raise ImportSourceUnreadable(f"{file} cannot be read as JSON: {error}") from None
    if not isinstance(document, dict) or not {"users", "products", "orders"} <= document.keys():
        raise ImportSourceUnreadable(
            f"{file} does not hold users, products and orders. Give tau2-bench's retail db.json."
        )
    return document


def _object(pairs: list[tuple[str, Any]]) -> _Object:
    found = _Object()
    repeated = []
    for key, value in pairs:
        if key in found:
            repeated.append(key)
        else:
            found[key] = value
    found.repeated = tuple(repeated)
    return found


def _entries(
    section: Any, where: str, id_name: str, rows: ShopRows
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the usable objects of a section, each with its place; refuse the others."""
    if not isinstance(section, dict):
        rows.refuse(where, "is not an object")
        return
    for key in getattr(section, "repeated", ()):
        rows.refuse(f"{where}/{key}", "duplicate: the key was there before; the first was kept")
    for key, entry in section.items():
        place = f"{where}/{key}"
        if not isinstance(entry, dict):
            rows.refuse(place, "is not an object")
        elif entry.get(id_name) != key:
            rows.refuse(place, f"{id_name} differs from the key it stands under")
        else:
            yield place, entry


def _read_products(document: dict[str, Any], rows: ShopRows) -> None:
    skus: set[str] = set()
    for place, entry in _entries(document["products"], "products", "product_id", rows):
        try:
            product = Tau2Product.model_validate(entry)
        except ValidationError as error:
            rows.refuse(place, _reason(error))
            continue
        variants = tuple(_read_variants(product, place, skus, rows))
        rows.products.append(ProductRow(place, product.product_id, product.name, variants))


def _read_variants(
    product: Tau2Product, place: str, skus: set[str], rows: ShopRows
) -> Iterator[VariantRow]:
    for where, entry in _entries(product.variants, f"{place}/variants", "item_id", rows):
        try:
            variant = Tau2Variant.model_validate(entry)
        except ValidationError as error:
            rows.refuse(where, _reason(error))
            continue
        if variant.item_id in skus:
            rows.refuse(where, "duplicate: another product has a variant of this id")
            continue
        skus.add(variant.item_id)
        yield VariantRow(
            row=where,
            sku=variant.item_id,
            available=variant.available,
            options=variant.options,
            prices={CURRENCY: variant.price},
        )


def _read_users(document: dict[str, Any], rows: ShopRows) -> None:
    emails: set[str] = set()
    for place, entry in _entries(document["users"], "users", "user_id", rows):
        try:
            user = Tau2User.model_validate(entry)
        except ValidationError as error:
            rows.refuse(place, _reason(error))
            continue
        if email_key(user.email) in emails:
            rows.refuse(place, "duplicate: another user has this e-mail")
            continue
        emails.add(email_key(user.email))
        rows.customers.append(
            CustomerRow(
                row=place,
                external_id=user.user_id,
                email=user.email,
                currency=CURRENCY,
                first_name=user.name.first_name,
                last_name=user.name.last_name,
                address=user.address.as_fields(),
                methods=tuple(_read_methods(user, place, rows)),
            )
        )


def _read_methods(user: Tau2User, place: str, rows: ShopRows) -> Iterator[MethodRow]:
    for where, entry in _entries(user.payment_methods, f"{place}/payment_methods", "id", rows):
        try:
            method = Tau2Method.model_validate(entry)
        except ValidationError as error:
            rows.refuse(where, _reason(error))
            continue
        kind = _METHODS.get(method.source)
        if kind is None:
            rows.refuse(where, f"unknown source {method.source!r}")
        elif (method.balance is not None) != (kind is MethodKind.GIFT_CARD):
            rows.refuse(where, "a gift card needs a balance, and nothing else may have one")
        else:
            yield MethodRow(
                external_id=method.id,
                kind=kind,
                currency=CURRENCY,
                label=method.brand.title(),
                last_four=method.last_four,
                balance_minor=method.balance,
            )


def _read_orders(document: dict[str, Any], rows: ShopRows) -> None:
    customers = {customer.external_id: customer for customer in rows.customers}
    keys: set[str] = set()
    for place, entry in _entries(document["orders"], "orders", "order_id", rows):
        try:
            order = _order(place, entry, customers)
        except ValidationError as error:
            rows.refuse(place, _reason(error))
            continue
        except ValueError as error:
            rows.refuse(place, str(error))
            continue
        if order.number_key in keys:
            rows.refuse(place, "duplicate: another order has this number in another spelling")
            continue
        keys.add(order.number_key)
        rows.orders.append(order)


def _order(place: str, entry: dict[str, Any], customers: dict[str, CustomerRow]) -> OrderRow:
    order = Tau2Order.model_validate(entry)
    customer = customers.get(order.user_id)
    if customer is None:
        raise ValueError(f"missing user: there is no usable user {order.user_id!r}")
    status = STATUSES.get(order.status)
    if status is None:
        raise ValueError(f"unknown status {order.status!r}")
    key = order_key(order.order_id)
    if not 0 < len(key) <= 50:
        raise ValueError("the order's number holds no digit or letter, or too many")
    kept = {name: _plain(entry[name]) for name in _KEPT if entry.get(name) is not None}
    return OrderRow(
        row=place,
        number=order.order_id,
        number_key=key,
        customer_id=order.user_id,
        email=customer.email,
        status=status,
        currency=CURRENCY,
        total_minor=sum(item.price for item in order.items),
        items=tuple(
            ItemRow(item.name, item.item_id, item.price, item.options) for item in order.items
        ),
        shipments=tuple(_shipments(order, status)),
        payments=tuple(_payments(order, customer)),
        address=order.address.as_fields(),
        metadata={"source": "tau2", "status": order.status, **kept},
    )


def _shipments(order: Tau2Order, status: OrderStatus) -> Iterator[ShipmentRow]:
    """Yield the parcels; an item that was ordered twice is packed line by line."""
    lines: dict[str, list[int]] = defaultdict(list)
    for position, item in enumerate(order.items):
        lines[item.item_id].append(position)
    parcel = ParcelStatus.DELIVERED if status in _ARRIVED else ParcelStatus.UNKNOWN
    for index, fulfillment in enumerate(order.fulfillments):
        contents = {}
        for item_id in fulfillment.item_ids:
            if not lines[item_id]:
                raise ValueError(f"fulfillments.{index}: item {item_id!r} is not in the order")
            contents[lines[item_id].pop(0)] = 1
        for number, tracking in enumerate(fulfillment.tracking_id or [""]):
            # Which of several parcels holds what is not said: the first stands for all.
            yield ShipmentRow(parcel, {} if number else contents, tracking_number=tracking)


def _payments(order: Tau2Order, customer: CustomerRow) -> Iterator[PaymentRow]:
    methods = {method.external_id for method in customer.methods}
    for index, payment in enumerate(order.payment_history):
        if payment.payment_method_id not in methods:
            raise ValueError(
                f"payment_history.{index}: the user has no usable payment method "
                f"{payment.payment_method_id!r}"
            )
        try:
            kind = PaymentKind(payment.transaction_type)
        except ValueError:
            raise ValueError(
                f"payment_history.{index}: unknown type {payment.transaction_type!r}"
            ) from None
        yield PaymentRow(
            reference=f"payment_history/{index}",
            kind=kind,
            amount_minor=payment.amount,
            method_id=payment.payment_method_id,
        )


def _plain(value: Any) -> Any:
    """Return a value that JSON can hold again, its exact decimals as text."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return str(value) if isinstance(value, Decimal) else value


def _reason(error: ValidationError) -> str:
    issue = error.errors(include_url=False, include_context=False, include_input=False)[0]
    where = ".".join(str(part) for part in issue["loc"])
    text = issue["msg"].removeprefix("Value error, ")
    return f"{where}: {text}" if where else text
