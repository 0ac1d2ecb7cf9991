"""What waits for people: the queue by view, and how much of it there is."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from django.db.models import (
    Aggregate,
    Count,
    DurationField,
    ExpressionWrapper,
    F,
    Min,
    Q,
    QuerySet,
    Sum,
)

from approvals.models import Proposal
from approvals.rules import ProposalStatus
from dsupport.lib.money import Money

SOON = timedelta(hours=1)


class View(StrEnum):
    """The ways to look at the queue."""

    OPEN = "open"
    MINE = "mine"
    FREE = "free"
    SOON = "soon"
    ELSEWHERE = "elsewhere"
    LATE = "late"


VIEW_WORDS: Mapping[View, str] = {
    View.OPEN: "Waiting",
    View.MINE: "Mine",
    View.FREE: "Unclaimed",
    View.SOON: "Within the hour",
    View.ELSEWHERE: "To do elsewhere",
    View.LATE: "Not decided in time",
}


@dataclass(frozen=True, slots=True)
class Waiting:
    """How much waits at a moment. `oldest` is when the first of it was asked for.

    `amounts` are what the decisions are about, a sum for each currency.
    """

    counts: Mapping[View, int]
    oldest: datetime | None
    amounts: Sequence[Money]

    @property
    def total(self) -> int:
        return self.counts[View.OPEN]


def narrow(rows: QuerySet[Proposal], view: View, *, name: str, now: datetime) -> QuerySet[Proposal]:
    """Return the rows that a view shows to the person of this name."""
    return rows.filter(_condition(view, name, now))


def count_waiting(shops: Collection[int] | None, *, name: str, now: datetime) -> Waiting:
    """Return how much waits in these shops (None: all), seen by the person of this name."""
    rows = Proposal.objects.in_shops(shops).filter(_HELD)
    views = {view.value: Count("pk", filter=_condition(view, name, now)) for view in View}
    is_open = _condition(View.OPEN, name, now)
    found = rows.aggregate(**views, oldest=Min("created_at", filter=is_open))
    sums = rows.filter(is_open).exclude(amount_minor=None).values("currency").order_by("currency")
    return Waiting(
        counts={view: found[view.value] for view in View},
        oldest=found["oldest"],
        amounts=[Money(row["s"], row["currency"]) for row in sums.annotate(s=Sum("amount_minor"))],
    )


def count_open(shops: Collection[int] | None, *, now: datetime) -> int:
    """Return how many proposals of these shops (None: all) a person can decide now."""
    return int(Proposal.objects.in_shops(shops).pending(now).count())


def median_decision(shops: Collection[int] | None, *, since: datetime) -> timedelta | None:
    """Return how long half of the decisions since then took at most, from the asking."""
    decided = Proposal.objects.in_shops(shops).filter(decided_at__gte=since)
    took = ExpressionWrapper(F("decided_at") - F("created_at"), output_field=DurationField())
    found: timedelta | None = decided.aggregate(median=Median(took))["median"]
    return found


class Median(Aggregate):
    """PostgreSQL's `percentile_cont` at one half."""

    function = "PERCENTILE_CONT"
    template = "%(function)s(0.5) WITHIN GROUP (ORDER BY %(expressions)s)"


_HELD = Q(status__in=[ProposalStatus.PENDING, ProposalStatus.RECORDED])


def _condition(view: View, name: str, now: datetime) -> Q:
    pending = Q(status=ProposalStatus.PENDING)
    is_open = pending & Q(expires_at__gt=now)
    return {
        View.OPEN: is_open,
        View.MINE: is_open & Q(claimed_by=name),
        View.FREE: is_open & Q(claimed_by=""),
        View.SOON: is_open & Q(expires_at__lte=now + SOON),
        View.ELSEWHERE: Q(status=ProposalStatus.RECORDED),
        View.LATE: pending & Q(expires_at__lte=now),
    }[view]
