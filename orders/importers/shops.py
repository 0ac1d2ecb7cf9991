"""Importing a whole shop: reader, tenant and tables put together."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dsupport.contract.errors import InvalidInput
from dsupport.models import Tenant
from orders.importers.rows import ImportReport
from orders.importers.store import store_shop
from orders.importers.tau2 import read_tau2
from orders.importers.tau2_shapes import CURRENCY

TAU2_TENANT = "tau2"
_WORKDAYS = ("mon", "tue", "wed", "thu", "fri")
_TAU2_SHOP: dict[str, Any] = {
    "name": "Retail (tau2)",
    "mark": "R",
    "currency": CURRENCY,
    "return_window_days": None,  # its orders carry no dates to count from
    "opening_hours": {day: [["09:00", "17:00"]] for day in _WORKDAYS},
    "starter_questions": [
        "Where is my order?",
        "What did I order last?",
        "Which colours does the backpack come in?",
    ],
}


def import_tau2(
    *,
    path: Path,
    slug: str = TAU2_TENANT,
    begin: Callable[[int], None] = lambda _total: None,
    progress: Callable[[int], None] = lambda _done: None,
) -> ImportReport:
    """Load tau2-bench's retail data into a shop, which is made when it is missing.

    `begin` hears the number of rows to write, `progress` how many more are done.
    """
    rows = read_tau2(path)
    tenant = _shop(slug, _TAU2_SHOP)
    begin(len(rows.products) + len(rows.customers) + len(rows.orders))
    return store_shop(tenant=tenant, rows=rows, progress=progress)


def _shop(slug: str, defaults: dict[str, Any]) -> Tenant:
    if not re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,49}", slug):
        raise InvalidInput("A shop's short name has small letters, digits and hyphens, up to 50.")
    return Tenant.objects.get_or_create(slug=slug, defaults=defaults)[0]
