"""What the shop allows to be done to an order, rule by rule. Values in, verdicts out.

Amounts are in minor units of the order's currency. A request is allowed when every rule holds;
the first that does not is the reason it is refused for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import NamedTuple

from dsupport.lib.money import Money
from orders.rules import STATUS_TEXT, MethodKind, OrderStatus, PaymentKind, PaymentStatus

CANCEL_REASONS = ("no longer needed", "ordered by mistake")

CREDIT_PERCENT = 25


class Ruling(NamedTuple):
    """One rule and whether it holds; `text` says which in words for a person."""

    name: str
    holds: bool
    text: str


@dataclass(frozen=True, slots=True)
class Line:
    """One line of an order. `product` is the shop's id of the product, empty when it is gone."""

    position: int
    sku: str
    name: str
    product: str
    price: int
    quantity: int = 1


@dataclass(frozen=True, slots=True)
class Method:
    """A way to pay in the customer's profile. Gift cards alone have a balance."""

    id: str
    kind: MethodKind
    description: str
    balance: int | None = None


@dataclass(frozen=True, slots=True)
class Movement:
    """Money that moved for an order, or should have. `method` is empty when none is known."""

    kind: PaymentKind
    status: PaymentStatus
    method: str
    amount: int


@dataclass(frozen=True, slots=True)
class Choice:
    """A variant that somebody wants instead; `price` is None when it has none in this currency."""

    sku: str
    product: str
    name: str
    available: bool
    price: int | None


@dataclass(frozen=True, slots=True)
class OrderCase:
    """An order as the rules see it, with the wallet of the customer who asks."""

    number: str
    status: OrderStatus
    currency: str
    lines: tuple[Line, ...]
    movements: tuple[Movement, ...]
    wallet: tuple[Method, ...]
    today: date | None = None
    delivered_on: date | None = None
    window_days: int | None = None

    @property
    def total(self) -> int:
        return sum(line.price * line.quantity for line in self.lines)

    @property
    def held(self) -> dict[str, int]:
        """Return by method what was paid and not paid back, where anything is left."""
        held: dict[str, int] = {}
        for moved in self.movements:
            if moved.status is not PaymentStatus.FAILED:
                sign = 1 if moved.kind is PaymentKind.PAYMENT else -1
                held[moved.method] = held.get(moved.method, 0) + sign * moved.amount
        return {method: amount for method, amount in held.items() if amount}

    def method(self, method_id: str) -> Method | None:
        return next((method for method in self.wallet if method.id == method_id), None)


# --- what each request must satisfy ---------------------------------------------------------


def judge_cancel(case: OrderCase, reason: str) -> list[Ruling]:
    return [
        _untouched(case),
        Ruling(
            "reason",
            reason in CANCEL_REASONS,
            f"The reason is one of: {', '.join(CANCEL_REASONS)}.",
        ),
    ]


def judge_address(case: OrderCase, old: Mapping[str, str], new: Mapping[str, str]) -> list[Ruling]:
    return [_untouched(case), judge_other_address(old, new)]


def judge_other_address(old: Mapping[str, str], new: Mapping[str, str]) -> Ruling:
    return Ruling("other_address", dict(old) != dict(new), "The address is another than now.")


def judge_payment(case: OrderCase, method_id: str) -> list[Ruling]:
    """Judge paying the whole order by one other method of the profile."""
    held = case.held
    paid_by = next(iter(held), "")
    return [
        _untouched(case),
        Ruling("paid_once", len(held) == 1, "The order is paid by exactly one method."),
        _own_method(case, method_id),
        Ruling("other_method", method_id != paid_by, "The new method is another one."),
        _covers(case, method_id, sum(held.values())),
    ]


def judge_items(
    case: OrderCase, swaps: Sequence[tuple[str, Choice | None]], method_id: str
) -> list[Ruling]:
    """Judge changing lines of an order that is not packed yet; once in its life."""
    return [_untouched(case), *_judge_swaps(case, swaps, method_id)]


