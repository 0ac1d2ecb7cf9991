from __future__ import annotations

from collections import Counter
from datetime import date

import pytest
from django.contrib.auth import get_user_model
from django.db.models import Sum

from dsupport.demo import seed
from dsupport.demo.source import ARTICLES, read_shop
from dsupport.lib import clock
from dsupport.models import Membership, Tenant
from knowledge.models import Article, Calibration, Chunk
from orders.models import Customer, Order, OrderItem, Payment, Product, Shipment, VariantPrice
from orders.rules import OrderStatus
from tests.databases import SEEDED_AT
from tests.demo.shop import by_number, orders_at
from tickets.models import Queue


def counts() -> Counter[str]:
    models = (Tenant, Customer, Product, Order, OrderItem, Shipment, Payment, Article, Chunk, Queue)
    return Counter({model.__name__: model.objects.count() for model in models})


def test_seed_fills_the_shop(demo_db):
    tenant = Tenant.objects.get()
    assert (tenant.slug, tenant.return_window_days) == ("demo", 30)
    assert len(tenant.token_secret) >= 48
    found = counts()
    assert found["Customer"] == 60
    assert found["Order"] == 250
    assert found["Product"] == len(read_shop().products) >= 40
    assert found["Article"] == len(list(ARTICLES.glob("*.md"))) >= 40
    assert found["Chunk"] > found["Article"]
    assert Calibration.objects.filter(tenant=tenant).exists()
    assert set(Queue.objects.values_list("slug", flat=True)) == set(seed._QUEUES)


def test_seed_stores_what_the_generator_made(demo_db):
    facts = by_number(orders_at(SEEDED_AT))
    stored = Order.objects.for_tenant(Tenant.objects.get().pk).select_related("customer")
    assert stored.count() == len(facts)
    for order in stored:
        made = facts[order.number]
        assert (order.status, order.total_minor, order.currency) == (
            made.status,
            made.total.minor,
            made.currency,
        )
        assert order.placed_at == made.placed_at
        assert order.email == order.customer.email == made.email
    assert OrderItem.objects.count() == sum(len(order.lines) for order in facts.values())
    assert Shipment.objects.count() == sum(len(order.parcels) for order in facts.values())
    assert Payment.objects.count() == sum(len(order.payments) for order in facts.values())
    total = Payment.objects.aggregate(total=Sum("amount_minor"))["total"]
    assert total == sum(p.amount.minor for order in facts.values() for p in order.payments)


def test_seed_order_1042_was_promised_ten_days_before(demo_db):
    order = Order.objects.get(number="1042")
    parcel = order.shipments.get()
    assert order.status == OrderStatus.SHIPPED
    assert parcel.promised_on == date(2026, 10, 5)
    assert parcel.delivered_at is None
    assert sum(part.quantity for part in parcel.contents.all()) == 3


def test_seed_describes_products_and_prices_them_in_three_currencies(demo_db):
    jacket = Product.objects.get(external_id="HL-JACK-01")
    assert jacket.name == "Squall Rain Jacket"
    assert jacket.description
    assert jacket.category == "Clothing"
    prices = VariantPrice.objects.filter(variant__sku="HL-JACK-01-PIN-S")
    assert dict(prices.values_list("currency", "amount_minor")) == {
        "USD": 22900,
        "EUR": 20900,
        "JPY": 29500,
    }


def test_seed_staff_have_seats_and_no_password(demo_db):
    users = get_user_model().objects.all()
    assert {user.username for user in users} == {member.username for member in read_shop().staff}
    assert [user.username for user in users if user.is_superuser] == ["mira"]
    assert all(user.is_staff and not user.has_usable_password() for user in users)
    roles = dict(Membership.objects.values_list("user__username", "role"))
    assert roles == {member.username: member.role for member in read_shop().staff}
    assert not Customer.objects.exclude(password="").exists()


def test_seed_again_changes_nothing(demo_db):
    before = counts()
    with clock.frozen(SEEDED_AT):
        seed.seed_demo()
    assert counts() == before


def test_seed_leaves_a_shop_of_ones_own_alone(committed_db):
    Tenant.objects.create(slug="mine", name="Mine")
    seed.seed_demo()
    assert +counts() == {"Tenant": 1}


def test_seed_that_fails_leaves_nothing_behind(committed_db, monkeypatch):
    def fail(_tenant, _shop):
        raise RuntimeError("the power went")

    monkeypatch.setattr(seed, "_describe_products", fail)
    with pytest.raises(RuntimeError, match="power"):
        seed.seed_demo()
    assert counts().total() == 0
    assert not get_user_model().objects.exists()


def test_seed_interrupted_in_the_articles_goes_on_there(committed_db, monkeypatch):
    done = []

    def import_two(*, on_progress, **_arguments):
        done.append(1)
        raise KeyboardInterrupt

    monkeypatch.setattr(seed, "import_articles", import_two)
    with pytest.raises(KeyboardInterrupt):
        seed.seed_demo()
    assert counts()["Order"] == 250
    with pytest.raises(KeyboardInterrupt):
        seed.seed_demo()
    assert len(done) == 2
    assert counts()["Order"] == 250


def test_seed_keeps_the_account_of_somebody_with_the_same_name(committed_db, monkeypatch):
    monkeypatch.setattr(seed, "import_articles", lambda **_arguments: {"refused": []})
    user = get_user_model().objects.create_user("jonas", "someone@else.example", "their own")
    seed.seed_demo()
    user.refresh_from_db()
    assert user.check_password("their own")
    assert not user.is_staff


def test_seed_refused_article_is_a_bug_that_shows(committed_db, monkeypatch):
    refused = {"refused": [{"row": "returns.md", "reason": "it has no title"}]}
    monkeypatch.setattr(seed, "import_articles", lambda **_arguments: refused)
    with pytest.raises(seed.BrokenDemoShop, match=r"returns\.md: it has no title"):
        seed.seed_demo()
