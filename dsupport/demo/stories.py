"""The orders with fixed numbers: the stories that the README, the screens and the tests tell.

| number | what happened | by |
|---|---|---|
| 1042 | in transit, promised ten days ago, one parcel, EUR | Fleur Hendriks |
| 1043 | delivered five days ago, inside the 30 days for returns, EUR | Niamh O'Sullivan |
| 1044 | delivered 45 days ago, the 30 days are over, EUR | Camille Lefèvre |
| 1045 | placed today, not packed yet, USD | Emily Carter |
| 1046 | delivered according to the carrier, and the customer has nothing, EUR | Jonas Schneider |
| 1047 | delivered twelve days ago, JPY | Yui Nakamura |
| 1048 | a present bought last Monday, half of it delivered, USD | Fleur Hendriks |

"Ago" is counted in days of the shop's calendar from the day of seeding, on any day of the year.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, timedelta

from dsupport.demo import courses
from dsupport.demo.draft import Draft
from dsupport.demo.facts import OrderFacts
from dsupport.demo.source import Postal
from orders.rules import OrderStatus, ParcelStatus

_FRIEND = Postal(
    line1="1720 Thistledown Ave",
    line2="",
    city="Columbus",
    region="OH",
    postcode="43206",
    country="US",
)


@dataclass(frozen=True, slots=True)
class Story:
    """One fixed order: who bought what, and how it went."""

    number: str
    email: str
    basket: tuple[tuple[str, int], ...]
    tell: Callable[[Draft], OrderFacts]
    try_asking: str
    currency: str = ""  # the customer's own, unless it goes to another region
    address: Postal | None = None


def _promised_ten_days_ago(draft: Draft) -> OrderFacts:
    trip = draft.promised(draft.world.ago(10))
    return courses.travelling(draft, trip, ParcelStatus.IN_TRANSIT, draft.world.ago(1))


def _delivered(days_ago: int) -> Callable[[Draft], OrderFacts]:
    def tell(draft: Draft) -> OrderFacts:
        return courses.arrived(draft, draft.arriving(draft.world.ago(days_ago)))

    return tell


def _placed_today(draft: Draft) -> OrderFacts:
    """Placed a while ago, but not before midnight on the shop's clock."""
    start = draft.world.calendar.start_of(draft.world.today)
    placed_at = max(start, draft.world.now - timedelta(minutes=50))
    return courses.waiting_since(draft, placed_at, OrderStatus.PENDING)


def _never_arrived(draft: Draft) -> OrderFacts:
    told = courses.arrived(draft, draft.arriving(draft.world.ago(2)))
    return replace(told, metadata={**told.metadata, "disputed": "not received"})


def _present_from_last_monday(draft: Draft) -> OrderFacts:
    """Bought on the last Monday before today for a friend who lives in the warehouse's town.

    The mugs left at once and came on Tuesday, or the same evening when today is Tuesday.
    """
    monday = last_monday(draft.world.today)
    came_on = min(monday + timedelta(days=1), draft.world.ago(1))
    told = courses.split(draft, shipped_on=monday, arrived_on=came_on)
    at = [draft.world.calendar.start_of(monday) + timedelta(hours=hours) for hours in (13, 14, 21)]
    mugs, bowl = (replace(parcel, shipped_at=at[1]) for parcel in told.parcels)
    if came_on == monday:
        mugs = replace(mugs, delivered_at=at[2])
    return courses.paid(draft, told.status, at[0], (mugs, bowl))


def last_monday(today: date) -> date:
    """Return the latest Monday before the day; on a Monday, the one of the week before."""
    return today - timedelta(days=today.weekday() or 7)


STORIES = (
    Story(
        "1042",
        "fleur.hendriks@example.com",
        (("HL-JACK-01-PIN-S", 1), ("HL-SOCK-01-SLA-3639", 2)),
        _promised_ten_days_ago,
        "Where is my order 1042?",
    ),
    Story(
        "1043",
        "niamh.osullivan@example.com",
        (("HL-SHOE-01-38", 1), ("HL-CARE-01-WAS", 1)),
        _delivered(5),
        "I want to send back the shoes from order 1043.",
    ),
    Story(
        "1044",
        "camille.lefevre@example.com",
        (("HL-LINN-01-SIN-NAT", 1),),
        _delivered(45),
        "Can I still return order 1044?",
    ),
    Story(
        "1045",
        "emily.carter@example.com",
        (("HL-TENT-02-MOS", 1), ("HL-LAMP-01-SLA", 2)),
        _placed_today,
        "Please cancel order 1045.",
    ),
    Story(
        "1046",
        "jonas.schneider@example.com",
        (("HL-STOV-01-STD", 1), ("HL-COOK-01-SOL", 1)),
        _never_arrived,
        "My package never showed up.",
    ),
    Story(
        "1047",
        "yui.nakamura@example.com",
        (("HL-FLSK-01-05L-PIN", 2), ("HL-HATS-01-PIN", 1)),
        _delivered(12),
        "When was order 1047 delivered?",
    ),
    Story(
        "1048",
        "fleur.hendriks@example.com",
        (("HL-MUGS-01-CRE", 4), ("HL-BOWL-01-60CM", 1)),
        _present_from_last_monday,
        "Where is the thing I bought Monday?",
        currency="USD",
        address=_FRIEND,
    ),
)

# The first has exactly the two orders above, the second has never bought anything.
WITHOUT_EVERYDAY_ORDERS = frozenset({"fleur.hendriks@example.com", "peter.nowak@example.com"})
