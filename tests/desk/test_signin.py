"""The door of the console: who comes in is recorded, and guessing has an end."""

from __future__ import annotations

import json

import pytest
from django.contrib.auth.models import User
from django.test import Client

from approvals.models import AuditEntry
from dsupport.lib import clock
from orders.attempts import ATTEMPTS_AN_HOUR
from tests.conftest import NOW


@pytest.fixture(autouse=True)
def mira(db):
    with clock.frozen(NOW):
        yield User.objects.create_user("mira", password="right horse", is_staff=True)


def enter(password: str, *, name: str = "mira", address: str = "192.0.2.1"):
    form = {"username": name, "password": password}
    return Client().post("/admin/login/?next=/admin/", form, REMOTE_ADDR=address)


def kinds() -> list[str]:
    return list(AuditEntry.objects.order_by("id").values_list("kind", flat=True))


def test_staff_who_come_in_stand_in_the_audit():
    assert enter("right horse").status_code == 302
    entry = AuditEntry.objects.get()
    assert (entry.kind, entry.actor, entry.tenant_id) == ("staff.signed_in", "staff:mira", None)


@pytest.mark.parametrize("name", ["mira", "nobody"])
def test_refused_guess_stands_in_the_audit_without_the_password(name):
    page = enter("wrong horse", name=name)
    assert page.status_code == 200
    assert "Please enter the correct username and password" in page.content.decode()
    entry = AuditEntry.objects.get()
    assert (entry.kind, entry.actor, entry.subject) == ("staff.refused", "visitor", f"staff:{name}")
    assert json.loads(entry.detail) == {}


def test_account_without_access_to_the_console_is_refused():
    User.objects.create_user("cook", password="right horse")
    assert enter("right horse", name="cook").status_code == 200
    assert kinds() == ["staff.refused"]


def test_guessing_from_one_network_ends_and_from_another_goes_on():
    for number in range(ATTEMPTS_AN_HOUR):
        enter(f"wrong {number}")
    blocked = enter("right horse")
    assert blocked.status_code == 200
    assert "Too many attempts" in blocked.content.decode()
    assert len(kinds()) == ATTEMPTS_AN_HOUR
    # Nobody locks mira out by guessing on purpose.
    assert enter("right horse", address="198.51.100.7").status_code == 302


def test_right_passwords_are_no_guesses():
    for _ in range(ATTEMPTS_AN_HOUR + 1):
        assert enter("right horse").status_code == 302
