"""What people read of an action on an order: made by code from arguments and state."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from approvals.registry import Change
from dsupport.lib.money import Money
from orders.rules import STATUS_TEXT, OrderStatus

State = Mapping[str, Any]


def money(state: State, minor: int) -> Money:
    return Money(minor, state["currency"])


def held(state: State) -> int:
    """Return what the customer has paid for the order and not got back."""
    return sum(state["held"].values())


def method_name(state: State, method: str) -> str:
    known = state["methods"].get(method)
    return str(known["name"]) if known else "the method it was paid with"


def pay_back_words(state: State) -> str:
    """Return where the money of a whole order goes back to, such as "$20.00 to PayPal"."""
    parts = [
        f"{money(state, amount)} back to {method_name(state, method)}"
        for method, amount in state["held"].items()
        if amount > 0
    ]
    return " and ".join(parts) or "nothing, since nothing was paid"


def address_line(fields: Mapping[str, str]) -> str:
    parts = [fields[name] for name in ("line1", "line2", "city", "region", "postcode", "country")]
    return ", ".join(part for part in parts if part)


def status_change(state: State, after: OrderStatus) -> Change:
    before = OrderStatus(state["status"])
    return Change("Status", STATUS_TEXT[before], STATUS_TEXT[after])


def names_of(state: State, skus: Collection[str]) -> str:
    """Return the names of lines, each with its article number."""
    names = {line["sku"]: line["name"] for line in state["lines"]}
    return ", ".join(f"{names.get(sku, 'an item')} ({sku})" for sku in skus)


def price_of(state: State, skus: Sequence[str]) -> int:
    prices = {line["sku"]: line["price"] for line in state["lines"]}
    return sum(prices.get(sku, 0) for sku in skus)


def swap_difference(state: State) -> int:
    """Return what the wanted variants cost more than the old lines, in minor units."""
    return int(state["difference"])


def difference_words(state: State, method: str) -> str:
    difference = swap_difference(state)
    if difference == 0:
        return "at the same price"
    amount, name = money(state, abs(difference)), method_name(state, method)
    return f"{amount} more, paid by {name}" if difference > 0 else f"{amount} back to {name}"
