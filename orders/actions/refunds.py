"""Money back without a return being booked: whole, an amount, or for some items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from approvals.registry import Change, Execution, Remote
from approvals.services import live_arguments
from dsupport.contract.errors import PortError
from dsupport.contract.principal import Principal
from dsupport.contract.risk import RiskTier
from dsupport.lib.money import Money, MoneyError
from dsupport.lib.wiring import load
from orders import policy
from orders.actions import words
from orders.actions.arguments import Refund
from orders.actions.plan import Plan, State
from orders.cases import Opened, open_case
from orders.changes import Bookings
from orders.policy import OrderCase, Ruling
from orders.ports import PaymentGateway, Receipt
from orders.rules import MethodKind

_SECONDS = 20.0


def wanted_amount(case: OrderCase, wanted: Refund) -> int:
    """Return what a request comes to in minor units; 0 when its amount cannot be read."""
    if wanted.items is not None:
        return sum(line.price for line in policy.match_lines(case, wanted.items))
    if wanted.amount is None:
        return sum(policy.refund_shares(case).values())
    try:
        return Money.parse(wanted.amount, case.currency).minor
    except MoneyError:
        return 0


def _judge(opened: Opened, wanted: Refund) -> Sequence[Ruling]:
    case, items = opened.case, wanted.items
    named = items is None or len(policy.match_lines(case, items)) == len(items)
    measures = (items, wanted.amount)
    return [
        Ruling("one_measure", None in measures, "Items or an amount is named, not both."),
        Ruling("in_order", named, "Every item named is in the order, as often."),
        *policy.judge_refund(case, wanted_amount(case, wanted), _reserved(opened, wanted)),
    ]


def _reserved(opened: Opened, wanted: Refund) -> int:
    """Return what other requests on this order would pay back already.

    The same request is left out: it is this one, on its way.
    """
    others = live_arguments(
        tenant_id=opened.order.tenant_id, action="orders.refund", order=opened.order.number
    )
    mine = wanted.model_dump(mode="json")
    return sum(
        wanted_amount(opened.case, Refund.model_validate(other, strict=False))
        for other in others
        if other != mine
    )


def _more(opened: Opened, wanted: Refund) -> State:
    amount = wanted_amount(opened.case, wanted)
    return {"amount": amount, "shares": _shares(opened.case, amount)}


def _shares(case: OrderCase, amount: int) -> dict[str, int]:
    """Divide an amount over the methods that paid, the first one first."""
    shares: dict[str, int] = {}
    for method, paid in policy.refund_shares(case).items():
        part = min(amount, paid)
        if part > 0:
            shares[method] = part
            amount -= part
    return shares


def _amount(_wanted: Refund, state: State) -> Money:
    return words.money(state, state["amount"])


def _to(state: State) -> str:
    return " and ".join(words.method_name(state, method) for method in state["shares"])


def _words(wanted: Refund, state: State) -> str:
    paid = words.money(state, words.held(state))
    return f"Refund {_amount(wanted, state)} of {paid} on order {state['order']} to {_to(state)}"


def _changes(wanted: Refund, state: State) -> list[Change]:
    before, back = words.money(state, words.held(state)), _amount(wanted, state)
    return [
        Change("Paid and kept", str(before), str(before - back)),
        Change("Refund to", "–", _to(state)),
    ]


def _apply(opened: Opened, wanted: Refund, bookings: Bookings) -> None:
    for method, part in _shares(opened.case, wanted_amount(opened.case, wanted)).items():
        bookings.pay_back(method, part, settled=True)


def _call(principal: Principal, wanted: Refund, execution: Execution) -> Mapping[str, Any]:
    """Pay back at the gateway what does not stand on a gift card of ours."""
    gateway: PaymentGateway = load("DSUPPORT_PAYMENTS")
    state = execution.snapshot
    receipts = [
        gateway.refund(key=key, amount=words.money(state, part), to=name, timeout=_SECONDS)
        for key, name, part in _outside(principal, wanted, execution)
    ]
    return {"receipts": [receipt.reference for receipt in receipts]}


def _look_up(
    principal: Principal, wanted: Refund, execution: Execution
) -> Mapping[str, Any] | None:
    gateway: PaymentGateway = load("DSUPPORT_PAYMENTS")
    outside = _outside(principal, wanted, execution)
    found: list[Receipt | None] = [gateway.look_up(key, timeout=_SECONDS) for key, _, _ in outside]
    receipts = [receipt for receipt in found if receipt is not None]
    if not receipts and outside:
        return None
    if len(receipts) < len(outside):
        raise PortError("Only a part was paid back so far.", code="partly", retryable=True)
    return {"receipts": [receipt.reference for receipt in receipts]}


def _outside(
    principal: Principal, wanted: Refund, execution: Execution
) -> list[tuple[str, str, int]]:
    """Return key, method's name and amount of each part that a gateway pays."""
    kinds = {m.id: m.kind for m in open_case(principal, wanted.order_number).case.wallet}
    state = execution.snapshot
    return [
        (f"{execution.key}/{method}", words.method_name(state, method), part)
        for method, part in state["shares"].items()
        if kinds.get(method) is not MethodKind.GIFT_CARD
    ]


REFUND = Plan(
    name="orders.refund",
    tier=RiskTier.HIGH,
    arguments=Refund,
    judge=_judge,
    words=_words,
    changes=_changes,
    apply=_apply,
    undo=None,
    amount=_amount,
    more=_more,
    whole_order=False,
    remote=Remote(call=_call, look_up=_look_up),
)
