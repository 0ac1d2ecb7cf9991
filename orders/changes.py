"""What approved actions do to an order. Each runs in the caller's transaction, under its locks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db.models import F

from dsupport.contract.principal import Principal
from dsupport.lib.money import Money
from orders.cases import Opened, own_profile
from orders.errors import OrderNotFound
from orders.models import Order, OrderItem, Payment, PaymentMethod, Variant
from orders.policy import Choice, match_lines, price_difference, refund_shares
from orders.rules import (
    MethodKind,
    OrderStatus,
    PaymentKind,
    PaymentStatus,
    check_can_become,
)

CREDIT_FACT = "goodwill_credit"  # in an order's metadata: what was given, in minor units


class Bookings:
    """Books money of one action on one order. References are the action's key and a number."""

    def __init__(self, order: Order, key: str, now: datetime) -> None:
        self._order, self.key, self._now = order, key, now
        self._count = 0

    def charge(self, method_id: str, amount: int) -> None:
        self._book(PaymentKind.PAYMENT, method_id, amount)

    def pay_back(self, method_id: str, amount: int, *, settled: bool = False) -> None:
        """Book a refund; `settled` when a provider has moved the money already."""
        self._book(PaymentKind.REFUND, method_id, amount, settled=settled)

    def _book(
        self, kind: PaymentKind, method_id: str, amount: int, *, settled: bool = False
    ) -> None:
        """Book a movement; a gift card's balance moves with it, at once."""
        method = self._find(method_id)
        is_gift_card = method is not None and method.kind == MethodKind.GIFT_CARD
        done = is_gift_card or settled
        Payment.objects.create(
            order=self._order,
            reference=f"{self.key}/{self._count}",
            kind=kind,
            method=method,
            description=method.description if method else "",
            amount_minor=amount,
            currency=self._order.currency,
            status=PaymentStatus.COMPLETED if done else PaymentStatus.PENDING,
            at=self._now,
        )
        self._count += 1
        if is_gift_card and method is not None:
            sign = -1 if kind is PaymentKind.PAYMENT else 1
            PaymentMethod.objects.filter(pk=method.pk).update(
                balance_minor=F("balance_minor") + sign * amount
            )

    def _find(self, method_id: str) -> PaymentMethod | None:
        """Return a method of the order's customer, whoever asks: money goes back to its source."""
        rows = PaymentMethod.objects.for_tenant(self._order.tenant_id)
        mine = rows.filter(customer=self._order.customer)
        found: PaymentMethod | None = mine.filter(external_id=method_id).first()
        return found


def find_gift_card(order: Order) -> PaymentMethod | None:
    """Return the gift card that a credit for an order goes on: the oldest in its currency."""
    rows = PaymentMethod.objects.for_tenant(order.tenant_id).filter(
        customer=order.customer, kind=MethodKind.GIFT_CARD, currency=order.currency
    )
    found: PaymentMethod | None = rows.order_by("pk").first()
    return found


def give_credit(order: Order, key: str, amount: int) -> None:
    """Put money on the customer's gift card, a new one where there is none; once for an order."""
    card = find_gift_card(order)
    if order.customer is None:
        raise OrderNotFound  # a guest's order has nobody's gift card
    if card is None:
        card = PaymentMethod.objects.create(
            customer=order.customer,
            external_id=f"credit-{key}",
            kind=MethodKind.GIFT_CARD,
            balance_minor=0,
            currency=order.currency,
        )
    PaymentMethod.objects.filter(pk=card.pk).update(balance_minor=F("balance_minor") + amount)
    Order.objects.filter(pk=order.pk).update(metadata={**order.metadata, CREDIT_FACT: amount})


def cancel(opened: Opened, bookings: Bookings, reason: str) -> None:
    """Cancel an order and pay back what each method paid."""
    for method, amount in refund_shares(opened.case).items():
        bookings.pay_back(method, amount)
    _move(opened.order, OrderStatus.CANCELLED, {"cancel_reason": reason})


def change_address(order: Order, address: Mapping[str, str]) -> None:
    Order.objects.filter(pk=order.pk).update(**address)


def change_own_address(principal: Principal, address: Mapping[str, str]) -> None:
    profile = own_profile(principal, lock=True)
    for field, value in address.items():
        setattr(profile, field, value)
    profile.save(update_fields=list(address))


def change_own_email(principal: Principal, email: str) -> str:
    """Change the address of the asker's account; return the one it had."""
    profile = own_profile(principal, lock=True)
    old: str = profile.email
    profile.email = email
    profile.save(update_fields=["email"])
    return old


def change_payment(opened: Opened, bookings: Bookings, method: str) -> None:
    """Charge the whole order to another method and pay the old one back."""
    shares = refund_shares(opened.case)
    bookings.charge(method, sum(shares.values()))
    for old, amount in shares.items():
        bookings.pay_back(old, amount)


def change_items(
    opened: Opened, bookings: Bookings, swaps: Sequence[tuple[str, Choice]], method: str
) -> None:
    """Put other variants into the lines, settle the difference; the one change of an order."""
    order, case = opened.order, opened.case
    difference = price_difference(case, swaps)
    for line, (_, choice) in zip(match_lines(case, [sku for sku, _ in swaps]), swaps, strict=True):
        variant = Variant.objects.for_tenant(order.tenant_id).get(sku=choice.sku)
        OrderItem.objects.filter(order=order, position=line.position).update(
            variant=variant,
            sku=variant.sku,
            name=choice.name,
            options=variant.options,
            price_minor=choice.price,
        )
    if difference > 0:
        bookings.charge(method, difference)
    elif difference < 0:
        bookings.pay_back(method, -difference)
    _move(order, OrderStatus.ITEMS_CHANGED, {}, total_minor=case.total + difference)


def request_return(order: Order, skus: Sequence[str], method: str) -> None:
    _move(
        order,
        OrderStatus.RETURN_REQUESTED,
        {"return_items": sorted(skus), "return_payment_method_id": method},
    )


def request_exchange(opened: Opened, swaps: Sequence[tuple[str, Choice]], method: str) -> None:
    order = opened.order
    difference = Money(price_difference(opened.case, swaps), order.currency)
    _move(
        order,
        OrderStatus.EXCHANGE_REQUESTED,
        {
            "exchange_items": sorted(sku for sku, _ in swaps),
            "exchange_new_items": sorted(choice.sku for _, choice in swaps),
            "exchange_payment_method_id": method,
            "exchange_price_difference": str(difference.decimal),
        },
    )


def _move(order: Order, status: OrderStatus, facts: Mapping[str, Any], **fields: Any) -> None:
    check_can_become(OrderStatus(order.status), status)
    Order.objects.filter(pk=order.pk).update(
        status=status, metadata={**order.metadata, **facts}, **fields
    )