def judge_exchange(
    case: OrderCase, swaps: Sequence[tuple[str, Choice | None]], method_id: str
) -> list[Ruling]:
    """Judge exchanging delivered items; once, and never after a return was asked for."""
    return [_delivered(case), *_judge_swaps(case, swaps, method_id)]


def judge_return(case: OrderCase, skus: Sequence[str], method_id: str) -> list[Ruling]:
    """Judge sending items back, with the money to the method that paid or to a gift card."""
    method = case.method(method_id)
    is_gift_card = method is not None and method.kind is MethodKind.GIFT_CARD
    return [
        _delivered(case),
        _in_time(case),
        Ruling("items", bool(skus), "At least one item is named."),
        _in_order(case, skus),
        _own_method(case, method_id),
        Ruling(
            "refund_target",
            is_gift_card or method_id in case.held,
            "The money goes back to the method that paid, or to a gift card of the customer.",
        ),
    ]


def judge_refund(case: OrderCase, amount: int, reserved: int) -> list[Ruling]:
    """Judge paying money back without a return being booked.

    `reserved` is what pending requests would pay back already.
    """
    held = case.held
    left = sum(held.values()) - reserved
    room = Money(max(left, 0), case.currency)
    return [
        _delivered(case),
        Ruling("paid", bool(held), "The order was paid, and not all of it was paid back."),
        _in_time(case),
        Ruling("positive", amount > 0, "The amount is more than nothing."),
        Ruling("left", amount <= left, f"At most {room} is left to pay back."),
    ]


def may_refund(case: OrderCase, amount: int, reserved: int) -> bool:
    """Return the same verdict as `judge_refund` without its words, for a look at many orders."""
    return (
        case.status is OrderStatus.DELIVERED
        and amount > 0
        and _is_in_time(case)
        and amount <= sum(case.held.values()) - reserved
    )


def judge_credit(case: OrderCase, amount: int, already_given: bool) -> list[Ruling]:
    """A credit is once for an order that was paid, and at most a quarter of what it cost."""
    kept = sum(case.held.values())
    most = kept * CREDIT_PERCENT // 100
    return [
        Ruling("paid", kept > 0, "The order is paid."),
        Ruling("positive", amount > 0, "The amount can be read and is above zero."),
        Ruling(
            "within_credit",
            amount <= most,
            f"It is at most {CREDIT_PERCENT}% of what was paid: {Money(most, case.currency)}.",
        ),
        Ruling("first_credit", not already_given, "No credit was given for this order before."),
    ]


def judge_email(old: str, new: str, *, free: bool) -> list[Ruling]:
    """The words do not tell an asker whether somebody else has an account."""
    return [
        Ruling("other_email", old != new, "The address is another one than now."),
        Ruling("email_free", free, "The address can be used for this account."),
    ]


def first_broken(rulings: Sequence[Ruling]) -> Ruling | None:
    return next((ruling for ruling in rulings if not ruling.holds), None)


def allowed_actions(case: OrderCase) -> dict[str, bool]:
    """Return which requests the order's state allows at all, whatever their details are.

    Another way to pay is enough here; whether a gift card holds the amount is judged when it is
    named.
    """
    untouched, arrived = _untouched(case).holds, _delivered(case).holds and _in_time(case).holds
    held = case.held
    payable = untouched and len(held) == 1 and any(m.id not in held for m in case.wallet)
    return {
        "cancel": untouched,
        "modify_address": untouched,
        "modify_items": untouched,
        "modify_payment": payable,
        "return": arrived,
        "exchange": _delivered(case).holds,
    }


# --- what a swap comes to -------------------------------------------------------------------


def match_lines(case: OrderCase, skus: Sequence[str]) -> list[Line]:
    """Return the lines that are named, each line once; a name too many is left out."""
    free = list(case.lines)
    found = []
    for sku in skus:
        line = next((line for line in free if line.sku == sku), None)
        if line is not None:
            free.remove(line)
            found.append(line)
    return found


