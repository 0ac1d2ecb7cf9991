from __future__ import annotations

import re

from django.contrib.auth import authenticate, get_user_model
from django.contrib.auth.hashers import check_password

from dsupport.demo import logins
from dsupport.demo.source import read_shop
from dsupport.models import Membership, Tenant
from orders.models import Customer
from tests.conftest import make_tenant


def test_staff_passwords_open_the_admin_and_change_each_time(demo_db):
    tenant = Tenant.objects.get()
    first = logins.renew_staff_passwords(tenant)
    second = logins.renew_staff_passwords(tenant)
    assert [one.username for one in first] == [member.username for member in read_shop().staff]
    assert len({one.password for one in [*first, *second]}) == 2 * len(first)
    for old, new in zip(first, second, strict=True):
        assert authenticate(username=old.username, password=old.password) is None
        assert authenticate(username=new.username, password=new.password) is not None
    assert {one.username: one.role for one in first}["aoife"] == "Senior approver"


def test_staff_passwords_give_a_seat_in_another_demo_shop(demo_db):
    other = make_tenant("tau2")
    logins.renew_staff_passwords(other)
    logins.renew_staff_passwords(other)
    seats = Membership.objects.filter(tenant=other)
    assert seats.count() == len(read_shop().staff)
    assert seats.get(user__username="kenji").role == "auditor"


def test_staff_passwords_leave_somebody_of_the_same_name_alone(demo_db):
    user = get_user_model().objects.get(username="jonas")
    user.email = "jonas@else.example"
    user.set_password("their own")
    user.save()
    given = logins.renew_staff_passwords(Tenant.objects.get())
    user.refresh_from_db()
    assert user.check_password("their own")
    assert "jonas" not in [one.username for one in given]


def test_customer_password_is_one_for_the_shop_and_for_no_other(demo_db):
    tenant, other = Tenant.objects.get(), make_tenant("other")
    stranger = Customer.objects.create(
        tenant=other, external_id="1", email="a@example.com", currency="EUR"
    )
    old = logins.renew_customer_password(tenant)
    new = logins.renew_customer_password(tenant)
    stored = set(Customer.objects.for_tenant(tenant.pk).values_list("password", flat=True))
    assert len(stored) == 1
    assert check_password(new, stored.pop())
    assert not check_password(old, Customer.objects.for_tenant(tenant.pk).first().password)
    stranger.refresh_from_db()
    assert stranger.password == ""


def test_password_is_typed_without_mistake():
    made = {logins.make_password() for _ in range(200)}
    assert len(made) == 200
    assert all(re.fullmatch(r"([a-hjkmnp-z2-9]{4}-){2}[a-hjkmnp-z2-9]{4}", one) for one in made)


def test_hints_are_the_stories_of_the_demo_shop(demo_db):
    found = logins.hints(Tenant.objects.get())
    assert len(found) == 3
    assert found[0] == logins.CustomerHint("fleur.hendriks@example.com", "Where is my order 1042?")


def test_hints_in_another_shop_are_whoever_has_orders(demo_db):
    other = make_tenant("other")
    buyer, _ = (
        Customer.objects.create(
            tenant=other, external_id=name, email=f"{name}@example.com", currency="EUR"
        )
        for name in ("buyer", "visitor")
    )
    buyer.orders.create(
        tenant=other, number="#W7", number_key="w7", email=buyer.email, status="pending",
        currency="EUR", total_minor=1,
    )  # fmt: skip
    assert logins.hints(other) == [
        logins.CustomerHint("buyer@example.com", "Where is my order #W7?")
    ]
