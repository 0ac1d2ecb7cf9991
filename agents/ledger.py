"""What was spent on models, attempt by attempt, and whether a day's budget still has room."""

from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.db.models import F, Sum

from agents.models import ModelAttempt, ModelAttemptQuerySet
from dsupport.models import Tenant
from knowledge.tools import spent_on_vectors


def budget_spent(*, tenant_id: int, owner_key: str, now: datetime) -> bool:
    """Tell whether the customer, the shop or the system has used up today's money or tokens.

    A budget of 0 means none. Days are those of the shop's calendar. What hosted embedders cost
    counts for the shop and the system.
    """
    money, tokens = settings.DSUPPORT_BUDGETS, settings.DSUPPORT_TOKEN_BUDGETS
    if not any([*money.values(), *tokens.values()]):
        return False
    local = now.astimezone(Tenant.objects.get(pk=tenant_id).zone)
    start = local.replace(hour=0, minute=0, second=0, microsecond=0)
    today = ModelAttempt.objects.since(start)
    shop = today.for_tenants({tenant_id})
    spent = {
        "system": lambda: _sum(_spent(today), spent_on_vectors(start)),
        "tenant": lambda: _sum(_spent(shop), spent_on_vectors(start, tenant_id)),
        "customer": lambda: _spent(shop.filter(owner_key=owner_key)),
    }
    return any(
        _reached(spent[scope](), money=money[scope], tokens=tokens[scope])
        for scope in spent
        if money[scope] or tokens[scope]
    )


def _spent(rows: ModelAttemptQuerySet) -> tuple[int, int]:
    sums = rows.aggregate(money=Sum("cost"), tokens=Sum(F("input_tokens") + F("output_tokens")))
    return sums["money"] or 0, sums["tokens"] or 0


def _sum(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    return one[0] + other[0], one[1] + other[1]


def _reached(spent: tuple[int, int], *, money: int, tokens: int) -> bool:
    return 0 < money <= spent[0] or 0 < tokens <= spent[1]
