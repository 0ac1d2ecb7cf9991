"""A credit for a trouble: money of the shop's put on the customer's own gift card."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from approvals.registry import Change
from dsupport.contract.risk import RiskTier
from dsupport.lib.money import Money, MoneyError
from orders import changes, policy
from orders.actions import words
from orders.actions.arguments import Credit
from orders.actions.plan import Plan, State, as_action
from orders.actions.profile import require_account
from orders.cases import Opened
from orders.changes import Bookings
from orders.policy import Ruling


def _minor(wanted: Credit, currency: str) -> int:
    """Return an amount in minor units; 0 when it cannot be read in this currency."""
    try:
        return Money.parse(wanted.amount, currency).minor
    except MoneyError:
        return 0


def _judge(opened: Opened, wanted: Credit) -> Sequence[Ruling]:
    given = bool(opened.order.metadata.get(changes.CREDIT_FACT))
    return policy.judge_credit(opened.case, _minor(wanted, opened.case.currency), given)


def _more(opened: Opened, _wanted: Credit) -> State:
    card = changes.find_gift_card(opened.order)
    return {
        "credit_given": opened.order.metadata.get(changes.CREDIT_FACT),
        "card": card and {"name": card.description, "balance": card.balance_minor},
    }


def _amount(wanted: Credit, state: State) -> Money:
    return words.money(state, _minor(wanted, state["currency"]))


def _words(wanted: Credit, state: State) -> str:
    why = wanted.reason.replace("_", " ")
    return f"Give {_amount(wanted, state)} of credit for order {state['order']} ({why})"


def _changes(wanted: Credit, state: State) -> list[Change]:
    amount, card = _amount(wanted, state), state["card"]
    if card is None:
        return [Change("Gift card", "none", f"a new one with {amount}")]
    before = words.money(state, card["balance"])
    return [Change(card["name"], str(before), str(before + amount))]


def _apply(opened: Opened, wanted: Credit, bookings: Bookings) -> None:
    changes.give_credit(opened.order, bookings.key, _minor(wanted, opened.case.currency))


GOODWILL_CREDIT = replace(
    as_action(
        Plan(
            name="orders.goodwill_credit",
            tier=RiskTier.HIGH,
            arguments=Credit,
            judge=_judge,
            words=_words,
            changes=_changes,
            apply=_apply,
            undo="Take the credit off the gift card, while it is not spent.",
            amount=_amount,
            more=_more,
        )
    ),
    permit=require_account,
)
