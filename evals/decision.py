"""What one decision costs: in code, measured here, beside what asking a model for it would."""

from __future__ import annotations

import time
import timeit
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from statistics import median
from typing import Any

from django.conf import settings

from agents.houses import read_price
from approvals.rules import Origin, OutcomeStatus
from approvals.services import propose
from dsupport.contract.principal import Principal, Proof
from dsupport.lib.prices import Tokens, usage_of
from dsupport.models import Tenant
from orders.models import Customer, Order, Payment, PaymentMethod
from orders.policy import Line, Method, Movement, OrderCase, judge_refund, may_refund
from orders.rules import MethodKind, OrderStatus, PaymentKind, PaymentStatus

BARS: Mapping[str, float] = {"rule_us": 1.0, "trace_us": 5.0, "gate_ms": 10.0}
_CALLS, _ROUNDS = 20_000, 7
_MICRO = Decimal(1_000_000)


@dataclass(frozen=True, slots=True)
class CodeCost:
    """Microseconds of an empty call, of the eligibility rule, and of the rule with its words;
    milliseconds (median) of a passage through the gate with the database."""

    empty_us: float
    rule_us: float
    trace_us: float
    gate_ms: float

    @property
    def passed(self) -> bool:
        return all(getattr(self, name) <= bar for name, bar in BARS.items())


@dataclass(frozen=True, slots=True)
class ModelCost:
    """US dollars of one decision asked of a model, from the dated price table; no call is made."""

    model: str
    usd: Decimal


def measure_code(passages: int, now: datetime) -> CodeCost:
    """Measure on this machine, in the database that the connections point at."""
    case = _case()
    return CodeCost(
        empty_us=_microseconds(lambda: None),
        rule_us=_microseconds(lambda: may_refund(case, 500, 0)),
        trace_us=_microseconds(lambda: judge_refund(case, 500, 0)),
        gate_ms=median(_passages(passages, now)),
    )


def price_models(prompt_tokens: int, answer_tokens: int) -> list[ModelCost]:
    """Return what each model of the price table would cost for one decision of this size."""
    prices = {name: read_price(price) for name, price in settings.DSUPPORT_PRICES.items()}
    tokens = Tokens(input=prompt_tokens, output=answer_tokens)
    return [
        ModelCost(name, Decimal(usage_of(tokens, name, prices).cost) / _MICRO)
        for name in sorted(prices)
    ]


def code_usd(cost: CodeCost, cpu_hour_usd: Decimal) -> Decimal:
    """Return what the gate's time costs at a price of a processor's hour."""
    return cpu_hour_usd * Decimal(cost.gate_ms) / Decimal(3_600_000)


def _microseconds(call: Callable[[], Any]) -> float:
    return min(timeit.repeat(call, number=_CALLS, repeat=_ROUNDS)) / _CALLS * 1e6


def _passages(count: int, now: datetime) -> list[float]:
    """Return the milliseconds of each passage, all of new requests that come to wait.

    Each comes two days after the last, so that no limit is ever reached.
    """
    principal, numbers = _shop(count, now)
    took = []
    for place, number in enumerate(numbers):
        began = time.perf_counter()
        outcome = propose(
            principal=principal,
            action="orders.refund",
            arguments={"order_number": number, "amount": "5.00", "reason": "damaged"},
            origin=Origin(key=f"bench/{number}", run_id="bench", conversation_id="bench"),
            evidence={"words": ["The cup came broken, please pay something back."]},
            now=now + timedelta(days=2 * place),
        )
        took.append((time.perf_counter() - began) * 1_000)
        if outcome.status is not OutcomeStatus.WAITING:
            raise RuntimeError(f"the gate refused: {outcome.code}")
    return took


def _shop(orders: int, now: datetime) -> tuple[Principal, list[str]]:
    tenant = Tenant.objects.create(slug="gate", name="Gate")
    customer = Customer.objects.create(
        tenant=tenant, external_id="c", email="c@example.org", currency="EUR"
    )
    card = PaymentMethod.objects.create(
        customer=customer, external_id="card", kind=MethodKind.CARD, currency="EUR"
    )
    for place in range(orders):
        number = str(1_000 + place)
        order = Order.objects.create(
            tenant=tenant,
            customer=customer,
            number=number,
            number_key=number,
            status=OrderStatus.DELIVERED,
            currency="EUR",
            total_minor=9_980,
        )
        Payment.objects.create(
            order=order,
            reference=number,
            kind=PaymentKind.PAYMENT,
            method=card,
            amount_minor=9_980,
            currency="EUR",
            status=PaymentStatus.COMPLETED,
            at=now,
        )
    numbers = [str(1_000 + place) for place in range(orders)]
    return Principal(tenant.pk, Proof.LOGIN, customer_id=customer.pk), numbers


def _case() -> OrderCase:
    paid = Movement(PaymentKind.PAYMENT, PaymentStatus.COMPLETED, "card", 9_980)
    return OrderCase(
        number="1042",
        status=OrderStatus.DELIVERED,
        currency="EUR",
        lines=(Line(1, "A", "Cup", "p", 4_990), Line(2, "B", "Lid", "q", 4_990)),
        movements=(paid,),
        wallet=(Method("card", MethodKind.CARD, "Visa ending 4242"),),
        today=date(2026, 10, 15),
        delivered_on=date(2026, 10, 1),
        window_days=30,
    )
