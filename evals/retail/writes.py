"""Writes of the set as requests to our gate: their tool names and fields, our actions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked of the gate."""

    action: str
    arguments: Mapping[str, Any]


def as_request(write: Mapping[str, Any], *, session_user: str) -> Request:
    """Return a write of the set as a request of the customer who is signed in.

    Our actions have no field for who is asking. A write that names the user it is for loses that
    field when it is the one signed in, and keeps it otherwise, for the gate to refuse.
    """
    action, translate = _TOOLS[write["name"]]
    return Request(action, translate(write["args"], session_user))


def _cancel(args: Mapping[str, Any], _user: str) -> dict[str, Any]:
    return {"order_number": args["order_id"], "reason": args["reason"]}


def _address(args: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "line1": args["address1"],
        "line2": args["address2"],
        "city": args["city"],
        "region": args["state"],
        "postcode": args["zip"],
        "country": args["country"],
    }


def _order_address(args: Mapping[str, Any], _user: str) -> dict[str, Any]:
    return {"order_number": args["order_id"], **_address(args)}


def _profile_address(args: Mapping[str, Any], user: str) -> dict[str, Any]:
    other = {} if args["user_id"] == user else {"user_id": args["user_id"]}
    return {**_address(args), **other}


def _payment(args: Mapping[str, Any], _user: str) -> dict[str, Any]:
    return {"order_number": args["order_id"], "payment_method": args["payment_method_id"]}


def _return(args: Mapping[str, Any], _user: str) -> dict[str, Any]:
    return {
        "order_number": args["order_id"],
        "items": list(args["item_ids"]),
        "payment_method": args["payment_method_id"],
    }


def _swap(args: Mapping[str, Any], _user: str) -> dict[str, Any]:
    pairs = zip_longest(args["item_ids"], args["new_item_ids"])
    return {
        "order_number": args["order_id"],
        "swaps": [{"old": old, "new": new} for old, new in pairs],
        "payment_method": args["payment_method_id"],
    }


_Translate = Callable[[Mapping[str, Any], str], dict[str, Any]]
_TOOLS: Mapping[str, tuple[str, _Translate]] = {
    "cancel_pending_order": ("orders.cancel", _cancel),
    "modify_pending_order_address": ("orders.change_address", _order_address),
    "modify_pending_order_payment": ("orders.change_payment", _payment),
    "modify_pending_order_items": ("orders.change_items", _swap),
    "return_delivered_order_items": ("orders.return", _return),
    "exchange_delivered_order_items": ("orders.exchange", _swap),
    "modify_user_address": ("orders.change_profile_address", _profile_address),
}
