from __future__ import annotations

import json
from datetime import timedelta

import pytest
from django.contrib.auth.models import AnonymousUser, User

from approvals.errors import ReasonMissing, SwitchForbidden, UnknownSwitch
from approvals.models import AuditEntry
from approvals.services import is_off, known_switches, set_switch
from dsupport.models import Membership, Switch
from tests.approvals.conftest import NOW
from tests.conftest import make_tenant


def staff(name: str, tenant=None, role: str = "", **fields) -> User:
    user = User.objects.create_user(name, is_staff=True, **fields)
    if tenant is not None:
        Membership.objects.create(user=user, tenant=tenant, role=role)
    return user


def flip(user, name="actions", *, off=True, tenant=None, reason="Flood of refunds", now=NOW):
    return set_switch(name=name, off=off, tenant=tenant, by=user, reason=reason, now=now)


def test_switch_off_and_on_again(tenant):
    ann = staff("ann", tenant, "operator")
    assert not is_off("actions", tenant.pk)
    flip(ann, tenant=tenant)
    assert is_off("actions", tenant.pk)
    flip(ann, off=False, tenant=tenant, reason="Over", now=NOW + timedelta(hours=1))
    assert not is_off("actions", tenant.pk)
    row = Switch.objects.get()
    assert (row.changed_by, row.reason, row.off) == ("ann", "Over", False)


def test_switch_change_is_audited_in_the_shops_chain(tenant):
    flip(staff("ann", tenant, "admin"), "model", tenant=tenant)
    entry = AuditEntry.objects.get()
    assert (entry.tenant_id, entry.kind, entry.actor) == (tenant.pk, "switch.off", "staff:ann")
    assert entry.subject == "switch:model"
    assert json.loads(entry.detail) == {"reason": "Flood of refunds", "whole_system": False}


def test_switch_of_the_system_reaches_every_shop(tenant):
    other = make_tenant("other")
    flip(staff("root", is_superuser=True))
    assert is_off("actions", tenant.pk)
    assert is_off("actions", other.pk)
    assert is_off("actions", None)
    assert AuditEntry.objects.get().tenant_id is None


def test_switch_of_a_shop_reaches_no_other(tenant):
    flip(staff("ann", tenant, "operator"), tenant=tenant)
    assert not is_off("actions", make_tenant("other").pk)
    assert not is_off("actions", None)
    assert not is_off("model", tenant.pk)


def test_switch_on_in_a_shop_does_not_undo_the_systems(tenant):
    root = staff("root", is_superuser=True)
    flip(root)
    flip(root, off=False, tenant=tenant)
    assert is_off("actions", tenant.pk)


@pytest.mark.parametrize(
    ("role", "off", "allowed"),
    [("approver", True, True), ("approver", False, False), ("editor", True, False)],
)
def test_switch_role_decides(tenant, role, off, allowed):
    ann = staff("ann", tenant, role)
    if allowed:
        assert flip(ann, off=off, tenant=tenant).off is off
        return
    with pytest.raises(SwitchForbidden):
        flip(ann, off=off, tenant=tenant)
    assert not Switch.objects.exists()
    assert not AuditEntry.objects.exists()


@pytest.mark.parametrize("who", ["stranger", "not staff", "inactive", "elsewhere", "nobody"])
def test_switch_without_a_role_here_is_refused(tenant, who):
    people = {
        "stranger": lambda: staff("ann"),
        "not staff": lambda: User.objects.create_user("ann", is_superuser=True),
        "inactive": lambda: staff("ann", is_superuser=True, is_active=False),
        "elsewhere": lambda: staff("ann", make_tenant("other"), "admin"),
        "nobody": AnonymousUser,
    }
    with pytest.raises(SwitchForbidden):
        flip(people[who](), tenant=tenant)


@pytest.mark.parametrize("reason", ["", "   ", "x" * 501])
def test_switch_reason_is_required(tenant, reason):
    with pytest.raises(ReasonMissing):
        flip(staff("ann", tenant, "admin"), tenant=tenant, reason=reason)


@pytest.mark.parametrize("name", ["everything", "action:gifts.none", "", "tool:"])
def test_switch_unknown_name_is_refused(tenant, desk, name):
    with pytest.raises(UnknownSwitch, match="model, actions"):
        flip(staff("ann", tenant, "admin"), name, tenant=tenant)


@pytest.mark.parametrize("name", ["model", "actions", "action:gifts.low", "tool:search_kb"])
def test_switch_known_name_works(tenant, desk, name):
    flip(staff("ann", tenant, "admin"), name, tenant=tenant)
    assert is_off(name, tenant.pk)


def test_switch_what_always_works_has_none(tenant, desk):
    assert "action:gifts.always" not in known_switches()
    assert "action:tickets.escalate" not in known_switches()
    with pytest.raises(UnknownSwitch):
        flip(staff("ann", tenant, "admin"), "action:gifts.always", tenant=tenant)
