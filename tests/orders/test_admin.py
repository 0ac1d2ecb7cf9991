from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from dsupport.models import Membership, Tenant
from orders.models import Customer, Order

LISTS = ("order", "customer", "product")


def browser(tenant: Tenant | None = None, role: str = "operator", **fields: Any) -> Client:
    user = get_user_model().objects.create(username=f"{role}{tenant}", is_staff=True, **fields)
    if tenant is not None:
        Membership.objects.create(tenant=tenant, user=user, role=role)
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def filled(shop: Any, other_shop: Any) -> Any:
    """A shop with one of everything, and a canary in another shop."""
    customer = shop.customer(first_name="<b>Ada</b>", password="pbkdf2$canary-hash")
    customer.methods.create(external_id="g1", kind="gift_card", balance_minor=500, currency="EUR")
    order = shop.order(customer, "1042", metadata={"note": "<script>alert(1)</script>"})
    item = shop.item(order)
    shop.parcel(order).contents.create(item=item)
    shop.payment(order)
    shop.product("Kettle", {"KET-1": ({"colour": "red"}, {"EUR": 4990})})
    other_shop.order(other_shop.customer("zebra77@example.com"), "ZEBRA77")
    other_shop.product("ZEBRA77")
    shop.made = {"order": order.pk, "customer": customer.pk}
    return shop


def page(client: Client, model: str, rest: str = "") -> Any:
    return client.get(f"/admin/orders/{model}/{rest}")


@pytest.mark.parametrize("model", LISTS)
def test_list_shows_the_own_shop_alone(filled: Any, model: str) -> None:
    response = page(browser(filled.tenant), model)
    assert response.status_code == 200
    text = response.content.decode()
    assert "zebra77" not in text.casefold()
    searched = page(browser(filled.tenant, "auditor"), model, "?q=zebra77").content.decode()
    assert "zebra77@example.com" not in searched.casefold()


@pytest.mark.parametrize("model", LISTS)
def test_superuser_sees_every_shop(filled: Any, model: str) -> None:
    client = browser(None, "root", is_superuser=True)
    assert "zebra77" in page(client, model).content.decode().casefold()


def test_page_of_another_shop_is_not_there(filled: Any, other_shop: Any) -> None:
    foreign = Order.objects.for_tenant(other_shop.tenant.pk).get()
    response = page(browser(filled.tenant), "order", f"{foreign.pk}/change/")
    assert response.status_code == 302  # the admin's way to say: no such row
    assert response.headers["Location"] == "/admin/"


def test_editor_and_stranger_see_no_customer_data(filled: Any) -> None:
    editor, stranger = browser(filled.tenant, "editor"), browser(None, "nobody")
    for client in (editor, stranger):
        assert page(client, "order").status_code == 403
        assert page(client, "customer", f"{filled.made['customer']}/change/").status_code == 403
    assert page(editor, "product").status_code == 200
    assert page(stranger, "product").status_code == 403


def test_order_page_tells_everything_and_runs_nothing(filled: Any) -> None:
    response = page(browser(filled.tenant), "order", f"{filled.made['order']}/change/")
    text = response.content.decode()
    assert response.status_code == 200
    for fact in ("1042", "€49.90", "€99.80", "Swift", "1 × Kettle", "Visa ending 4242"):
        assert fact in text
    assert "<script>alert(1)" not in text
    assert "&lt;script&gt;alert(1)" in text
    assert f"/admin/orders/customer/{filled.made['customer']}/change/" in text


def test_customer_page_links_to_the_orders_and_hides_the_hash(filled: Any) -> None:
    client = browser(filled.tenant)
    text = page(client, "customer", f"{filled.made['customer']}/change/").content.decode()
    assert f"/admin/orders/order/{filled.made['order']}/change/" in text
    assert "€5.00" in text
    assert "canary-hash" not in text
    assert "<b>Ada</b>" not in text
    listed = page(client, "customer").content.decode()
    link = f"?customer__id__exact={filled.made['customer']}"
    assert link in listed
    assert "1042" in page(client, "order", link).content.decode()


@pytest.mark.parametrize("model", LISTS)
def test_nobody_can_write(filled: Any, model: str) -> None:
    client = browser(None, "root", is_superuser=True)
    assert client.get(f"/admin/orders/{model}/add/").status_code == 403
    assert client.post(f"/admin/orders/{model}/add/", {}).status_code == 403
    pk = filled.made.get(model, 1)
    assert client.post(f"/admin/orders/{model}/{pk}/delete/", {"post": "yes"}).status_code == 403
    before = str(Customer.objects.values_list().order_by("pk")[:])
    response = client.post(f"/admin/orders/{model}/{pk}/change/", {"email": "x@example.com"})
    assert response.status_code == 403
    assert str(Customer.objects.values_list().order_by("pk")[:]) == before


@pytest.mark.parametrize("model", LISTS)
def test_list_takes_the_same_queries_for_many_rows(filled: Any, model: str) -> None:
    client = browser(filled.tenant)

    def count() -> int:
        with CaptureQueriesContext(connection) as statements:
            assert page(client, model).status_code == 200
        return len(statements)

    few = count()
    for number in range(10):
        customer = filled.customer(f"c{number}@example.com")
        filled.item(filled.order(customer))
        filled.product(f"Lamp {number}", {f"L-{number}": ({}, {"EUR": 100})})
    assert count() <= few
    assert few <= 12


def test_order_page_takes_few_queries_for_many_lines(filled: Any) -> None:
    client = browser(filled.tenant)
    order = Order.objects.get(pk=filled.made["order"])

    def count() -> int:
        with CaptureQueriesContext(connection) as statements:
            page(client, "order", f"{order.pk}/change/")
        return len(statements)

    few = count()
    for _ in range(8):
        item = filled.item(order)
        filled.parcel(order).contents.create(item=item)
        filled.payment(order)
    assert count() <= few
