from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from orders.errors import ImportSourceMissing, ImportSourceUnreadable
from orders.importers.rows import ShopRows, read_amount
from orders.importers.tau2 import STATUSES, read_tau2
from orders.rules import OrderStatus, ParcelStatus, PaymentKind

ADDRESS = {
    "address1": "1 River Road",
    "address2": "Suite 9",
    "city": "New York",
    "country": "USA",
    "state": "NY",
    "zip": "10083",
}


def small_shop() -> dict[str, Any]:
    """Return a whole little shop in the source's shape."""
    return {
        "users": {
            "ada_moore_1": {
                "user_id": "ada_moore_1",
                "name": {"first_name": "Ada", "last_name": "Moore"},
                "address": dict(ADDRESS),
                "email": "ada.moore1@example.com",
                "payment_methods": {
                    "card_1": {
                        "source": "credit_card",
                        "id": "card_1",
                        "brand": "visa",
                        "last_four": "4242",
                    },
                    "gift_1": {"source": "gift_card", "id": "gift_1", "balance": 51.5},
                },
                "orders": ["#W100", "#W200"],
            }
        },
        "products": {
            "90": {
                "name": "Kettle",
                "product_id": "90",
                "variants": {
                    "901": {
                        "item_id": "901",
                        "options": {"color": "red"},
                        "available": True,
                        "price": 50.88,
                    }
                },
            }
        },
        "orders": {
            "#W100": {
                "order_id": "#W100",
                "user_id": "ada_moore_1",
                "address": dict(ADDRESS),
                "items": [
                    {
                        "name": "Kettle",
                        "product_id": "90",
                        "item_id": "901",
                        "price": 50.88,
                        "options": {"color": "red"},
                    },
                    {
                        "name": "Kettle",
                        "product_id": "90",
                        "item_id": "901",
                        "price": 19.99,
                        "options": {"color": "red"},
                    },
                ],
                "status": "delivered",
                "fulfillments": [{"tracking_id": ["357962501027"], "item_ids": ["901", "901"]}],
                "payment_history": [
                    {
                        "transaction_type": "payment",
                        "amount": 70.87,
                        "payment_method_id": "card_1",
                    }
                ],
            },
            "#W200": {
                "order_id": "#W200",
                "user_id": "ada_moore_1",
                "address": dict(ADDRESS),
                "items": [
                    {"name": "Kettle", "item_id": "901", "price": 50.88, "options": {}},
                ],
                "status": "pending",
                "fulfillments": [],
                "payment_history": [],
            },
        },
    }


def read(tmp_path: Path, document: Any) -> ShopRows:
    text = document if isinstance(document, str) else json.dumps(document)
    (tmp_path / "db.json").write_text(text)
    return read_tau2(tmp_path)


def test_shop_is_read_whole(tmp_path: Path) -> None:
    rows = read(tmp_path, small_shop())
    assert rows.refused == []
    customer, order = rows.customers[0], rows.orders[0]
    assert customer.address["postcode"] == "10083"
    assert [(m.external_id, m.label, m.balance_minor) for m in customer.methods] == [
        ("card_1", "Visa", None),
        ("gift_1", "", 5150),
    ]
    assert rows.products[0].variants[0].prices == {"USD": 5088}
    assert (order.number, order.number_key, order.email) == (
        "#W100",
        "w100",
        "ada.moore1@example.com",
    )
    assert order.status is OrderStatus.DELIVERED
    assert order.total_minor == 7087
    assert order.placed_at is None
    assert order.shipments[0].status is ParcelStatus.DELIVERED
    assert order.shipments[0].tracking_number == "357962501027"
    assert order.shipments[0].contents == {0: 1, 1: 1}
    assert order.payments[0].kind is PaymentKind.PAYMENT
    assert order.payments[0].amount_minor == 7087
    assert order.metadata == {"source": "tau2", "status": "delivered"}


def test_file_itself_may_be_named(tmp_path: Path) -> None:
    read(tmp_path, small_shop())
    assert len(read_tau2(tmp_path / "db.json").orders) == 2


@pytest.mark.parametrize("status", sorted(STATUSES))
def test_status_is_translated_and_kept(tmp_path: Path, status: str) -> None:
    document = small_shop()
    document["orders"]["#W200"] |= {"status": status, "exchange_price_difference": -16.63}
    order = read(tmp_path, document).orders[1]
    assert order.status is STATUSES[status]
    # An exact decimal is kept as its text, for JSON would make a float of it.
    assert order.metadata == {
        "source": "tau2",
        "status": status,
        "exchange_price_difference": "-16.63",
    }


def test_parcel_of_an_order_that_has_not_arrived_is_unknown(tmp_path: Path) -> None:
    document = small_shop()
    document["orders"]["#W100"]["status"] = "processed"
    assert read(tmp_path, document).orders[0].shipments[0].status is ParcelStatus.UNKNOWN


def change(*path: Any, to: Any) -> Callable[[dict[str, Any]], None]:
    def apply(document: dict[str, Any]) -> None:
        for step in path[:-1]:
            document = document[step]
        document[path[-1]] = to

    return apply


