"""Requests on the asker's own account."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from approvals.errors import IdentityRequired
from approvals.registry import Action, Change, Execution
from dsupport.contract.principal import Principal
from dsupport.contract.risk import RiskTier
from dsupport.lib.canonical import digest
from orders.actions.arguments import AddressArguments
from orders.actions.words import address_line
from orders.cases import address_of, own_profile
from orders.changes import change_own_address
from orders.errors import RuleBroken
from orders.policy import judge_other_address


def require_account(principal: Principal, _arguments: Any) -> None:
    """Refuse whoever proved one order and not an account."""
    if principal.customer_id is None:
        raise IdentityRequired("Sign in to the account first.")


def _is_another(principal: Principal, wanted: AddressArguments, _now: datetime) -> None:
    found = address_of(own_profile(principal))
    ruling = judge_other_address(found, wanted.as_fields())
    if not ruling.holds:
        raise RuleBroken(ruling.name, ruling.text)


def _state(principal: Principal, _wanted: AddressArguments) -> Mapping[str, Any]:
    return {"address": address_of(own_profile(principal))}


def _locked_state(principal: Principal, _wanted: AddressArguments) -> Mapping[str, Any]:
    return {"address": address_of(own_profile(principal, lock=True))}


def _words(wanted: AddressArguments, _state: Mapping[str, Any]) -> str:
    return f"Change the address in the account to {address_line(wanted.as_fields())}"


def _changes(wanted: AddressArguments, state: Mapping[str, Any]) -> list[Change]:
    before = address_line(state["address"])
    return [Change("Address", before or "–", address_line(wanted.as_fields()))]


def _execute(
    principal: Principal, wanted: AddressArguments, _execution: Execution
) -> Mapping[str, Any]:
    change_own_address(principal, wanted.as_fields())
    return {"done": "orders.change_profile_address"}


def _intent(principal: Principal, wanted: AddressArguments) -> str:
    return f"{principal.owner_key}/{digest('orders/profile/1', wanted.as_fields())}"


CHANGE_PROFILE_ADDRESS = Action(
    name="orders.change_profile_address",
    tier=RiskTier.MEDIUM,
    arguments=AddressArguments,
    validate=_is_another,
    snapshot=_state,
    current=_locked_state,
    describe=_words,
    changes=_changes,
    execute=_execute,
    undo="Change the address back.",
    intent_key=_intent,
)
