"""What the desk knows of a turn beside the customer's words: the date, the hours, who is asking."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol
from zoneinfo import ZoneInfo

from dsupport.lib.hours import describe_next_opening, is_open


class HasHours(Protocol):
    """A shop with its name and its hours: a `Tenant`, or what a run has read of it."""

    @property
    def name(self) -> str: ...
    @property
    def zone(self) -> ZoneInfo: ...
    @property
    def opening_hours(self) -> Mapping[str, Any]: ...
    @property
    def holidays(self) -> Sequence[Mapping[str, Any]]: ...


def opens_text(tenant: HasHours, now: datetime) -> str:
    """Return when a person is back, such as "Monday 9:00"; empty while the desk is open."""
    if is_open(tenant.opening_hours, tenant.holidays, now, tenant.zone):
        return ""
    return describe_next_opening(tenant.opening_hours, tenant.holidays, now, tenant.zone)


def turn_context(
    tenant: HasHours,
    *,
    now: datetime,
    asker: Mapping[str, Any],
    intents: Collection[str],
) -> dict[str, Any]:
    """Return the volatile facts of a turn, JSON-shaped. No address and no e-mail is among them.

    `asker` holds `asker` (signed_in, guest_with_order, anonymous), `asker_name`, `proved_orders`.
    """
    opens = opens_text(tenant, now)
    local = now.astimezone(tenant.zone)
    return {
        "today": local.date().isoformat(),
        "now": local.isoformat(timespec="minutes"),
        "shop": tenant.name,
        "asker": asker["asker"],
        "asker_name": asker["asker_name"],
        "proved_orders": sorted(asker["proved_orders"]),
        "desk_open": not opens,
        "desk_opens": opens,
        "intents": list(intents),
    }
