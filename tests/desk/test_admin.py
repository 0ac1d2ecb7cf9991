"""Shops, staff, switches and keys in the console, over HTTP."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client, RequestFactory

from approvals.models import AuditEntry
from approvals.services import is_off
from dsupport.access import find_key
from dsupport.contract.errors import Forbidden
from dsupport.models import ApiKey, Membership, Switch
from tests.conftest import make_tenant


def signed_in(tenant=None, role: str = "", *, csrf: bool = False, **fields) -> Client:
    user = User.objects.create_user("ann", is_staff=True, **fields)
    if tenant is not None:
        Membership.objects.create(user=user, tenant=tenant, role=role)
    client = Client(enforce_csrf_checks=csrf)
    client.force_login(user)
    return client


def wish(tenant=None, **fields) -> dict:
    shop = "" if tenant is None else tenant.pk
    return {"name": "actions", "tenant": shop, "off": "on", "reason": "Flood", **fields}


# --- switches -------------------------------------------------------------------------------


def test_switch_form_goes_through_the_service(tenant):
    client = signed_in(tenant, "operator")
    assert client.get("/admin/dsupport/switch/add/").status_code == 200
    answer = client.post("/admin/dsupport/switch/add/", wish(tenant))
    assert answer.status_code == 302
    row = Switch.objects.get()
    assert (row.name, row.off, row.changed_by, row.tenant) == ("actions", True, "ann", tenant)
    assert is_off("actions", tenant.pk)
    assert AuditEntry.objects.get().kind == "switch.off"
    page = client.get("/admin/dsupport/switch/").content.decode()
    assert "Flood" in page


def test_switch_form_turns_on_again_with_a_reason_of_its_own(tenant):
    client = signed_in(tenant, "operator")
    client.post("/admin/dsupport/switch/add/", wish(tenant))
    address = f"/admin/dsupport/switch/{Switch.objects.get().pk}/change/"
    assert client.get(address).status_code == 200
    assert client.post(address, {"reason": "Over"}).status_code == 302
    assert not is_off("actions", tenant.pk)
    assert Switch.objects.get().reason == "Over"
    assert AuditEntry.objects.latest("id").kind == "switch.on"


def test_switch_form_for_a_name_that_is_set_sets_it_anew(tenant):
    client = signed_in(tenant, "operator")
    for reason in ("One", "Two"):
        client.post("/admin/dsupport/switch/add/", wish(tenant, reason=reason))
    assert [row.reason for row in Switch.objects.all()] == ["Two"]


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"name": "lights"}, "There is no switch"),
        ({"reason": ""}, "This field is required"),
    ],
)
def test_switch_form_wrong_input_says_what_to_do(tenant, fields, says):
    client = signed_in(tenant, "operator")
    page = client.post("/admin/dsupport/switch/add/", wish(tenant, **fields), follow=True)
    assert says in page.content.decode()
    assert not Switch.objects.exists()


def test_switch_form_without_the_role_is_refused_by_the_service(tenant):
    client = signed_in(tenant, "editor")
    page = client.post("/admin/dsupport/switch/add/", wish(tenant), follow=True)
    assert "You may not do this" in page.content.decode()
    assert not Switch.objects.exists()


def test_switch_form_offers_and_takes_own_shops_alone(tenant):
    other = make_tenant("other")
    client = signed_in(tenant, "operator")
    assert "Other" not in client.get("/admin/dsupport/switch/add/").content.decode()
    client.post("/admin/dsupport/switch/add/", wish(other))
    assert not Switch.objects.exists()


def test_switch_form_without_csrf_token_is_refused(tenant):
    client = signed_in(tenant, "operator", csrf=True)
    assert client.post("/admin/dsupport/switch/add/", wish(tenant)).status_code == 403
    assert not Switch.objects.exists()


def test_switch_pages_without_membership_are_refused(tenant):
    client = signed_in()
    assert client.get("/admin/dsupport/switch/").status_code == 403
    assert client.post("/admin/dsupport/switch/add/", wish(tenant)).status_code == 403


# --- keys -----------------------------------------------------------------------------------


def test_key_is_shown_once_and_opens_the_door(tenant):
    client = signed_in(tenant, "admin")
    issue = {"name": "Web shop", "tenant": tenant.pk}
    page = client.post("/admin/dsupport/apikey/add/", issue, follow=True).content.decode()
    secret = re.search(r"dsk_[\w-]{40,}", page)
    assert secret is not None
    assert "dsk_" not in client.get("/admin/dsupport/apikey/").content.decode()
    key = ApiKey.objects.get()
    assert (key.created_by, key.hint) == ("ann", secret.group()[-4:])
    assert secret.group() not in str(ApiKey.objects.values().get())
    request = RequestFactory().get("/", HTTP_AUTHORIZATION=f"Bearer {secret.group()}")
    assert find_key(request) == key
    entry = AuditEntry.objects.get()
    assert (entry.kind, entry.subject) == ("key.issued", f"key:{key.pk}")
    assert secret.group() not in entry.detail


def test_key_revoked_closes_the_door(tenant):
    client = signed_in(tenant, "admin")
    page = client.post(
        "/admin/dsupport/apikey/add/", {"name": "Shop", "tenant": tenant.pk}, follow=True
    ).content.decode()
    secret = re.search(r"dsk_[\w-]{40,}", page)
    assert secret is not None
    chosen = {"action": "revoke", "_selected_action": [ApiKey.objects.get().pk]}
    answer = client.post("/admin/dsupport/apikey/", chosen, follow=True)
    assert "is revoked" in answer.content.decode()
    with pytest.raises(Forbidden):
        find_key(RequestFactory().get("/", HTTP_AUTHORIZATION=f"Bearer {secret.group()}"))
    assert AuditEntry.objects.latest("id").kind == "key.revoked"
    again = client.post("/admin/dsupport/apikey/", chosen, follow=True)
    assert "revoked already" in again.content.decode()


@pytest.mark.parametrize(("role", "may_look"), [("auditor", True), ("operator", False)])
def test_key_is_issued_by_administrators_alone(tenant, role, may_look):
    client = signed_in(tenant, role)
    assert client.get("/admin/dsupport/apikey/").status_code == (200 if may_look else 403)
    issue = {"name": "Mine", "tenant": tenant.pk}
    assert client.post("/admin/dsupport/apikey/add/", issue).status_code == 403
    assert not ApiKey.objects.exists()


def test_key_for_another_shop_is_refused(tenant):
    other = make_tenant("other")
    client = signed_in(tenant, "admin")
    client.post("/admin/dsupport/apikey/add/", {"name": "Mine", "tenant": other.pk})
    assert not ApiKey.objects.exists()


def test_key_revoking_as_auditor_changes_nothing(tenant):
    key = ApiKey.objects.create(
        tenant=tenant, name="Shop", digest="0" * 64, hint="abcd", created_by="x",
        created_at="2026-10-15T09:00:00Z",
    )  # fmt: skip
    client = signed_in(tenant, "auditor")
    chosen = {"action": "revoke", "_selected_action": [key.pk]}
    page = client.post("/admin/dsupport/apikey/", chosen, follow=True)
    assert "Only an administrator" in page.content.decode()
    assert ApiKey.objects.get().revoked_at is None


# --- shops, staff, accounts -----------------------------------------------------------------


@pytest.mark.parametrize("path", ["tenant", "membership"])
def test_shops_and_staff_are_shown_for_own_shops_alone(tenant, path):
    other = make_tenant("other", name="Secret brand")
    bob = User.objects.create_user("bob-elsewhere", is_staff=True)
    Membership.objects.create(user=bob, tenant=other, role="admin")
    client = signed_in(tenant, "operator")
    page = client.get(f"/admin/dsupport/{path}/")
    assert page.status_code == 200
    assert "Secret brand" not in page.content.decode()
    assert "bob-elsewhere" not in page.content.decode()
    assert client.get(f"/admin/dsupport/{path}/add/").status_code == 403


def test_shop_page_shows_hours_and_never_the_secret(tenant):
    type(tenant).objects.update(token_secret="very-secret-value")
    page = signed_in(tenant, "operator").get(f"/admin/dsupport/tenant/{tenant.pk}/change/")
    assert "09:00" in page.content.decode()
    assert "very-secret-value" not in page.content.decode()


def test_accounts_are_for_superusers_and_audited(tenant):
    assert signed_in(tenant, "admin").get("/admin/auth/user/").status_code == 403
    root = Client()
    root.force_login(User.objects.create_user("root", is_staff=True, is_superuser=True))
    new = {
        "username": "carla",
        "password1": "a-long-pass-phrase-7",
        "password2": "a-long-pass-phrase-7",
        "usable_password": "true",
    }
    assert root.post("/admin/auth/user/add/", new).status_code == 302
    carla = User.objects.get(username="carla")
    entry = AuditEntry.objects.get()
    assert (entry.tenant_id, entry.kind, entry.actor) == (None, "staff.added", "staff:root")
    assert root.get(f"/admin/auth/user/{carla.pk}/change/").status_code == 200
    assert root.get(f"/admin/auth/user/{carla.pk}/delete/").status_code == 403
    assert root.get("/admin/auth/user/").status_code == 200


def test_groups_are_not_in_the_console(db):
    from django.contrib import admin

    assert not admin.site.is_registered(Group)


def test_console_is_closed_to_visitors_and_customers(tenant):
    client = Client()
    assert client.get("/admin/dsupport/switch/").status_code == 302
    client.force_login(User.objects.create_user("customer"))
    assert client.get("/admin/dsupport/switch/").status_code == 302
