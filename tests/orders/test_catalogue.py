from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from orders.catalogue import PRODUCT_LIMIT, find_products
from orders.errors import EmptyQuery


@pytest.fixture
def stock(shop: Any) -> Any:
    shop.product(
        "T-Shirt",
        {
            "TS-R-M": ({"colour": "red", "size": "M"}, {"EUR": 1990, "JPY": 3200}),
            "TS-B-L": ({"colour": "blue", "size": "L"}, {"EUR": 2090}),
        },
        description="Soft cotton",
        category="Clothing",
    )
    shop.product("Rain Jacket", {"RJ-1": ({"colour": "red"}, {"USD": 9900})}, category="Clothing")
    shop.product("Camping Stove", {"ST-1": ({}, {"EUR": 5900})}, description="Runs without battery")
    shop.product("Battery Pack", {"BP-1": ({}, {"EUR": 2900})})
    return shop


def names(shop: Any, query: str) -> list[str]:
    found = find_products(tenant_id=shop.tenant.pk, query=query)
    return [product["name"] for product in found["products"]]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("t-shirt", "T-Shirt"),
        ("Do you have T-Shirts in red?", "T-Shirt"),
        ("any shirts?", "T-Shirt"),
        ("rain jackets", "Rain Jacket"),
        ("TS-B-L", "T-Shirt"),
        ("ts-b-l", "T-Shirt"),
        ("batteries", "Battery Pack"),  # a name beats a description
        ("stove", "Camping Stove"),
        ("cotton", "T-Shirt"),
        ("clothing", "Rain Jacket"),
    ],
)
def test_product_meant_comes_first(stock: Any, query: str, first: str) -> None:
    assert names(stock, query)[0] == first


@pytest.mark.parametrize("query", ["helicopter", "red", "what is in stock\x00zzz", "%zz", "_ring"])
def test_product_that_nothing_names_is_not_found(stock: Any, query: str) -> None:
    assert names(stock, query) == []


@pytest.mark.parametrize("query", ["", "   ", "???", "%", "do you have the"])
def test_query_without_a_subject_is_refused(stock: Any, query: str) -> None:
    with pytest.raises(EmptyQuery):
        names(stock, query)


def test_variant_asked_for_comes_first(stock: Any) -> None:
    found = find_products(tenant_id=stock.tenant.pk, query="blue t-shirt")["products"][0]
    assert [variant["sku"] for variant in found["variants"]] == ["TS-B-L", "TS-R-M"]


def test_price_is_the_shops_currency_with_the_others_beside(stock: Any) -> None:
    shirt = find_products(tenant_id=stock.tenant.pk, query="TS-R-M")["products"][0]
    assert shirt["variants"][0]["price"] == "€19.90"
    assert shirt["variants"][0]["other_prices"] == ["¥3,200"]
    jacket = find_products(tenant_id=stock.tenant.pk, query="jacket")["products"][0]
    assert jacket["variants"][0]["price"] is None
    assert jacket["variants"][0]["other_prices"] == ["$99.00"]


def test_products_of_another_shop_are_not_found(stock: Any, other_shop: Any) -> None:
    other_shop.product("Zebra Costume", {"Z-77": ({}, {"EUR": 100})})
    assert names(stock, "zebra costume") == names(stock, "Z-77") == []


def test_many_matches_are_cut_and_counted(stock: Any) -> None:
    for number in range(PRODUCT_LIMIT + 3):
        stock.product(f"Lantern {number}")
    found = find_products(tenant_id=stock.tenant.pk, query="lantern")
    assert len(found["products"]) == PRODUCT_LIMIT
    assert found["more"] == 3


def test_search_takes_a_handful_of_queries(stock: Any) -> None:
    with CaptureQueriesContext(connection) as statements:
        names(stock, "shirt jacket stove battery")
    assert len(statements) == 4  # shop, products, variants, prices


def test_long_description_is_cut(stock: Any) -> None:
    stock.product("Encyclopaedia", description="word " * 5000)
    found = find_products(tenant_id=stock.tenant.pk, query="encyclopaedia")["products"][0]
    assert len(found["description"]) == 500
    assert found["description"].endswith("…")
