"""The side bar of the admin: what needs a person first, then what the desk knows."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse

_SECTIONS: tuple[tuple[str, tuple[tuple[str, str, str], ...]], ...] = (
    (
        "Desk",
        (
            ("Conversations", "forum", "agents_conversation"),
            ("Runs", "account_tree", "agents_run"),
            ("Model calls", "payments", "agents_modelattempt"),
            ("Tickets", "confirmation_number", "tickets_ticket"),
            ("Queue", "gavel", "approvals_proposal"),
        ),
    ),
    (
        "Shop",
        (
            ("Customers", "person", "orders_customer"),
            ("Orders", "package_2", "orders_order"),
            ("Products", "sell", "orders_product"),
        ),
    ),
    (
        "Knowledge",
        (
            ("Articles", "article", "knowledge_article"),
            ("Searches", "manage_search", "knowledge_retrievaltrace"),
        ),
    ),
    (
        "Control",
        (
            ("Switches", "toggle_off", "dsupport_switch"),
            ("Audit", "history", "approvals_auditentry"),
            ("Keys", "key", "dsupport_apikey"),
            ("Shops", "storefront", "dsupport_tenant"),
            ("Staff", "badge", "dsupport_membership"),
        ),
    ),
)


# What opens narrowed, and the figure that stands beside it.
_NARROWED = {"approvals_proposal": "?decision=open"}
_BADGES = {"approvals_proposal": "approvals.admin.badge"}


def sidebar(_request: HttpRequest) -> list[dict[str, Any]]:
    """Return the sections with those lists that are registered."""
    sections = [
        {"title": title, "separator": True, "items": list(filter(None, map(_item, items)))}
        for title, items in _SECTIONS
    ]
    home = {"title": "Home", "icon": "space_dashboard", "link": reverse("admin:index")}
    return [{"items": [home]}, *sections]


def _item(entry: tuple[str, str, str]) -> dict[str, str] | None:
    title, icon, model = entry
    try:
        address = reverse(f"admin:{model}_changelist") + _NARROWED.get(model, "")
    except NoReverseMatch:
        return None
    item = {"title": title, "icon": icon, "link": address}
    if model in _BADGES:
        item |= {"badge": _BADGES[model], "badge_variant": "primary"}
    return item
