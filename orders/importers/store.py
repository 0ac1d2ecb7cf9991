"""Writing a shop's rows into the tables, so that a second time changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.db import DataError, IntegrityError, models, transaction

from dsupport.models import Tenant
from orders.importers.rows import (
    CustomerRow,
    ImportReport,
    OrderRow,
    PaymentRow,
    ProductRow,
    Refusal,
    ShopRows,
)
from orders.importers.tables import Table, with_parts
from orders.models import (
    Customer,
    Order,
    OrderItem,
    Payment,
    PaymentMethod,
    Product,
    Shipment,
    ShipmentItem,
    Variant,
    VariantPrice,
)

Outcomes = list[tuple[str, str]]
Progress = Callable[[int], None]
_CHUNK = 200
_REASONS = {
    "customer_email_in_shop": "duplicate: another customer of the shop has this e-mail",
    "order_key_in_shop": "duplicate: another order of the shop has this number",
    "order_number_in_shop": "duplicate: another order of the shop has this number",
    "sku_in_shop": "duplicate: another variant of the shop has this article number",
}


def store_shop(
    *, tenant: Tenant, rows: ShopRows, progress: Progress = lambda _done: None
) -> ImportReport:
    """Create and update what differs from the rows, and return what was done.

    Rows are written in chunks, each in a transaction of its own; a row that the database refuses
    is reported and keeps no other from being written. `progress` hears of every chunk's size.
    Nothing is deleted but lines and parcels that an order no longer has.
    """
    report = ImportReport(refused=list(rows.refused))
    _in_chunks(rows.products, lambda part: _store_products(tenant, part), report, progress)
    _in_chunks(rows.customers, lambda part: _store_customers(tenant, part), report, progress)
    skus = dict(Variant.objects.for_tenant(tenant.pk).values_list("sku", "pk"))
    _in_chunks(rows.orders, lambda part: _store_orders(tenant, part, skus), report, progress)
    return report


def _in_chunks(
    rows: Sequence[Any],
    store: Callable[[Sequence[Any]], Outcomes],
    report: ImportReport,
    progress: Progress,
) -> None:
    for start in range(0, len(rows), _CHUNK):
        part = rows[start : start + _CHUNK]
        try:
            with transaction.atomic():
                outcomes = store(part)
            report.count(outcomes)
        except (IntegrityError, DataError, _RowError):
            _one_by_one(part, store, report)
        progress(len(part))


def _one_by_one(
    rows: Sequence[Any], store: Callable[[Sequence[Any]], Outcomes], report: ImportReport
) -> None:
    """Find the rows of a chunk that cannot be written, and write the others."""
    for row in rows:
        try:
            with transaction.atomic():
                outcomes = store([row])
            report.count(outcomes)
        except (IntegrityError, DataError, _RowError) as error:
            report.refused.append(Refusal(row.row, _why(error)))


class _RowError(Exception):
    """A row that refers to something that could not be written."""


def _why(error: Exception) -> str:
    if isinstance(error, _RowError):
        return str(error)
    name = getattr(getattr(error.__cause__, "diag", None), "constraint_name", None)
    return _REASONS.get(name or "", f"the database refused it ({name or error})".strip())


def _store_products(tenant: Tenant, rows: Sequence[ProductRow]) -> Outcomes:
    ids = [row.external_id for row in rows]
    found = Product.objects.for_tenant(tenant.pk).filter(external_id__in=ids)
    products = Table(Product, {product.external_id: product for product in found})
    for row in rows:
        products.put(
            row.external_id,
            tenant_id=tenant.pk,
            external_id=row.external_id,
            name=row.name,
            category=row.category,
            description=row.description,
        )
    products.write()

    skus = [variant.sku for row in rows for variant in row.variants]
    known = Variant.objects.for_tenant(tenant.pk).filter(sku__in=skus)
    variants = Table(Variant, {variant.sku: variant for variant in known})
    for row in rows:
        for variant in row.variants:
            variants.put(
                variant.sku,
                tenant_id=tenant.pk,
                product_id=products.rows[row.external_id].pk,
                sku=variant.sku,
                options=dict(variant.options),
                available=variant.available,
            )
    variants.write()
    repriced = _store_prices(tenant, rows, variants)
    return [("products", outcome) for outcome in products.outcome.values()] + [
        ("variants", with_parts(outcome, key in repriced))
        for key, outcome in variants.outcome.items()
    ]


def _store_prices(tenant: Tenant, rows: Sequence[ProductRow], variants: Table) -> set[str]:
    ids = {variant.pk: sku for sku, variant in variants.rows.items()}
    found = VariantPrice.objects.for_tenant(tenant.pk).filter(variant_id__in=ids)
    prices = Table(VariantPrice, {(price.variant_id, price.currency): price for price in found})
    for row in rows:
        for variant in row.variants:
            pk = variants.rows[variant.sku].pk
            for currency, minor in variant.prices.items():
                prices.put((pk, currency), variant_id=pk, currency=currency, amount_minor=minor)
    prices.write()
    return {ids[key[0]] for key in prices.touched()}


def _store_customers(tenant: Tenant, rows: Sequence[CustomerRow]) -> Outcomes:
    ids = [row.external_id for row in rows]
    found = Customer.objects.for_tenant(tenant.pk).filter(external_id__in=ids)
    customers = Table(Customer, {customer.external_id: customer for customer in found})
    for row in rows:
        customers.put(
            row.external_id,
            tenant_id=tenant.pk,
            external_id=row.external_id,
            first_name=row.first_name,
            last_name=row.last_name,
            email=row.email,
            currency=row.currency,
            **row.address,
        )
    customers.write()

    pks = [customer.pk for customer in customers.rows.values()]
    known = PaymentMethod.objects.for_tenant(tenant.pk).filter(customer_id__in=pks)
    methods = Table(PaymentMethod, {(m.customer_id, m.external_id): m for m in known})
    for row in rows:
        owner = customers.rows[row.external_id].pk
        for method in row.methods:
            methods.put(
                (owner, method.external_id),
                customer_id=owner,
                external_id=method.external_id,
                kind=method.kind,
                label=method.label,
                last_four=method.last_four,
                balance_minor=method.balance_minor,
                currency=method.currency,
            )
    methods.write()
    return [("customers", outcome) for outcome in customers.outcome.values()] + [
        ("payment_methods", outcome) for outcome in methods.outcome.values()
    ]


def _store_orders(tenant: Tenant, rows: Sequence[OrderRow], skus: Mapping[str, int]) -> Outcomes:
    owners = _owners(tenant, rows)
    numbers = [row.number for row in rows]
    found = Order.objects.for_tenant(tenant.pk).filter(number__in=numbers)
    orders = Table(Order, {order.number: order for order in found})
    for row in rows:
        orders.put(
            row.number,
            tenant_id=tenant.pk,
            number=row.number,
            number_key=row.number_key,
            customer_id=owners[row.customer_id] if row.customer_id else None,
            email=row.email,
            status=row.status,
            placed_at=row.placed_at,
            currency=row.currency,
            total_minor=row.total_minor,
            metadata=dict(row.metadata),
            **row.address,
        )
    orders.write()
    placed = [(orders.rows[row.number].pk, row) for row in rows]
    items, changed = _store_items(tenant, placed, skus)
    changed |= _store_shipments(tenant, placed, items)
    changed |= _store_payments(tenant, placed, owners)
    return [
        ("orders", with_parts(outcome, orders.rows[number].pk in changed))
        for number, outcome in orders.outcome.items()
    ]


def _owners(tenant: Tenant, rows: Sequence[OrderRow]) -> dict[str, int]:
    ids = {row.customer_id for row in rows if row.customer_id}
    found = Customer.objects.for_tenant(tenant.pk).filter(external_id__in=ids)
    owners = dict(found.values_list("external_id", "pk"))
    for missing in sorted(ids - owners.keys()):
        raise _RowError(f"missing user: {missing!r} could not be stored")
    return owners


def _store_items(
    tenant: Tenant, placed: Sequence[tuple[int, OrderRow]], skus: Mapping[str, int]
) -> tuple[Table, set[int]]:
    items = Table(OrderItem, _by_position(OrderItem, tenant, placed))
    for pk, row in placed:
        for position, item in enumerate(row.items):
            items.put(
                (pk, position),
                order_id=pk,
                position=position,
                variant_id=skus.get(item.sku),
                sku=item.sku,
                name=item.name,
                options=dict(item.options),
                quantity=item.quantity,
                price_minor=item.price_minor,
            )
    gone = items.drop_others()
    items.write()
    return items, {key[0] for key in [*items.touched(), *gone]}


def _store_shipments(
    tenant: Tenant, placed: Sequence[tuple[int, OrderRow]], items: Table
) -> set[int]:
    shipments = Table(Shipment, _by_position(Shipment, tenant, placed))
    for pk, row in placed:
        for position, parcel in enumerate(row.shipments):
            shipments.put(
                (pk, position),
                order_id=pk,
                position=position,
                carrier=parcel.carrier,
                tracking_number=parcel.tracking_number,
                status=parcel.status,
                shipped_at=parcel.shipped_at,
                promised_on=parcel.promised_on,
                delivered_at=parcel.delivered_at,
            )
    gone = shipments.drop_others()
    shipments.write()
    orders = {shipment.pk: key[0] for key, shipment in shipments.rows.items()}
    known = ShipmentItem.objects.for_tenant(tenant.pk).filter(shipment_id__in=orders)
    contents = Table(ShipmentItem, {(part.shipment_id, part.item_id): part for part in known})
    for pk, row in placed:
        for position, parcel in enumerate(row.shipments):
            shipment = shipments.rows[pk, position].pk
            for line, quantity in parcel.contents.items():
                item = items.rows[pk, line].pk
                contents.put(
                    (shipment, item), shipment_id=shipment, item_id=item, quantity=quantity
                )
    unpacked = contents.drop_others()
    contents.write()
    moved = [*contents.touched(), *unpacked]
    return {key[0] for key in [*shipments.touched(), *gone]} | {orders[key[0]] for key in moved}


def _store_payments(
    tenant: Tenant, placed: Sequence[tuple[int, OrderRow]], owners: Mapping[str, int]
) -> set[int]:
    pks = [pk for pk, _ in placed]
    known = Payment.objects.for_tenant(tenant.pk).filter(order_id__in=pks)
    # Payments are never deleted: money that moved has moved, and some of it may be our own doing.
    payments = Table(Payment, {(p.order_id, p.reference): p for p in known})
    wallet = PaymentMethod.objects.for_tenant(tenant.pk).filter(customer_id__in=owners.values())
    methods = {(method.customer_id, method.external_id): method for method in wallet}
    for pk, row in placed:
        for payment in row.payments:
            method = _method(methods, owners.get(row.customer_id), payment)
            payments.put(
                (pk, payment.reference),
                order_id=pk,
                reference=payment.reference,
                kind=payment.kind,
                method_id=method.pk if method else None,
                description=method.description if method else "",
                amount_minor=payment.amount_minor,
                currency=row.currency,
                status=payment.status,
                at=payment.at,
            )
    payments.write()
    return {key[0] for key in payments.touched()}


def _method(
    methods: Mapping[tuple[int, str], PaymentMethod], owner: int | None, payment: PaymentRow
) -> PaymentMethod | None:
    if not payment.method_id:
        return None
    method = methods.get((owner, payment.method_id)) if owner is not None else None
    if method is None:
        raise _RowError(f"{payment.reference}: there is no payment method {payment.method_id!r}")
    return method


def _by_position(
    model: type[models.Model], tenant: Tenant, placed: Sequence[tuple[int, OrderRow]]
) -> dict[Any, Any]:
    rows: Any = model._default_manager
    found = rows.for_tenant(tenant.pk).filter(order_id__in=[pk for pk, _ in placed])
    return {(row.order_id, row.position): row for row in found}
