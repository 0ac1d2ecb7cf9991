"""Requests on the asker's account that a person must weigh: its e-mail address, its end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from approvals.registry import Action, Change, Execution, RuleVerdict
from dsupport.contract.principal import Principal
from dsupport.contract.risk import RiskTier
from dsupport.lib.canonical import digest
from orders.actions.arguments import ChangeEmail, Erase
from orders.actions.profile import require_account
from orders.cases import is_email_free, own_profile
from orders.changes import change_own_email
from orders.errors import RuleBroken
from orders.models import Order
from orders.policy import Ruling, first_broken, judge_email
from orders.rules import UNDER_WAY

State = Mapping[str, Any]


def _rulings(principal: Principal, wanted: ChangeEmail) -> list[Ruling]:
    old = own_profile(principal).email
    return judge_email(old, wanted.email, free=is_email_free(principal, wanted.email))


def _check_email(principal: Principal, wanted: ChangeEmail, _now: datetime) -> None:
    broken = first_broken(_rulings(principal, wanted))
    if broken is not None:
        raise RuleBroken(broken.name, broken.text)


def _email_verdicts(
    principal: Principal, wanted: ChangeEmail, _now: datetime
) -> Sequence[RuleVerdict]:
    return [RuleVerdict(rule.name, rule.holds, rule.text) for rule in _rulings(principal, wanted)]


def _change_email(principal: Principal, wanted: ChangeEmail, _execution: Execution) -> State:
    old = change_own_email(principal, wanted.email)
    return {"done": "orders.change_email", "from": old, "to": wanted.email}


def _email_intent(principal: Principal, wanted: ChangeEmail) -> str:
    key = digest("orders/email/1", wanted.email.casefold())
    return f"{principal.owner_key}/{key}"


CHANGE_EMAIL = Action(
    name="orders.change_email",
    tier=RiskTier.HIGH,
    arguments=ChangeEmail,
    permit=require_account,
    validate=_check_email,
    verdicts=_email_verdicts,
    snapshot=lambda principal, _wanted: {"email": own_profile(principal).email},
    current=lambda principal, _wanted: {"email": own_profile(principal, lock=True).email},
    describe=lambda wanted, state: (
        f"Change the e-mail address of the account from {state['email']} to {wanted.email}"
    ),
    changes=lambda wanted, state: [Change("E-mail", state["email"], wanted.email)],
    execute=_change_email,
    undo="Change the address back; both addresses are on record here.",
    intent_key=_email_intent,
)


def _holdings(principal: Principal, _wanted: Erase) -> State:
    """Return what the person who erases must settle first."""
    orders = Order.objects.for_principal(principal)
    return {
        "name": str(own_profile(principal)),
        "orders": orders.count(),
        "open_orders": orders.filter(status__in=list(UNDER_WAY)).count(),
    }


def _has_account(principal: Principal, _wanted: Erase, _now: datetime) -> None:
    own_profile(principal)


def _erasure_words(_wanted: Erase, state: State) -> str:
    return f"Erase the account of {state['name']} and what is known of it"


def _erasure_changes(_wanted: Erase, state: State) -> list[Change]:
    return [
        Change("Account", state["name"], "erased"),
        Change("Orders", str(state["orders"]), "kept as the law on records asks, without a name"),
        Change("Orders under way", str(state["open_orders"]), "to settle first"),
    ]


ERASE_CUSTOMER = Action(
    name="orders.erase_customer",
    tier=RiskTier.VERY_HIGH,
    arguments=Erase,
    permit=require_account,
    validate=_has_account,
    snapshot=_holdings,
    current=_holdings,
    describe=_erasure_words,
    changes=_erasure_changes,
    intent_key=lambda principal, _wanted: f"{principal.owner_key}/erase",
)