def price_difference(case: OrderCase, swaps: Sequence[tuple[str, Choice | None]]) -> int:
    """Return what the new variants cost more than the old lines; below zero when less."""
    lines = match_lines(case, [sku for sku, _ in swaps])
    prices = [choice.price or 0 for _, choice in swaps if choice is not None]
    return sum(prices) - sum(line.price for line in lines)


def _judge_swaps(
    case: OrderCase, swaps: Sequence[tuple[str, Choice | None]], method_id: str
) -> list[Ruling]:
    choices = [choice for _, choice in swaps]
    products = {line.sku: line.product for line in case.lines}
    known = [choice for choice in choices if choice is not None]
    pairs = [(sku, choice) for sku, choice in swaps if choice is not None]
    return [
        Ruling("items", bool(swaps), "At least one item is named."),
        _in_order(case, [sku for sku, _ in swaps]),
        Ruling("single_pieces", _single(case, swaps), "Each of the lines is one piece."),
        Ruling("variants_known", None not in choices, "Every new item is one that the shop sells."),
        Ruling(
            "same_product",
            all(choice.product and choice.product == products.get(sku) for sku, choice in pairs),
            "Every new item is a variant of the same product.",
        ),
        Ruling(
            "another_variant",
            all(sku != choice.sku for sku, choice in pairs),
            "Every new item is another variant than the old one.",
        ),
        Ruling(
            "in_stock",
            all(choice.available and choice.price is not None for choice in known),
            "Every new item can be delivered.",
        ),
        _own_method(case, method_id),
        _covers(case, method_id, price_difference(case, swaps)),
    ]


def _single(case: OrderCase, swaps: Sequence[tuple[str, Choice | None]]) -> bool:
    return all(line.quantity == 1 for line in match_lines(case, [sku for sku, _ in swaps]))


def _untouched(case: OrderCase) -> Ruling:
    said = STATUS_TEXT[case.status].lower()
    return Ruling(
        "not_packed",
        case.status is OrderStatus.PENDING,
        f"The order is not packed and its items were never changed; it is: {said}.",
    )


def _delivered(case: OrderCase) -> Ruling:
    said = STATUS_TEXT[case.status].lower()
    return Ruling(
        "delivered",
        case.status is OrderStatus.DELIVERED,
        f"The order is delivered, with no return or exchange asked for yet; it is: {said}.",
    )


def _in_time(case: OrderCase) -> Ruling:
    """Judge the return window, in days of the shop's calendar; the last day counts whole."""
    if case.window_days is None:
        return Ruling("in_time", True, "This shop sets no last day.")
    if case.delivered_on is None:
        return Ruling("in_time", False, "The day of delivery is known.")
    last = case.delivered_on + timedelta(days=case.window_days)
    text = f"It is within {case.window_days} days after delivery, until {last.isoformat()}."
    return Ruling("in_time", _is_in_time(case), text)


def _is_in_time(case: OrderCase) -> bool:
    if case.window_days is None:
        return True
    if case.delivered_on is None or case.today is None:
        return False
    return (case.today - case.delivered_on).days <= case.window_days


def _in_order(case: OrderCase, skus: Sequence[str]) -> Ruling:
    wanted, there = Counter(skus), Counter(line.sku for line in case.lines)
    return Ruling("in_order", wanted <= there, "Every item named is in the order, as often.")


def _own_method(case: OrderCase, method_id: str) -> Ruling:
    return Ruling(
        "own_method",
        case.method(method_id) is not None,
        "The payment method stands in the customer's own profile.",
    )


def _covers(case: OrderCase, method_id: str, amount: int) -> Ruling:
    method = case.method(method_id)
    balance = method.balance if method is not None else None
    return Ruling(
        "covers",
        balance is None or balance >= amount,
        "A gift card holds enough for what is to be paid.",
    )


def refund_shares(case: OrderCase) -> Mapping[str, int]:
    """Return what goes back to each method when the whole order is given up."""
    return {method: amount for method, amount in case.held.items() if amount > 0}