W1, ADA = ("orders", "#W100"), ("users", "ada_moore_1")
KETTLE = ("products", "90", "variants", "901")
REFUSED = [
    (change(*W1, "items", 0, "price", to=-1), "orders/#W100", "negative"),
    (change(*W1, "items", 0, "price", to=1.005), "orders/#W100", "smallest unit"),
    (change(*W1, "items", 0, "price", to="lots"), "orders/#W100", "not an amount"),
    (change(*W1, "items", 0, "price", to=True), "orders/#W100", "not an amount"),
    (change(*W1, "items", 0, "price", to=float("nan")), "orders/#W100", "price"),
    (change(*W1, "items", 0, "price", to=1e300), "orders/#W100", "too large"),
    (change(*W1, "items", to=[]), "orders/#W100", "items"),
    (change(*W1, "items", 0, "name", to="a\x00b"), "orders/#W100", "null byte"),
    (change(*W1, "items", 0, "name", to="x" * 300), "orders/#W100", "200 characters"),
    (change(*W1, "user_id", to="nobody"), "orders/#W100", "missing user"),
    (change(*W1, "status", to="teleported"), "orders/#W100", "unknown status"),
    (change(*W1, "order_id", to="#W999"), "orders/#W100", "differs from the key"),
    (change(*W1, "address", to=None), "orders/#W100", "address"),
    (change(*W1, to=[]), "orders/#W100", "not an object"),
    (change(*W1, "fulfillments", 0, "item_ids", to=["77"]), "orders/#W100", "not in the order"),
    (change(*W1, "payment_history", 0, "amount", to=None), "orders/#W100", "not an amount"),
    (
        change(*W1, "payment_history", 0, "payment_method_id", to="card_9"),
        "orders/#W100",
        "no usable payment method",
    ),
    (
        change(*W1, "payment_history", 0, "transaction_type", to="tip"),
        "orders/#W100",
        "unknown type",
    ),
    (change(*KETTLE, "price", to="x"), "products/90/variants/901", "not an amount"),
    (change(*KETTLE, "available", to="yes"), "products/90/variants/901", "available"),
    (change("products", "90", "name", to=7), "products/90", "name"),
    (
        change(*ADA, "payment_methods", "gift_1", "balance", to=-5),
        "users/ada_moore_1/payment_methods/gift_1",
        "negative",
    ),
    (
        change(*ADA, "payment_methods", "gift_1", "source", to="cheque"),
        "users/ada_moore_1/payment_methods/gift_1",
        "unknown source",
    ),
]


@pytest.mark.parametrize(("spoil", "row", "reason"), REFUSED)
def test_bad_row_is_refused_with_its_reason(
    tmp_path: Path, spoil: Callable[[dict[str, Any]], None], row: str, reason: str
) -> None:
    document = small_shop()
    spoil(document)
    rows = read(tmp_path, document)
    assert [item.row for item in rows.refused] == [row]
    assert reason in rows.refused[0].reason
    assert "#W200" in [order.number for order in rows.orders]


def test_user_that_is_refused_takes_their_orders_along(tmp_path: Path) -> None:
    document = small_shop()
    del document["users"]["ada_moore_1"]["email"]
    rows = read(tmp_path, document)
    assert rows.customers == []
    assert rows.orders == []
    assert [item.row for item in rows.refused] == [
        "users/ada_moore_1",
        "orders/#W100",
        "orders/#W200",
    ]


def test_duplicates_are_refused_after_the_first(tmp_path: Path) -> None:
    document = small_shop()
    twin = copy.deepcopy(document["users"]["ada_moore_1"])
    document["users"]["twin"] = twin | {"user_id": "twin", "email": "ADA.moore1@example.com"}
    respelled = copy.deepcopy(document["orders"]["#W100"])
    document["orders"]["w-100"] = respelled | {"order_id": "w-100"}
    product = copy.deepcopy(document["products"]["90"])
    document["products"]["91"] = product | {"product_id": "91"}
    rows = read(tmp_path, document)
    assert {item.row for item in rows.refused} == {
        "users/twin",
        "orders/w-100",
        "products/91/variants/901",
    }
    assert all(item.reason.startswith("duplicate") for item in rows.refused)


def test_key_that_is_written_twice_is_refused(tmp_path: Path) -> None:
    text = json.dumps(small_shop())
    order = json.dumps(small_shop()["orders"]["#W200"])
    rows = read(tmp_path, text[:-2] + f', "#W200": {order}' + text[-2:])
    assert [(item.row, item.reason.split(":")[0]) for item in rows.refused] == [
        ("orders/#W200", "duplicate")
    ]
    assert len(rows.orders) == 2


def test_folder_without_the_file_says_what_to_do(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(ImportSourceMissing) as caught:
            read_tau2(path)
        assert "db.json" in caught.value.message
        assert "\n" not in caught.value.message


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"users": {}}', "[" * 100_000, "\ufeff{}"])
def test_file_that_is_no_shop_is_unreadable(tmp_path: Path, text: str) -> None:
    with pytest.raises(ImportSourceUnreadable):
        read(tmp_path, text)


def test_file_that_is_no_text_is_unreadable(tmp_path: Path) -> None:
    (tmp_path / "db.json").write_bytes(b"\xff\xfe\x00\x01")
    with pytest.raises(ImportSourceUnreadable):
        read_tau2(tmp_path)


def test_section_that_is_no_object_is_refused(tmp_path: Path) -> None:
    rows = read(tmp_path, small_shop() | {"products": []})
    assert [item.row for item in rows.refused] == ["products"]
    assert len(rows.orders) == 2


@pytest.mark.parametrize(
    ("value", "currency", "minor"),
    [("536.65", "USD", 53665), (5800, "JPY", 5800), ("12.345", "KWD", 12345), ("0", "EUR", 0)],
)
def test_amount_is_read_exactly(value: Any, currency: str, minor: int) -> None:
    assert read_amount(value, currency) == minor


@pytest.mark.parametrize("value", [19.99, True, None, "5800.5", "-1", "1e400", "Infinity", ""])
def test_amount_that_is_not_one_is_refused(value: Any) -> None:
    with pytest.raises(ValueError):
        read_amount(value, "JPY")
