"""A payment provider that needs no network: it keeps its own books and can be in trouble.

Its books are a table of its own, as far from the shop's as another company's would be: written
outside the caller's transaction, one row a key, counting how often the key was sent.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from django.db import IntegrityError
from django.db.models import F

from dsupport.contract.errors import PortError
from dsupport.lib.money import Money
from orders.models import SimulatedRefund
from orders.ports import Receipt


@dataclass(frozen=True, slots=True)
class PaymentFaults:
    """What is wrong: `down` does nothing, `mute` acts and is not heard, `refuses` says no."""

    down: bool = False
    mute: bool = False
    refuses: bool = False


_NONE = PaymentFaults()
_faults: ContextVar[PaymentFaults] = ContextVar("payment_faults", default=_NONE)


@contextmanager
def failing(faults: PaymentFaults) -> Iterator[None]:
    """Let the provider misbehave for what runs in this context."""
    token = _faults.set(faults)
    try:
        yield
    finally:
        _faults.reset(token)


class SimulatedPayments:
    """The shipped stand-in for a payment provider."""

    def refund(self, *, key: str, amount: Money, to: str, timeout: float) -> Receipt:
        faults = _faults.get()
        if faults.down:
            raise PortError("The payment provider cannot be reached.", retryable=True)
        if faults.refuses:
            raise PortError("The payment provider refuses this refund.", code="refused")
        row = self._book(key, amount, to)
        if faults.mute:
            raise PortError("The provider did not answer in time.", code="timeout", retryable=True)
        return _receipt(row)

    def look_up(self, key: str, *, timeout: float) -> Receipt | None:
        if _faults.get().down:
            raise PortError("The payment provider cannot be reached.", retryable=True)
        row = SimulatedRefund.objects.filter(key=key).first()
        return _receipt(row) if row is not None else None

    def _book(self, key: str, amount: Money, to: str) -> SimulatedRefund:
        try:
            return SimulatedRefund.objects.create(
                key=key, amount_minor=amount.minor, currency=amount.currency, paid_to=to
            )
        except IntegrityError:
            SimulatedRefund.objects.filter(key=key).update(calls=F("calls") + 1)
            return SimulatedRefund.objects.get(key=key)


def _receipt(row: SimulatedRefund) -> Receipt:
    return Receipt(f"SIM-{row.pk:08}")
