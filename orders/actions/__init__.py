"""The consequential actions of this room, as the gate needs to know them."""

from __future__ import annotations

from approvals.registry import register
from orders.actions.account import CHANGE_EMAIL, ERASE_CUSTOMER
from orders.actions.goodwill import GOODWILL_CREDIT
from orders.actions.on_orders import PLANS
from orders.actions.plan import as_action
from orders.actions.profile import CHANGE_PROFILE_ADDRESS
from orders.actions.refunds import REFUND


def register_actions() -> None:
    """Register what may be asked for on orders and accounts."""
    for plan in (*PLANS, REFUND):
        register(as_action(plan))
    for action in (GOODWILL_CREDIT, CHANGE_PROFILE_ADDRESS, CHANGE_EMAIL, ERASE_CUSTOMER):
        register(action)
