"""The switches that stop things, read on every step and never remembered."""

from __future__ import annotations

import logging
from collections.abc import Collection
from contextlib import nullcontext
from datetime import datetime
from typing import Any

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import DatabaseError, InterfaceError, connection, transaction

from approvals import rules
from approvals.errors import (
    ReasonMissing,
    SwitchedOff,
    SwitchesUnreadable,
    SwitchForbidden,
    UnknownSwitch,
)
from approvals.models import AuditEntry
from approvals.registry import all_actions
from approvals.services.audit import record
from dsupport.models import Membership, Switch, Tenant

log = logging.getLogger(__name__)

_MAX_REASON = 500


def is_off(name: str, tenant_id: int | None) -> bool:
    """Tell whether a switch is off for a shop, by its own or by the whole system's.

    A switch that cannot be read counts as off, save a tool's: reading help stays up, and a tool
    that writes is stopped by the gate, which cannot read its switches either.
    """
    try:
        return bool(_names_off([name], tenant_id))
    except (DatabaseError, InterfaceError):
        log.exception("The switch %s cannot be read", name)
        return rules.stands_off_unread(name)


def check_action_on(action: str, tenant_id: int) -> None:
    """Raise when an action is switched off, alone or with all others, or cannot be known."""
    names = [rules.ACTIONS_SWITCH, rules.action_switch(action)]
    try:
        off = _names_off(names, tenant_id)
    except (DatabaseError, InterfaceError) as error:
        log.exception("The switches cannot be read, so writes are off")
        raise SwitchesUnreadable(
            "Nothing can be changed at the moment. Hand over to a person."
        ) from error
    if off:
        raise SwitchedOff("This is switched off at the moment. Hand over to a person.")


def known_switches() -> list[str]:
    """Return the switches that can be listed; those of tools are named `tool:<name>`."""
    actions = [rules.action_switch(action.name) for action in all_actions() if not action.always_on]
    return [rules.MODEL_SWITCH, rules.ACTIONS_SWITCH, *actions]


def set_switch(
    *,
    name: str,
    off: bool,
    tenant: Tenant | None,
    by: AbstractBaseUser | AnonymousUser,
    reason: str,
    now: datetime,
) -> Switch:
    """Turn something off or on again for a shop, or for the whole system when `tenant` is None."""
    reason = reason.strip()
    _check_name(name)
    if not reason or len(reason) > _MAX_REASON:
        raise ReasonMissing(f"Give a reason, of at most {_MAX_REASON} characters.")
    actor = by.get_username()
    with transaction.atomic():
        _check_may_switch(by, tenant, off=off)
        switch, _ = Switch.objects.update_or_create(
            tenant=tenant,
            name=name,
            defaults={"off": off, "changed_by": actor, "changed_at": now, "reason": reason},
        )
        _record_change(switch, actor, now)
    return switch


def _record_change(switch: Switch, actor: str, now: datetime) -> AuditEntry:
    return record(
        tenant_id=switch.tenant_id,
        kind="switch.off" if switch.off else "switch.on",
        actor=f"staff:{actor}",
        subject=f"switch:{switch.name}",
        detail={"reason": switch.reason, "whole_system": switch.tenant_id is None},
        now=now,
    )


def _names_off(names: Collection[str], tenant_id: int | None) -> list[str]:
    # A savepoint where there is a transaction, so that a failed read leaves it usable.
    with transaction.atomic() if connection.in_atomic_block else nullcontext():
        rows = Switch.objects.in_reach(tenant_id).filter(name__in=names, off=True)
        return list(rows.values_list("name", flat=True))


def _check_name(name: str) -> None:
    known = known_switches()
    if not rules.is_switch_name(name) or (name.startswith("action:") and name not in known):
        raise UnknownSwitch(
            f"There is no switch {name!r}. There are: {', '.join(known)} and tool:NAME."
        )


def _check_may_switch(
    by: AbstractBaseUser | AnonymousUser, tenant: Tenant | None, *, off: bool
) -> None:
    user: Any = by
    roles: set[str] = set()
    if user.is_authenticated and user.is_active and user.is_staff:
        held = Membership.objects.filter(user_id=user.pk)
        if tenant is not None:
            held = held.filter(tenant=tenant)
        roles = set(held.values_list("role", flat=True))
        if rules.may_switch(off=off, roles=roles, is_superuser=user.is_superuser):
            return
    raise SwitchForbidden(
        "You may not do this. Whoever is on duty may stop things; "
        "an administrator or operator starts them again."
    )
