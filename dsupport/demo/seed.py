"""Filling an empty desk with the demo shop."""

from __future__ import annotations

import secrets

from django.contrib.auth import get_user_model
from django.db import connection, transaction
from rich.console import Console
from rich.progress import Progress

from dsupport.demo.generator import make_orders, make_wallets
from dsupport.demo.rows import shop_rows
from dsupport.demo.source import ARTICLES, Shop, StaffMember, read_shop
from dsupport.lib import clock
from dsupport.models import Membership, Tenant
from knowledge.models import Calibration
from knowledge.services import import_articles
from orders.adapters.simulated import tracking_code
from orders.importers.rows import ShopRows
from orders.importers.store import Progress as Advance
from orders.importers.store import store_shop
from orders.models import Product
from tickets.models import Queue

_LOCK = 0x5EED  # names the advisory lock of seeding among those of this database
_SUPERUSER = "mira"
_QUEUES = {
    "returns": "Returns",
    "delivery": "Delivery",
    "payments": "Payments",
    "support": "General",
}


class BrokenDemoShop(Exception):
    """The files of the demo shop do not fit the desk: a bug in what ships."""


def seed_demo(*, progress: bool = False) -> None:
    """Fill an empty desk with the demo shop, and add help articles that it lacks.

    Dates are relative to today by the desk's clock. The shop is there whole or not at all; an
    interrupted import of articles goes on where it stopped. Staff and customers cannot sign in
    with a password until a start of the demo gives them one.
    """
    with Progress(console=Console(stderr=True), disable=not progress, transient=True) as bar:
        _seed_shop(bar)
        _seed_articles(bar)


def make_token_secret() -> str:
    """Return a secret with which a shop's own site signs its customers' tokens."""
    return secrets.token_urlsafe(48)


def _seed_shop(bar: Progress) -> None:
    with transaction.atomic():
        if _is_filled():
            return
        shop = read_shop()
        orders = make_orders(shop, now=clock.now(), code_for=tracking_code)
        rows = shop_rows(shop, make_wallets(shop), orders)
        total = len(rows.products) + len(rows.customers) + len(rows.orders)
        task = bar.add_task("Loading the demo shop", total=total)
        _fill(shop, rows, lambda done: bar.advance(task, done))


def _seed_articles(bar: Progress) -> None:
    """Publish the articles; a transaction each, as the embedder may be a service elsewhere."""
    tenant = find_demo_tenant()
    if tenant is None or _has_articles(tenant):
        return
    task = bar.add_task("Reading its help articles", total=None)
    report = import_articles(
        tenant_id=tenant.pk,
        path=ARTICLES,
        actor="demo",
        now=clock.now(),
        on_progress=lambda done, total: bar.update(task, completed=done, total=total),
    )
    if report["refused"]:
        raise BrokenDemoShop(f"{report['refused'][0]['row']}: {report['refused'][0]['reason']}")


def find_demo_tenant() -> Tenant | None:
    """Return the demo shop of this desk, if it has one."""
    return Tenant.objects.filter(slug=read_shop().settings["slug"]).first()


def _has_articles(tenant: Tenant) -> bool:
    """Tell whether every article came in; the import ends with measuring the cut-off."""
    return Calibration.objects.filter(tenant=tenant).exists()


def _is_filled() -> bool:
    """Tell whether another command was quicker; it holds the lock until it has committed."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
    return Tenant.objects.exists()


def _fill(shop: Shop, rows: ShopRows, advance: Advance) -> None:
    tenant = Tenant.objects.create(**shop.settings, token_secret=make_token_secret())
    for member in shop.staff:
        _employ(member, tenant)
    Queue.objects.bulk_create(
        [Queue(tenant=tenant, slug=slug, name=name) for slug, name in _QUEUES.items()]
    )
    report = store_shop(tenant=tenant, rows=rows, progress=advance)
    if report.refused:
        raise BrokenDemoShop(f"{report.refused[0].row}: {report.refused[0].reason}")
    _describe_products(tenant, shop)


def _employ(member: StaffMember, tenant: Tenant) -> None:
    user, made = get_user_model().objects.get_or_create(
        username=member.username,
        defaults={
            "first_name": member.first_name,
            "last_name": member.last_name,
            "email": member.email,
            "is_staff": True,
            "is_superuser": member.username == _SUPERUSER,
        },
    )
    if made:
        user.set_unusable_password()
        user.save(update_fields=["password"])
    Membership.objects.create(tenant=tenant, user=user, role=member.role)


def _describe_products(tenant: Tenant, shop: Shop) -> None:
    """Add what shops' exports do not carry: category and description."""
    entries = {product.sku: product for product in shop.products}
    products = list(Product.objects.for_tenant(tenant.pk))
    for product in products:
        entry = entries[product.external_id]
        product.category, product.description = entry.category, entry.description
    Product.objects.bulk_update(products, ["category", "description"])
