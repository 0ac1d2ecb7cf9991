"""The console's first page: what needs a person now, then how the desk does today."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.contrib import admin
from django.db.models import (
    Avg,
    Count,
    DurationField,
    ExpressionWrapper,
    F,
    Max,
    Q,
    QuerySet,
    Sum,
)
from django.db.models.functions import TruncDate
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from agents.admin import shown_question
from agents.models import Conversation, ModelAttempt, Run
from approvals.models import Proposal
from approvals.waiting import View, Waiting, count_waiting, median_decision
from dsupport.lib import clock
from dsupport.lib.spans import NO_BREAK, short_span

DAYS = 14
HEALTH = timedelta(hours=1)
Shops = Collection[int] | None


@dataclass(frozen=True, slots=True)
class Card:
    """A figure of the home page; `more` is a second line, `link` where to act on it."""

    name: str
    figure: str
    more: str = ""
    link: str = ""
    urgent: bool = False


@dataclass(frozen=True, slots=True)
class Bar:
    """A day's questions in the chart, as parts of a height of 100."""

    day: Any
    total: int
    handed_over: int
    left: int
    height: float
    handed_height: float

    @property
    def top(self) -> float:
        return 100 - self.height

    @property
    def handed_top(self) -> float:
        return 100 - self.handed_height


def dashboard(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Fill the home page for the shops this person works for."""
    now = clock.now()
    today = timezone.localtime(now).replace(hour=0, minute=0, second=0, microsecond=0)
    shops: Shops = _page_of(Conversation).shop_ids(request)
    runs = Run.objects.for_tenants(shops)
    latest = runs.with_question().select_related("tenant").order_by("-created_at")[:8]
    of_today = runs.filter(created_at__gte=today)
    reasons = of_today.exclude(ending="").values("ending").annotate(n=Count("id"))
    return {
        **context,
        "title": "Home",
        "needs": [*_waiting_cards(request, now), *_talk_cards(shops)],
        "today": _cards_of_today(request, shops, of_today, today),
        "providers": _provider_lines(shops, now),
        "bars": _bars(runs, today),
        "recent": [{"run": run, "question": shown_question(run)} for run in latest],
        "endings": list(reasons.order_by("-n")[:6]),
    }


def _page_of(model: type[Any]) -> Any:
    return admin.site.get_model_admin(model)


def _waiting_cards(request: HttpRequest, now: datetime) -> list[Card]:
    queue = _page_of(Proposal)
    if not queue.has_view_permission(request):
        return []
    waiting = count_waiting(queue.shop_ids(request), name=request.user.get_username(), now=now)
    address = reverse("admin:approvals_proposal_changelist")
    counts = waiting.counts
    return [
        Card(
            "To decide",
            str(waiting.total),
            _age_and_amount(waiting, now),
            f"{address}?decision=open",
        ),
        Card(
            "Within the hour",
            str(counts[View.SOON]),
            "then it is too late",
            f"{address}?decision=soon",
            urgent=counts[View.SOON] > 0,
        ),
        Card("Mine", str(counts[View.MINE]), "", f"{address}?decision=mine"),
        Card("Unclaimed", str(counts[View.FREE]), "", f"{address}?decision=free"),
        Card("To do elsewhere", str(counts[View.ELSEWHERE]), "", f"{address}?decision=elsewhere"),
    ]


def _age_and_amount(waiting: Waiting, now: datetime) -> str:
    if waiting.oldest is None:
        return "nothing waits"
    amounts = " + ".join(str(amount).replace(" ", NO_BREAK) for amount in waiting.amounts)
    age = f"oldest{NO_BREAK}{short_span(now - waiting.oldest)}"
    return f"{age} · {amounts}" if amounts else age


def _talk_cards(shops: Shops) -> list[Card]:
    waiting = Conversation.objects.for_tenants(shops).waiting_for_person().count()
    address = reverse("admin:agents_conversation_changelist")
    return [
        Card(
            "Talks that wait for a person",
            str(waiting),
            "",
            f"{address}?waits=person",
            urgent=waiting > 0,
        )
    ]


def _cards_of_today(
    request: HttpRequest, shops: Shops, runs: QuerySet[Run], today: datetime
) -> list[Card]:
    took = ExpressionWrapper(F("finished_at") - F("started_at"), output_field=DurationField())
    found = runs.aggregate(
        talks=Count("conversation", distinct=True),
        runs=Count("id"),
        completed=Count("id", filter=Q(status="completed")),
        handed_over=Count("id", filter=Q(status="handed_over")),
        failed=Count("id", filter=Q(status="failed")),
        active=Count("id", filter=Q(status__in=["queued", "running"])),
        took=Avg(took),
        cost=Sum("cost"),
    )
    cards = [
        Card("Conversations", str(found["talks"]), f"{found['runs']} questions"),
        Card(
            "Answered without a person",
            str(found["completed"]),
            _share(found["completed"], found["runs"]),
        ),
        Card("Handed over", str(found["handed_over"]), _share(found["handed_over"], found["runs"])),
        Card("Failed", str(found["failed"]), urgent=found["failed"] > 0),
        Card("Average time", _seconds(found["took"]), f"{found['active']} at work now"),
        Card("Models cost", f"${(found['cost'] or 0) / 1_000_000:.2f}"),
    ]
    queue = _page_of(Proposal)
    if queue.has_view_permission(request):
        median = median_decision(queue.shop_ids(request), since=today)
        cards.append(Card("Time to a decision", short_span(median) if median else "–", "median"))
    return cards


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.0%} of the questions" if whole else ""


def _seconds(span: timedelta | None) -> str:
    return f"{span.total_seconds():.1f} s" if span else "–"


def _provider_lines(shops: Shops, now: datetime) -> list[str]:
    """Say of each vendor how its last hour went; the offline rules need none."""
    recent = ModelAttempt.objects.for_tenants(shops).filter(at__gte=now - HEALTH)
    rows = recent.values("provider").annotate(
        n=Count("id"), failed=Count("id", filter=~Q(code="")), last=Max("at", filter=~Q(code=""))
    )
    lines = [
        f"{row['provider']}: {row['n'] - row['failed']} of {row['n']} calls answered"
        + (f"; last failure {short_span(now - row['last'])} ago" if row["failed"] else "")
        for row in rows.order_by("provider")
    ]
    provider = settings.DSUPPORT_PROVIDER
    return lines or [f"{provider}: no calls in the last hour"]


def _bars(runs: QuerySet[Run], today: datetime) -> Sequence[Bar]:
    first = today - timedelta(days=DAYS - 1)
    rows = (
        runs.filter(created_at__gte=first)
        .annotate(day=TruncDate("created_at"))
        .values("day")
        .annotate(n=Count("id"), handed=Count("id", filter=Q(status="handed_over")))
    )
    by_day = {row["day"]: (row["n"], row["handed"]) for row in rows}
    most = max((n for n, _ in by_day.values()), default=0) or 1
    days = [(first + timedelta(days=place)).date() for place in range(DAYS)]
    return [
        Bar(day, n, handed, place * 20, 100 * n / most, 100 * handed / most)
        for place, day in enumerate(days)
        for n, handed in [by_day.get(day, (0, 0))]
    ]
