from __future__ import annotations

import json
import os
from collections import Counter
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from dsupport.models import Tenant
from orders.catalogue import find_products
from orders.importers.shops import import_tau2
from orders.models import Customer, Order, Payment, PaymentMethod, Product, Shipment, Variant
from orders.queries import get_order
from tests.conftest import make_tenant
from tests.orders.conftest import Shop

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("DSUPPORT_TEST_DATA", ROOT.parent / "shared" / "data")) / "tau2_retail"
real_data = pytest.mark.skipif(
    not (DATA / "db.json").exists(),
    reason=f"there is no db.json in {DATA}; DSUPPORT_TEST_DATA names the folder above it",
)


def run(*arguments: str) -> Any:
    out = StringIO()
    call_command("import_shop", *arguments, stdout=out)
    return out.getvalue()


@pytest.fixture
def desk(committed_db: str) -> Shop:
    """A desk that has a shop already, so that no command fills it with the demo."""
    return Shop(make_tenant())


@real_data
def test_real_shop_is_imported_whole_and_once(desk: Shop) -> None:
    first = json.loads(run("tau2", str(DATA), "--json"))
    assert first["refused"] == []
    assert (first["created"], first["updated"], first["unchanged"]) == (2836, 0, 0)
    tenant = Tenant.objects.get(slug="tau2")
    counts = {
        model.__name__: model.objects.for_tenant(tenant.pk).count()
        for model in (Customer, Order, Product, Variant, PaymentMethod, Shipment, Payment)
    }
    assert counts == {
        "Customer": 500,
        "Order": 1000,
        "Product": 50,
        "Variant": 591,
        "PaymentMethod": 695,
        "Shipment": 577,
        "Payment": 1102,
    }
    statuses = Counter(Order.objects.for_tenant(tenant.pk).values_list("status", flat=True))
    assert statuses == {"pending": 423, "delivered": 373, "processed": 102, "cancelled": 102}

    second = json.loads(run("tau2", str(DATA), "--json"))
    assert (second["created"], second["updated"], second["unchanged"]) == (0, 0, 2836)


@real_data
def test_real_customer_gets_the_right_facts(shop: Shop, now: Any) -> None:
    import_tau2(path=DATA)
    source = json.loads((DATA / "db.json").read_text())["orders"]["#W2611340"]
    order: Any = Order.objects.get(number="#W2611340")
    assert order.customer.external_id == source["user_id"]
    shop.tenant = order.tenant
    facts = get_order(principal=shop.signed_in(order.customer), number="w2611340", now=now)
    assert facts["number"] == "#W2611340"
    assert facts["total"] == f"${source['payment_history'][0]['amount']}"
    assert [item["name"] for item in facts["items"]] == [i["name"] for i in source["items"]]
    assert facts["shipments"][0]["tracking_number"] == "357962501027"
    assert facts["payments"][0]["method"] == "Gift card"
    assert facts["placed_on"] is facts["return_window_ends_on"] is None
    found = find_products(tenant_id=order.tenant.pk, query="water bottle")["products"]
    assert found[0]["name"] == "Water Bottle"


def test_shop_goes_into_the_tenant_that_is_named(desk: Shop, tmp_path: Path) -> None:
    (tmp_path / "db.json").write_text('{"users": {}, "products": {}, "orders": {"#1": 7}}')
    told = run("tau2", str(tmp_path), "--tenant", "mine")
    assert Tenant.objects.get(slug="mine").currency == "USD"
    assert "refused: 1" in told
    assert "orders/#1: is not an object" in told
    document = json.loads(run("tau2", str(tmp_path), "--tenant", "shop", "--json"))
    assert document["refused"] == [{"row": "orders/#1", "reason": "is not an object"}]
    assert Tenant.objects.get(slug="shop").name == "Shop"


def test_wrong_use_ends_with_two_and_one_line(desk: Shop, tmp_path: Path) -> None:
    (tmp_path / "db.json").write_text('{"users": {}, "products": {}, "orders": {}}')
    wrong = {
        "db.json": ["tau2", "/nowhere"],
        "short name": ["tau2", str(tmp_path), "--tenant", "No Such!"],
    }
    for says, arguments in wrong.items():
        with pytest.raises(CommandError) as caught:
            run(*arguments)
        assert caught.value.returncode == 2
        assert says in str(caught.value)
        assert "\n" not in str(caught.value)


def test_formats_of_later_are_not_offered() -> None:
    with pytest.raises(CommandError) as caught:
        run("shopify", "/nowhere")
    assert "invalid choice" in str(caught.value)
