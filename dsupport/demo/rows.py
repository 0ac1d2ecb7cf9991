"""The demo shop as the importers' neutral rows: it is imported like any other shop."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict

from dsupport.demo.facts import Method, OrderFacts, ParcelFacts, PaymentFacts
from dsupport.demo.source import ProductEntry, Shop
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
from orders.rules import order_key


def shop_rows(
    shop: Shop, wallets: Mapping[str, tuple[Method, ...]], orders: Iterable[OrderFacts]
) -> ShopRows:
    """Return everything that the demo shop's tables are filled with."""
    ids = {person.email: f"C-{index:04}" for index, person in enumerate(shop.people, start=1)}
    customers = [
        CustomerRow(
            row=person.email,
            external_id=ids[person.email],
            email=person.email,
            currency=person.currency,
            first_name=person.first_name,
            last_name=person.last_name,
            address=asdict(person.address),
            methods=tuple(_method(method) for method in wallets[person.email]),
        )
        for person in shop.people
    ]
    return ShopRows(
        customers=customers,
        products=[_product(product) for product in shop.products],
        orders=[_order(order, ids[order.email]) for order in orders],
    )


def _method(method: Method) -> MethodRow:
    return MethodRow(
        external_id=method.key,
        kind=method.kind,
        currency=method.currency,
        label=method.label,
        last_four=method.last_four,
        balance_minor=None if method.balance is None else method.balance.minor,
    )


def _product(product: ProductEntry) -> ProductRow:
    variants = tuple(
        VariantRow(
            row=variant.sku,
            sku=variant.sku,
            available=variant.available,
            options=variant.options,
            prices={currency: price.minor for currency, price in variant.prices.items()},
        )
        for variant in product.variants
    )
    return ProductRow(product.sku, external_id=product.sku, name=product.name, variants=variants)


def _order(order: OrderFacts, customer_id: str) -> OrderRow:
    return OrderRow(
        row=order.number,
        number=order.number,
        number_key=order_key(order.number),
        customer_id=customer_id,
        email=order.email,
        status=order.status,
        currency=order.currency,
        total_minor=order.total.minor,
        items=tuple(
            ItemRow(line.name, line.sku, line.price.minor, line.options, line.quantity)
            for line in order.lines
        ),
        shipments=tuple(_shipment(order, parcel) for parcel in order.parcels),
        payments=tuple(_payment(payment) for payment in order.payments),
        placed_at=order.placed_at,
        address=asdict(order.address),
        metadata=order.metadata,
    )


def _shipment(order: OrderFacts, parcel: ParcelFacts) -> ShipmentRow:
    return ShipmentRow(
        status=parcel.status,
        contents={position: order.lines[position].quantity for position in parcel.contents},
        carrier=parcel.carrier,
        tracking_number=parcel.tracking_number,
        shipped_at=parcel.shipped_at,
        promised_on=parcel.promised_on,
        delivered_at=parcel.delivered_at,
    )


def _payment(payment: PaymentFacts) -> PaymentRow:
    return PaymentRow(
        reference=payment.reference,
        kind=payment.kind,
        amount_minor=payment.amount.minor,
        method_id=payment.method.key,
        status=payment.status,
        at=payment.at,
    )
