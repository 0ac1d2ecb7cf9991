"""What a model may ask about orders and products. No argument says who is asking.

`describe_asker` and `enter_as` are for the engine's own edges and are not among the tools.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import Annotated, Any, Literal

from pydantic import Field

from approvals.services import Origin, ask_customer
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


class RequestChange(ToolArguments):
    """What a customer wants done to an order. Fields that an action does not need stay empty."""

    action: Literal["cancel", "refund", "return", "exchange", "change_items", "change_payment"]
    order_number: OrderNumber
    reason: str | None = Field(default=None, max_length=60)
    items: list[str] | None = Field(default=None, max_length=50, description="Article numbers")
    new_items: list[str] | None = Field(
        default=None, max_length=50, description="What each becomes, in the same order"
    )
    payment_method: str | None = Field(default=None, max_length=100)
    amount: str | None = Field(default=None, max_length=14, description="Such as 19.90")


def request_change(arguments: RequestChange, context: ToolContext) -> ToolResult:
    """Show the customer a card with exactly what would be asked for. Nothing is done by it."""
    card = ask_customer(
        principal=context.principal,
        action=f"orders.{arguments.action}",
        arguments=_action_arguments(arguments),
        origin=Origin(
            key=context.key, run_id=context.run_id, conversation_id=context.conversation_id
        ),
        evidence=context.evidence,
        now=context.now,
    )
    shown = card.to_json()
    return ToolResult(
        data={"shown": shown["title"], "lines": shown["lines"], "note": _CARD_NOTE}, card=shown
    )


def _action_arguments(wanted: RequestChange) -> dict[str, Any]:
    """Return the arguments of the action: what was given, in its own words."""
    given = wanted.model_dump(exclude_none=True, exclude={"action", "new_items", "items"})
    if wanted.action in {"exchange", "change_items"}:
        pairs = zip_longest(wanted.items or [], wanted.new_items or [])
        return {**given, "swaps": [{"old": old, "new": new} for old, new in pairs]}
    return given if wanted.items is None else {**given, "items": wanted.items}


_CARD_NOTE = (
    "A card with these details is before the customer. Nothing is done: they must confirm it, and "
    "then a person decides. Say that, and end your turn."
)


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
    ToolSpec(
        name="request_change",
        description=(
            "Show the customer a card that asks whether they want exactly this done to one of "
            "their orders. Nothing is done before they confirm and a person approves."
        ),
        arguments=RequestChange,
        body=request_change,
        personal=True,
        writes=True,
        progress="Preparing your request for order {order_number}…",
    ),
)
