"""What the tests of the demo shop share."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from dsupport.demo.facts import OrderFacts
from dsupport.demo.generator import SEED, make_orders, make_stories
from dsupport.demo.source import read_shop
from orders.adapters.simulated import tracking_code

# A Thursday morning in an ordinary week.
THURSDAY = datetime(2026, 10, 15, 9, 0, tzinfo=UTC)
# The nights of the clock changes, the ends of years, a leap day, and Mondays and Tuesdays of them.
HARD_MOMENTS = tuple(
    datetime.fromisoformat(text)
    for text in (
        "2026-03-29T00:30:00+00:00",
        "2026-03-29T01:00:00+00:00",
        "2026-03-30T22:05:00+00:00",
        "2026-10-25T00:30:00+00:00",
        "2026-10-25T23:00:00+00:00",
        "2026-10-26T23:00:00+00:00",
        "2026-12-31T22:59:59+00:00",
        "2026-12-31T23:00:00+00:00",
        "2027-01-04T12:00:00+00:00",
        "2027-01-05T00:00:00+00:00",
        "2028-02-29T12:00:00+00:00",
        "2030-12-24T23:00:00+00:00",
    )
)


def orders_at(now: datetime, *, seed: int = SEED) -> list[OrderFacts]:
    return make_orders(read_shop(), now=now, code_for=tracking_code, seed=seed)


def stories_at(now: datetime) -> dict[str, OrderFacts]:
    """Return the fixed orders alone, by number."""
    return by_number(make_stories(read_shop(), now=now, code_for=tracking_code))


def by_number(orders: Iterable[OrderFacts]) -> dict[str, OrderFacts]:
    return {order.number: order for order in orders}
