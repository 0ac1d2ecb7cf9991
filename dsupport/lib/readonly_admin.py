"""Admin lists that show and never change, scoped to the shops a member of staff works for."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from functools import wraps
from typing import Any

from django.core.paginator import Paginator
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils.functional import cached_property
from django.utils.html import format_html
from unfold.admin import ModelAdmin

_SHOWN = "_desk_shown"
_MEMBERSHIPS = "_desk_memberships"


class BoundedPaginator(Paginator):
    """Page through a list without counting a table: beyond `reach` rows one filters instead."""

    reach = 5_000

    @cached_property
    def count(self) -> int:
        """Return how many rows there are, at most `reach`."""
        rows = self.object_list
        if isinstance(rows, QuerySet):
            return len(rows.order_by().values_list("pk")[: self.reach])
        return min(len(rows), self.reach)


class ReadOnlyAdmin(ModelAdmin):
    """Base of every list in the console that a person may look at and nobody may edit.

    `tenant_path` is the look-up from the model to its shop (`"tenant"`, `"order__tenant"`,
    `"tenant_id"` for a plain integer column, `"pk"` for the shop itself); None means that rows
    belong to no shop and superusers alone see them. `view_roles`, when given, narrows who may
    look to memberships with one of those roles. Superusers see every shop.
    """

    tenant_path: str | None = "tenant"
    view_roles: Collection[str] | None = None

    paginator = BoundedPaginator
    show_full_result_count = False
    list_per_page = 50
    list_max_show_all = 0
    actions: Sequence[str] | None = None
    list_fullwidth = True
    save_as = False

    def shop_ids(self, request: HttpRequest) -> set[int] | None:
        """Return the shops whose rows this person may see; None means all of them."""
        user: Any = request.user
        if user.is_active and user.is_superuser:
            return None
        return {
            tenant_id
            for tenant_id, role in memberships_of(request)
            if self.view_roles is None or role in self.view_roles
        }

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows: QuerySet[Any] = super().get_queryset(request)
        shops = self.shop_ids(request)
        if shops is None:
            return rows
        if self.tenant_path is None:
            return rows.none()
        return rows.filter(**{f"{self.tenant_path}__in": shops})

    def get_list_display(self, request: HttpRequest) -> list[Any]:
        """Leave the shop's column out for those who work for one shop."""
        columns = list(super().get_list_display(request))
        shops = self.shop_ids(request)
        if shops is not None and len(shops) == 1 and "tenant" in columns:
            columns.remove("tenant")
        return columns

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        user: Any = request.user
        if not (user.is_active and user.is_staff):
            return False
        if user.is_superuser:
            return True
        return self.tenant_path is not None and bool(self.shop_ids(request))

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


def pretty_json(value: Any) -> str:
    """Return a JSON value as an indented, escaped block for a detail page."""
    text = json.dumps(value, ensure_ascii=False, indent=2, default=str)
    return format_html('<pre class="desk-json">{}</pre>', text)


def record_link(model: str, pk: Any, text: str) -> str:
    """Return a link to a record's admin page, or the plain text when it has none.

    `model` is `app_label_modelname`, such as `tickets_ticket`; no model is imported.
    """
    if not pk:
        return text or "–"
    try:
        address = reverse(f"admin:{model}_change", args=[pk])
    except NoReverseMatch:
        return text
    return format_html('<a class="desk-link" href="{}">{}</a>', address, text)


def shown_once(show: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Have a field of a detail page made once for a record; the page asks for it several times."""

    @wraps(show)
    def once(self: Any, record: Any) -> Any:
        made: dict[str, Any] = record.__dict__.setdefault(_SHOWN, {})
        if show.__name__ not in made:
            made[show.__name__] = show(self, record)
        return made[show.__name__]

    return once


def memberships_of(request: HttpRequest) -> list[tuple[int, str]]:
    """Return the asker's shops and roles, read once for each request."""
    if not hasattr(request, _MEMBERSHIPS):
        user: Any = request.user
        found = (
            list(user.memberships.values_list("tenant_id", "role")) if user.is_authenticated else []
        )
        setattr(request, _MEMBERSHIPS, found)
    memberships: list[tuple[int, str]] = getattr(request, _MEMBERSHIPS)
    return memberships
