"""What a model may ask about orders and products. No argument says who is asking.

`describe_asker` and `enter_as` are for the engine's own edges and are not among the tools.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from dsupport.contract.tools import ErrorCategory, ToolArguments, ToolContext, ToolResult, ToolSpec
from orders import queries
from orders.catalogue import find_products
from orders.errors import UnknownStatus
from orders.queries import describe_asker, private_lines
from orders.rules import OrderStatus, read_day
from orders.showcase import enter_as

__all__ = ["TOOLS", "describe_asker", "enter_as", "private_lines"]

_STATUSES = ", ".join(status.value for status in OrderStatus)
_NO_DATES = (
    "{count} of the customer's orders carry no date, so a search by day leaves them out. "
    "List without a day to see them."
)
OrderNumber = Annotated[
    str, Field(min_length=1, max_length=100, description="The order's number, in any spelling")
]


class ListMyOrders(ToolArguments):
    bought_on: str | None = Field(
        default=None,
        max_length=20,
        description="Only orders placed on this day of the shop's calendar, as 2026-11-30",
    )
    status: str | None = Field(
        default=None, max_length=40, description=f"Only orders of this status: {_STATUSES}"
    )


class GetOrder(ToolArguments):
    order_number: OrderNumber


class TrackShipment(ToolArguments):
    order_number: OrderNumber


class GetProduct(ToolArguments):
    query: str = Field(
        min_length=1, max_length=300, description="A product's name, kind, option or article number"
    )


def list_my_orders(arguments: ListMyOrders, context: ToolContext) -> ToolResult:
    found = queries.list_orders(
        principal=context.principal,
        now=context.now,
        bought_on=read_day(arguments.bought_on) if arguments.bought_on is not None else None,
        status=_read_status(arguments.status) if arguments.status is not None else None,
    )
    data: dict[str, Any] = {"orders": list(found.orders), "more": found.more}
    if found.undated:
        data["note"] = _NO_DATES.format(count=found.undated)
    return ToolResult(data=data, truncated=found.more)


def get_order(arguments: GetOrder, context: ToolContext) -> ToolResult:
    facts = queries.get_order(
        principal=context.principal, number=arguments.order_number, now=context.now
    )
    return ToolResult(data=facts)


def track_shipment(arguments: TrackShipment, context: ToolContext) -> ToolResult:
    tracking = queries.track(
        principal=context.principal, number=arguments.order_number, now=context.now
    )
    if not tracking.unreachable:
        # A carrier's words are a stranger's words.
        return ToolResult(data=tracking.facts, trust="outside")
    error = ToolResult.error(
        ErrorCategory.UNAVAILABLE,
        "carrier_unavailable",
        "The carrier cannot be reached now. Tell what our own record says (`known`) and that the "
        "carrier's latest scan can be asked for again in a few minutes.",
    )
    return ToolResult(
        data={**error.data, "known": tracking.facts}, is_error=True, category=error.category
    )


def get_product(arguments: GetProduct, context: ToolContext) -> ToolResult:
    found = find_products(tenant_id=context.principal.tenant_id, query=arguments.query)
    return ToolResult(data=found, truncated=bool(found["more"]))


def _read_status(text: str) -> OrderStatus:
    spelling = text.strip().casefold().replace(" ", "_").replace("-", "_")
    try:
        return OrderStatus(spelling)
    except ValueError:
        raise UnknownStatus(_STATUSES) from None


TOOLS: tuple[ToolSpec, ...] = (
    ToolSpec(
        name="list_my_orders",
        description=(
            "List the orders of the customer who is asking, newest first, with status, total, "
            "items and delay. Can be narrowed to one day or one status."
        ),
        arguments=ListMyOrders,
        body=list_my_orders,
        personal=True,
        progress="Looking through your orders…",
    ),
    ToolSpec(
        name="get_order",
        description=(
            "Read one order of the customer who is asking: items, parcels, payments, refunds, "
            "promised and delivered days, days late, last day for a return."
        ),
        arguments=GetOrder,
        body=get_order,
        personal=True,
        progress="Looking up order {order_number}…",
    ),
    ToolSpec(
        name="track_shipment",
        description=(
            "Ask the carrier where the parcels of one order of the customer are. What the carrier "
            "says stands beside the shop's own record and may differ from it."
        ),
        arguments=TrackShipment,
        body=track_shipment,
        personal=True,
        progress="Asking the carrier about order {order_number}…",
    ),
    ToolSpec(
        name="get_product",
        description=(
            "Find products of the shop by name, kind, option or article number, with variants, "
            "prices and what is in stock."
        ),
        arguments=GetProduct,
        body=get_product,
        progress="Looking in the catalogue…",
    ),
)
