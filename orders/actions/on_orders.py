"""The six requests on an order: cancel, address, payment, items, return, exchange."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from approvals.registry import Change
from dsupport.contract.risk import RiskTier
from dsupport.lib.money import Money
from orders import changes, policy
from orders.actions import arguments as given
from orders.actions import words
from orders.actions.plan import Plan, State
from orders.cases import Opened, address_of, find_choices
from orders.changes import Bookings
from orders.policy import Choice, Ruling
from orders.rules import OrderStatus


def _choices(opened: Opened, wanted: given.SwapItems) -> list[tuple[str, Choice | None]]:
    return list(zip(wanted.old, find_choices(opened.order, wanted.new), strict=True))


def _sellable(opened: Opened, wanted: given.SwapItems) -> list[tuple[str, Choice]]:
    return cast("list[tuple[str, Choice]]", _choices(opened, wanted))


def _swap_state(opened: Opened, wanted: given.SwapItems) -> State:
    swaps = _choices(opened, wanted)
    return {
        "choices": [
            choice and {"sku": choice.sku, "price": choice.price, "available": choice.available}
            for _, choice in swaps
        ],
        "difference": policy.price_difference(opened.case, swaps),
    }


def _methods(arguments: Any) -> Sequence[str]:
    return (arguments.payment_method,)


def _held(_arguments: Any, state: State) -> Money:
    return words.money(state, words.held(state))


def _difference(_arguments: Any, state: State) -> Money:
    return words.money(state, abs(words.swap_difference(state)))


def _swap_changes(after: OrderStatus) -> Any:
    def changes_of(wanted: given.SwapItems, state: State) -> list[Change]:
        lines = [
            Change("Item", words.names_of(state, [swap.old]), f"variant {swap.new}")
            for swap in wanted.swaps
        ]
        difference = Change("Price", "–", words.difference_words(state, wanted.payment_method))
        return [*lines, difference, words.status_change(state, after)]

    return changes_of


# --- cancel ---------------------------------------------------------------------------------


def _judge_cancel(opened: Opened, wanted: given.Cancel) -> Sequence[Ruling]:
    return policy.judge_cancel(opened.case, wanted.reason)


def _cancel_words(wanted: given.Cancel, state: State) -> str:
    return f"Cancel order {state['order']} ({wanted.reason}): {words.pay_back_words(state)}"


def _cancel_changes(_wanted: given.Cancel, state: State) -> list[Change]:
    paid = str(words.money(state, words.held(state)))
    return [
        words.status_change(state, OrderStatus.CANCELLED),
        Change("Paid back", "–", words.pay_back_words(state)),
        Change("Paid and kept", paid, str(words.money(state, 0))),
    ]


def _cancel(opened: Opened, wanted: given.Cancel, bookings: Bookings) -> None:
    changes.cancel(opened, bookings, wanted.reason)


CANCEL = Plan(
    name="orders.cancel",
    tier=RiskTier.MEDIUM,
    arguments=given.Cancel,
    judge=_judge_cancel,
    words=_cancel_words,
    changes=_cancel_changes,
    apply=_cancel,
    undo=None,
    amount=_held,
)


# --- where it goes --------------------------------------------------------------------------


def _address_words(wanted: given.ChangeAddress, state: State) -> str:
    return f"Send order {state['order']} to {words.address_line(wanted.as_fields())}"


def _address_changes(wanted: given.ChangeAddress, state: State) -> list[Change]:
    before = words.address_line(state["address"])
    return [Change("Address", before or "–", words.address_line(wanted.as_fields()))]


CHANGE_ADDRESS = Plan(
    name="orders.change_address",
    tier=RiskTier.MEDIUM,
    arguments=given.ChangeAddress,
    judge=lambda opened, wanted: policy.judge_address(
        opened.case, address_of(opened.order), wanted.as_fields()
    ),
    words=_address_words,
    changes=_address_changes,
    apply=lambda opened, wanted, _bookings: changes.change_address(
        opened.order, wanted.as_fields()
    ),
    undo="Change the address back while the order is not packed.",
    amount=lambda _wanted, _state: None,
    whole_order=False,
)


# --- how it is paid -------------------------------------------------------------------------


def _payment_words(wanted: given.ChangePayment, state: State) -> str:
    amount, name = _held(wanted, state), words.method_name(state, wanted.payment_method)
    return f"Charge order {state['order']} to {name} ({amount}): {words.pay_back_words(state)}"


def _payment_changes(wanted: given.ChangePayment, state: State) -> list[Change]:
    old = ", ".join(words.method_name(state, method) for method in state["held"])
    return [
        Change("Paid by", old or "–", words.method_name(state, wanted.payment_method)),
        Change("Paid back", "–", words.pay_back_words(state)),
    ]


CHANGE_PAYMENT = Plan(
    name="orders.change_payment",
    tier=RiskTier.HIGH,
    arguments=given.ChangePayment,
    judge=lambda opened, wanted: policy.judge_payment(opened.case, wanted.payment_method),
    words=_payment_words,
    changes=_payment_changes,
    apply=lambda opened, wanted, bookings: changes.change_payment(
        opened, bookings, wanted.payment_method
    ),
    undo="Change the payment back while the order is not packed.",
    amount=_held,
    methods=_methods,
    whole_order=False,
)


# --- what is in it --------------------------------------------------------------------------


def _items_words(wanted: given.SwapItems, state: State) -> str:
    old = words.names_of(state, wanted.old)
    price = words.difference_words(state, wanted.payment_method)
    return f"Change in order {state['order']}: {old} for {', '.join(wanted.new)}, {price}"


def _change_items(opened: Opened, wanted: given.SwapItems, bookings: Bookings) -> None:
    changes.change_items(opened, bookings, _sellable(opened, wanted), wanted.payment_method)


CHANGE_ITEMS = Plan(
    name="orders.change_items",
    tier=RiskTier.HIGH,
    arguments=given.SwapItems,
    judge=lambda opened, wanted: policy.judge_items(
        opened.case, _choices(opened, wanted), wanted.payment_method
    ),
    words=_items_words,
    changes=_swap_changes(OrderStatus.ITEMS_CHANGED),
    apply=_change_items,
    undo=None,
    amount=_difference,
    methods=_methods,
    more=_swap_state,
)


# --- sending back ---------------------------------------------------------------------------


def _return_words(wanted: given.Return, state: State) -> str:
    amount = words.money(state, words.price_of(state, wanted.items))
    name = words.method_name(state, wanted.payment_method)
    items = words.names_of(state, wanted.items)
    return f"Take back from order {state['order']}: {items}; {amount} to {name} on arrival"


def _return_changes(wanted: given.Return, state: State) -> list[Change]:
    return [
        words.status_change(state, OrderStatus.RETURN_REQUESTED),
        Change("Comes back", "–", words.names_of(state, wanted.items)),
        Change("Refund to", "–", words.method_name(state, wanted.payment_method)),
    ]


RETURN = Plan(
    name="orders.return",
    tier=RiskTier.MEDIUM,
    arguments=given.Return,
    judge=lambda opened, wanted: policy.judge_return(
        opened.case, wanted.items, wanted.payment_method
    ),
    words=_return_words,
    changes=_return_changes,
    apply=lambda opened, wanted, _bookings: changes.request_return(
        opened.order, wanted.items, wanted.payment_method
    ),
    undo="Withdraw the return before the parcel arrives.",
    amount=lambda wanted, state: words.money(state, words.price_of(state, wanted.items)),
    methods=_methods,
)


def _exchange_words(wanted: given.SwapItems, state: State) -> str:
    old = words.names_of(state, wanted.old)
    price = words.difference_words(state, wanted.payment_method)
    return f"Exchange from order {state['order']}: {old} for {', '.join(wanted.new)}, {price}"


EXCHANGE = Plan(
    name="orders.exchange",
    tier=RiskTier.MEDIUM,
    arguments=given.SwapItems,
    judge=lambda opened, wanted: policy.judge_exchange(
        opened.case, _choices(opened, wanted), wanted.payment_method
    ),
    words=_exchange_words,
    changes=_swap_changes(OrderStatus.EXCHANGE_REQUESTED),
    apply=lambda opened, wanted, _bookings: changes.request_exchange(
        opened, _sellable(opened, wanted), wanted.payment_method
    ),
    undo="Withdraw the exchange before the parcel arrives.",
    amount=_difference,
    methods=_methods,
    more=_swap_state,
)

PLANS = (CANCEL, CHANGE_ADDRESS, CHANGE_PAYMENT, CHANGE_ITEMS, RETURN, EXCHANGE)
