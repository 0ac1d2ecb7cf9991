"""A hosted embedder as a shop may use it: within its budget, each attempt booked."""

from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.db import connection

from dsupport.contract.errors import PortError
from dsupport.lib import clock
from dsupport.models import Tenant
from knowledge.ports import Attempted, Billed, Embedder
from knowledge.spending import EmbeddingAttempt


def for_shop(embedder: Embedder, tenant_id: int) -> Embedder:
    """Return the embedder as a shop may use it. One that runs here is free.

    A hosted one is booked. `PortError("budget_spent")` when the shop or the system has spent a
    day's budget on vectors alone. The database connection goes back before anything is asked.
    """
    if not isinstance(embedder, Billed):
        return embedder
    if _is_spent(tenant_id, clock.now()):
        raise PortError(
            "Today's budget for the embedding model is spent. Raise it, or wait for tomorrow.",
            code="budget_spent",
        )
    _give_back()
    return embedder.billed(lambda attempted: _book(tenant_id, attempted))


def _book(tenant_id: int, attempted: Attempted) -> None:
    EmbeddingAttempt.objects.create(
        tenant_id=tenant_id,
        embedder_id=attempted.embedder_id,
        purpose=attempted.purpose,
        texts=attempted.texts,
        tokens=attempted.tokens,
        cost=attempted.cost,
        code=attempted.code,
        ms=attempted.ms,
        at=clock.now(),
    )
    _give_back()


def _give_back() -> None:
    if not connection.in_atomic_block:
        connection.close()


def _is_spent(tenant_id: int, now: datetime) -> bool:
    """Tell whether a budget of the shop's calendar day is used up; 0 means none."""
    money, tokens = settings.DSUPPORT_BUDGETS, settings.DSUPPORT_TOKEN_BUDGETS
    scopes = {"tenant": tenant_id, "system": None}
    if not any(money[scope] or tokens[scope] for scope in scopes):
        return False
    local = now.astimezone(Tenant.objects.get(pk=tenant_id).zone)
    today = local.replace(hour=0, minute=0, second=0, microsecond=0)
    for scope, key in scopes.items():
        cost, counted = EmbeddingAttempt.objects.since(today, key).spent()
        if 0 < money[scope] <= cost or 0 < tokens[scope] <= counted:
            return True
    return False
