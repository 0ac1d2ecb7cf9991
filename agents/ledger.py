"""What was spent on models, attempt by attempt, and whether a day's budget still has room."""

from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.db.models import F, Sum

from agents.models import ModelAttempt, ModelAttemptQuerySet
from dsupport.models import Tenant


def budget_spent(*, tenant_id: int, owner_key: str, now: datetime) -> bool:
    """Tell whether the customer, the shop or the system has used up today's money or tokens.

    A budget of 0 means none. Days are those of the shop's calendar.
    """
    money, tokens = settings.DSUPPORT_BUDGETS, settings.DSUPPORT_TOKEN_BUDGETS
    if not any([*money.values(), *tokens.values()]):
        return False
    local = now.astimezone(Tenant.objects.get(pk=tenant_id).zone)
    today = ModelAttempt.objects.since(local.replace(hour=0, minute=0, second=0, microsecond=0))
    shop = today.for_tenants({tenant_id})
    rows = {"system": today, "tenant": shop, "customer": shop.filter(owner_key=owner_key)}
    return any(_reached(rows[scope], money=money[scope], tokens=tokens[scope]) for scope in rows)


def _reached(rows: ModelAttemptQuerySet, *, money: int, tokens: int) -> bool:
    if not (money or tokens):
        return False
    spent = rows.aggregate(money=Sum("cost"), tokens=Sum(F("input_tokens") + F("output_tokens")))
    return bool(
        (money and (spent["money"] or 0) >= money) or (tokens and (spent["tokens"] or 0) >= tokens)
    )
