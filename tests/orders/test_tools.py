from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from dsupport.contract.errors import DomainError
from dsupport.contract.tools import ErrorCategory, ToolContext, ToolResult, ToolSpec
from dsupport.lib.gateway import gateway
from orders.adapters.simulated import Faults, faulty, tracking_code
from orders.errors import InvalidDate, UnknownStatus
from orders.rules import ParcelStatus
from orders.tools import TOOLS

NOW = datetime(2026, 10, 15, 9, 0, tzinfo=UTC)
BY_NAME = {tool.name: tool for tool in TOOLS}


def use(name: str, principal: Any, **arguments: Any) -> ToolResult:
    tool: ToolSpec = BY_NAME[name]
    context = ToolContext(principal=principal, now=NOW, key="k")
    return tool.body(tool.arguments(**arguments), context)


def outcome(name: str, principal: Any, **arguments: Any) -> str:
    """Return all that a model could see of a call, with the number of statements it took."""
    with CaptureQueriesContext(connection) as statements:
        try:
            result = use(name, principal, **arguments)
            seen: Any = [result.data, result.is_error]
        except DomainError as error:
            seen = [type(error).__name__, error.code, error.message, error.status]
    return json.dumps([seen, len(statements)])


@pytest.fixture(autouse=True)
def rested_gateway() -> None:
    gateway.forget()


def test_tools_are_the_agreed_ones() -> None:
    reading = ["list_my_orders", "get_order", "track_shipment", "get_product"]
    assert list(BY_NAME) == [*reading, "request_change"]
    assert [name for name, tool in BY_NAME.items() if tool.writes] == ["request_change"]
    assert {name for name, tool in BY_NAME.items() if tool.personal} == set(BY_NAME) - {
        "get_product"
    }


def test_tools_take_no_identity_and_nothing_unknown() -> None:
    for tool in TOOLS:
        schema = tool.schema()
        assert schema["additionalProperties"] is False
        names = " ".join(schema["properties"])
        assert not any(word in names for word in ("customer", "email", "user", "tenant", "id"))


def test_progress_is_filled_from_the_arguments() -> None:
    for tool in TOOLS:
        tool.progress.format(**dict.fromkeys(tool.schema()["properties"], "x"))


@pytest.mark.parametrize("name", ["get_order", "track_shipment"])
def test_foreign_and_unknown_orders_read_alike_to_the_byte(
    shop: Any, other_shop: Any, name: str
) -> None:
    ada, bob = shop.customer("ada@example.com"), shop.customer("bob@example.com")
    own = shop.order(ada, "100")
    shop.item(own)
    for owner, place, number in ((bob, shop, "200"), (other_shop.customer(), other_shop, "300")):
        order = place.order(owner, number)
        place.item(order)
        place.parcel(order)
    numbers = ["200", "300", "404", "#W0000001", "' OR 1=1 --"]
    principals = [shop.signed_in(ada), shop.guest(own), shop.guest()]
    with faulty(Faults(down=True)):
        for principal in principals:
            assert len({outcome(name, principal, order_number=n) for n in numbers}) == 1


def test_list_reads_day_and_status(shop: Any) -> None:
    customer = shop.customer()
    shop.item(shop.order(customer, "1"))
    shop.order(customer, "2", status="return_requested", placed_at=None)
    principal = shop.signed_in(customer)
    dated = use("list_my_orders", principal, bought_on="2026-10-01").data
    assert [order["number"] for order in dated["orders"]] == ["1"]
    assert dated["orders"][0]["items"] == ["1 × Kettle"]
    assert dated["note"].startswith("1 of the customer's orders carry no date")
    spelled = use("list_my_orders", principal, status="Return requested").data
    assert [order["number"] for order in spelled["orders"]] == ["2"]
    assert len(use("list_my_orders", principal).data["orders"]) == 2


def test_list_refuses_an_unreadable_day_or_status(shop: Any) -> None:
    principal = shop.signed_in(shop.customer())
    with pytest.raises(InvalidDate):
        use("list_my_orders", principal, bought_on="Monday")
    with pytest.raises(UnknownStatus) as caught:
        use("list_my_orders", principal, status="vanished")
    assert "delivered" in caught.value.message


def test_track_asks_the_configured_carrier(shop: Any) -> None:
    customer = shop.customer()
    number = tracking_code(
        "TG############", status=ParcelStatus.HELD_UP, scanned_on=NOW.date(), serial=1
    )
    shop.parcel(shop.order(customer, "1", status="shipped"), tracking_number=number)
    result = use("track_shipment", shop.signed_in(customer), order_number="1")
    assert result.trust == "outside"
    assert result.data["shipments"][0]["carrier_report"]["status"] == "held_up"
    assert result.data["late"] is True


def test_track_of_a_silent_carrier_is_unavailable_with_our_record(shop: Any) -> None:
    customer = shop.customer()
    shop.parcel(shop.order(customer, "1", status="shipped"))
    principal = shop.signed_in(customer)
    with faulty(Faults(down=True)):
        result = use("track_shipment", principal, order_number="1")
        assert result.is_error
        assert result.category is ErrorCategory.UNAVAILABLE
        assert result.data["error"] == "carrier_unavailable"
        assert result.data["known"]["days_late"] == 10
        refused = outcome("track_shipment", principal, order_number="404")
    assert "order_not_found" in refused
    assert "carrier" not in refused


def test_track_leaves_a_dead_carrier_alone(shop: Any) -> None:
    customer = shop.customer()
    shop.parcel(shop.order(customer, "1", status="shipped"), carrier="Dead")
    principal = shop.signed_in(customer)
    with faulty(Faults(down=True)):
        for _ in range(3):
            use("track_shipment", principal, order_number="1")
        assert gateway.breaker("carrier dead").state == "open"


def test_product_is_found_by_anybody(shop: Any) -> None:
    shop.product("Kettle", {"KET-1": ({"colour": "red"}, {"EUR": 4990})})
    for principal in (shop.guest(), replace(shop.guest(), visitor="")):
        found = use("get_product", principal, query="a red kettle").data["products"]
        assert found[0]["name"] == "Kettle"
        assert found[0]["variants"][0]["price"] == "€49.90"
