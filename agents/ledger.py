"""What was spent on models, attempt by attempt, and whether a day's budget still has room."""

from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.db.models import Sum

from agents.models import ModelAttempt
from dsupport.models import Tenant


def budget_spent(*, tenant_id: int, owner_key: str, now: datetime) -> bool:
    """Tell whether the customer, the shop or the system has used up today's money for models.

    A budget of 0 means none. Days are those of the shop's calendar.
    """
    budgets = settings.DSUPPORT_BUDGETS
    if not any(budgets.values()):
        return False
    local = now.astimezone(Tenant.objects.get(pk=tenant_id).zone)
    start = local.replace(hour=0, minute=0, second=0, microsecond=0)
    today = ModelAttempt.objects.since(start)
    shop = today.for_tenants({tenant_id})
    spent = {
        "system": today,
        "tenant": shop,
        "customer": shop.filter(owner_key=owner_key),
    }
    return any(
        limit and (rows.aggregate(total=Sum("cost"))["total"] or 0) >= limit
        for name, rows in spent.items()
        if (limit := budgets[name])
    )
