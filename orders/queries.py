"""What an asker may read. Every function here starts from the principal."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from django.db.models import F, Prefetch

from dsupport.contract.errors import PortError
from dsupport.contract.principal import Principal
from dsupport.lib.gateway import CallPolicy, Gateway
from dsupport.lib.gateway import gateway as shared_gateway
from dsupport.lib.wiring import load
from dsupport.models import Tenant
from orders.errors import IdentityNeeded, OrderNotFound
from orders.facts import Facts, describe_order, describe_report, summarise_order
from orders.models import Customer, Order, OrderItem, Payment, Shipment, ShipmentItem
from orders.ports import Carrier
from orders.rules import OrderStatus, day_bounds, order_key

LIST_LIMIT = 20
TRACK_LIMIT = 5
CARRIER_POLICY = CallPolicy(
    attempts=2, timeout=2.5, backoff=0.2, longest_backoff=0.5, trip_after=4, rest=20.0
)
_TRACK_SECONDS = 6.0


@dataclass(frozen=True, slots=True)
class OrderList:
    """Orders, newest first. `undated` were left out of a search by day: they carry no date."""

    orders: tuple[Facts, ...]
    more: bool = False
    undated: int = 0


@dataclass(frozen=True, slots=True)
class Tracking:
    """An order's parcels by our record, each with its carrier's word where it could be had."""

    facts: Facts
    unreachable: bool  # carriers were asked and not one answered


def list_orders(
    *,
    principal: Principal,
    now: datetime,
    bought_on: date | None = None,
    status: OrderStatus | None = None,
) -> OrderList:
    """Return the asker's orders, those of one day on the shop's calendar or of one status."""
    _check_established(principal)
    rows = Order.objects.for_principal(principal)
    undated = 0
    if status is not None:
        rows = rows.filter(status=status)
    if bought_on is not None:
        zone = Tenant.objects.get(pk=principal.tenant_id).zone
        start, end = day_bounds(bought_on, zone)
        undated = rows.filter(placed_at=None).count()
        rows = rows.filter(placed_at__gte=start, placed_at__lt=end)
    newest = rows.order_by(F("placed_at").desc(nulls_last=True), "-pk")[: LIST_LIMIT + 1]
    found = list(_with_lines(newest, principal))
    shown = tuple(summarise_order(order, now) for order in found[:LIST_LIMIT])
    return OrderList(shown, more=len(found) > LIST_LIMIT, undated=undated)


def get_order(*, principal: Principal, number: str, now: datetime) -> Facts:
    """Return one of the asker's orders; somebody else's is as absent as one never placed."""
    return describe_order(_find(principal, number), now)


def track(
    *,
    principal: Principal,
    number: str,
    now: datetime,
    carrier: Carrier | None = None,
    gateway: Gateway = shared_gateway,
) -> Tracking:
    """Return where the parcels of one of the asker's orders are.

    Whose order it is comes first: a carrier is asked about nothing else, so its silence tells a
    stranger nothing.
    """
    order = _find(principal, number)
    facts = describe_order(order, now)
    port: Carrier = carrier if carrier is not None else load("DSUPPORT_CARRIER")
    asked = [parcel for parcel in facts["shipments"] if parcel["tracking_number"]][:TRACK_LIMIT]
    for parcel in facts["shipments"]:
        parcel["carrier_report"], parcel["carrier_reached"] = None, None
    for parcel in asked:
        _ask_carrier(port, gateway, parcel, _TRACK_SECONDS / len(asked), order)
    wanted = ("number", "status", "status_text", "promised_on", "delivered_on", "days_late", "late")
    answered = any(parcel["carrier_reached"] for parcel in asked)
    return Tracking(
        facts={**{key: facts[key] for key in wanted}, "shipments": facts["shipments"]},
        unreachable=bool(asked) and not answered,
    )


def describe_asker(principal: Principal) -> dict[str, Any]:
    """Return who is asking: `asker`, `asker_name` and the numbers of `proved_orders`."""
    if principal.customer_id is not None:
        customer = Customer.objects.for_principal(principal).first()
        name = customer.name if customer is not None else ""
        return {"asker": "signed_in", "asker_name": name, "proved_orders": []}
    if principal.is_anonymous:
        return {"asker": "anonymous", "asker_name": "", "proved_orders": []}
    proved = Order.objects.for_principal(principal).order_by("pk").values_list("number", flat=True)
    numbers = list(proved)
    asker = "guest_with_order" if numbers else "anonymous"
    return {"asker": asker, "asker_name": "", "proved_orders": numbers}


def private_lines(principal: Principal) -> list[str]:
    """Return the asker's own lines that a vendor need not see: street, postcode, e-mail."""
    if principal.is_anonymous:
        return []
    wanted = ("line1", "line2", "postcode", "email")
    rows = [
        *Customer.objects.for_principal(principal).values_list(*wanted),
        *Order.objects.for_principal(principal).values_list(*wanted).distinct(),
    ]
    return sorted({line for row in rows for line in row if line})


def _check_established(principal: Principal) -> None:
    if principal.is_anonymous:
        raise IdentityNeeded


def _find(principal: Principal, number: str) -> Order:
    _check_established(principal)
    rows = Order.objects.for_principal(principal).filter(number_key=order_key(number))
    order: Order | None = _with_everything(rows, principal).first()
    if order is None:
        raise OrderNotFound
    return order


def _with_lines(rows: Any, principal: Principal) -> Any:
    return rows.select_related("tenant").prefetch_related(
        Prefetch("items", OrderItem.objects.for_principal(principal)),
        Prefetch("shipments", Shipment.objects.for_principal(principal)),
    )


def _with_everything(rows: Any, principal: Principal) -> Any:
    contents = Prefetch("contents", ShipmentItem.objects.for_principal(principal))
    shipments = Shipment.objects.for_principal(principal).prefetch_related(contents)
    return rows.select_related("tenant").prefetch_related(
        Prefetch("items", OrderItem.objects.for_principal(principal)),
        Prefetch("shipments", shipments),
        Prefetch("payments", Payment.objects.for_principal(principal)),
    )


def _ask_carrier(
    port: Carrier, gateway: Gateway, parcel: Facts, seconds: float, order: Order
) -> None:
    name, code = parcel["carrier"] or "The carrier", parcel["tracking_number"]
    try:
        report = gateway.call(
            f"carrier {name.casefold()}",
            lambda timeout: port.track(name, code, timeout=timeout),
            policy=CARRIER_POLICY,
            deadline=seconds,
        )
    except PortError:
        parcel["carrier_reached"] = False
        return
    parcel["carrier_report"] = describe_report(report, order.tenant.zone)
    parcel["carrier_reached"] = True


def name_customers(tenant_id: int, ids: Collection[int]) -> dict[int, str]:
    """Return how customers of a shop are named to its staff."""
    rows = Customer.objects.for_tenant(tenant_id).filter(pk__in=ids)
    return {customer.pk: str(customer) for customer in rows}
