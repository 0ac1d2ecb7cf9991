"""Serving wishes about orders: look-ups told, troubles dealt with, deeds passed on."""

from __future__ import annotations

import re

from agents.adapters.offline import phrases
from agents.adapters.offline.asks import Ask
from agents.adapters.offline.behaviour import TROUBLE_RULES
from agents.adapters.offline.choosing import Choice, State, choose_order
from agents.adapters.offline.findings import Search, facts_of
from agents.adapters.offline.handover import Need, describe_for_staff, describe_rules, reason_of
from agents.adapters.offline.orders_text import (
    Standing,
    list_line,
    stand,
    tell_payment,
    tell_refunds,
    tell_return_window,
    tell_standing,
)
from agents.adapters.offline.quotes import Quote, check_after, quote_hit
from agents.adapters.offline.served import Served
from agents.adapters.offline.transcript import Result
from agents.adapters.offline.workbench import Workbench

_PROBLEM = 0.3
# What the chat asks the gate for by itself; the reason is the one that fits a plain wish.
_CARDS: dict[str, dict[str, str]] = {
    "cancel_request": {"action": "cancel", "reason": "no longer needed"},
    "refund_request": {"action": "refund", "reason": "other"},
}
_ASKS_MONEY = re.compile(r"\b(?:paid|pay|total|cost|costs|price|amount|how much)\b", re.IGNORECASE)
_WINDOW_INTENTS = frozenset({"refund_request", "return_request", "exchange_request"})


def serve_order(ask: Ask, bench: Workbench) -> Served:
    """Tell how an order stands, and what is done about it when something went wrong."""
    served = Served()
    choice = choose_order(ask, bench.turn, bench.findings)
    if choice.state is not State.FOUND:
        _ask_for_order(served, choice, ask, bench)
        return served
    result = bench.order(choice.number, ask)
    about_money = ask.intent == "refund_status"
    tracking = None if about_money else bench.tracking(choice.number, ask)
    if ask.intent == "late_delivery":
        bench.search(TROUBLE_RULES["late"])  # wanted in the end, so it is fetched alongside
    rules = bench.search(_rules_query(ask)) if about_money else None
    facts = facts_of(result)
    if facts is None:
        _tell_lookup_failed(served, choice.number, result, bench)
        return served
    standing = stand(facts, tracking.data if tracking else None)
    if about_money:
        served.say(" ".join([*tell_standing(standing)[:1], *tell_refunds(facts)]), "facts")
        served.cite(bench.quote(rules, ask.query, ask))
        served.say(phrases.OFFER_PERSON, "offer")
        return served
    told = tell_standing(standing)
    if _ASKS_MONEY.search(ask.hints):
        told += tell_payment(facts)
    served.say(" ".join(told), "facts")
    _tell_trouble(served, standing, ask, bench)
    return served


def _tell_trouble(served: Served, standing: Standing, ask: Ask, bench: Workbench) -> None:
    """Say what the shop does about a parcel in trouble, and have a person check when it is time."""
    says_missing = ask.intent == "missing_parcel"
    trouble = standing.trouble
    if says_missing and standing.status == "delivered":
        trouble = "not_received"
    if not trouble:
        if ask.intent in {"missing_parcel", "late_delivery"}:
            still_in_time = standing.is_awaited and standing.facts.get("promised_on")
            served.say(phrases.NOT_LATE_YET if still_in_time else "")
            served.say(phrases.OFFER_PERSON, "offer")
        return
    search = bench.search(TROUBLE_RULES[trouble])
    quote, due = _trouble_rule(trouble, standing, search, ask, bench)
    served.cite(quote)
    if due or ask.wants_help or ask.agreed:
        wish = ask.behaviour.wish or "a late parcel to be checked"
        served.needs.append(
            Need(
                "action_needed",
                wish,
                str(standing.facts.get("number", "")),
                (*describe_for_staff(standing), *describe_rules(quote)),
            )
        )
    else:
        served.say(phrases.OFFER_PERSON, "offer")


def _trouble_rule(
    trouble: str, standing: Standing, search: Search | None, ask: Ask, bench: Workbench
) -> tuple[Quote | None, bool]:
    """Return the rule to quote, and whether by that rule a person acts now."""
    if trouble == "late" and search is not None:
        found = check_after(search)
        if found is not None:
            after, hit = found
            return quote_hit(hit), standing.days_late >= after
    quote = bench.quote(search, TROUBLE_RULES[trouble], ask)
    if trouble == "not_received":
        # The carrier's scan may run a little ahead of the driver: the day it says is too early.
        return quote, str(standing.facts.get("delivered_on") or "") < bench.turn.today.isoformat()
    return quote, trouble == "lost"


def _ask_for_order(served: Served, choice: Choice, ask: Ask, bench: Workbench) -> None:
    """Say why no order is known yet, and what the customer can do."""
    if choice.state is State.LIST:
        bench.list_orders(choice.day, ask)
        served.say(phrases.NO_LOOKUP)
    elif choice.state is State.UNKNOWN_ASKER:
        _tell_stranger(served, ask, bench)
    elif choice.state is State.WHICH:
        if choice.empty_day:
            served.say(phrases.NONE_THAT_DAY.format(day=choice.empty_day))
        lines = [f"- {list_line(row)}" for row in choice.candidates]
        served.say("\n".join([phrases.WHICH_ORDER, *lines]), "facts")
    elif choice.state is State.NONE:
        served.say(phrases.NONE_OTHER if ask.other_order else phrases.NO_ORDERS)
    else:
        served.say(phrases.NO_LOOKUP)
        served.say(phrases.OFFER_PERSON, "offer")


def _tell_stranger(served: Served, ask: Ask, bench: Workbench) -> None:
    """Ask somebody unknown to show who they are; who asks for a way is told the rule first."""
    if ask.how_to:
        search = bench.search(ask.query)
        served.cite(
            bench.quote(search, ask.query, ask) if search and search.band == "answer" else None
        )
    served.say(phrases.NEED_IDENTITY)


def _tell_lookup_failed(
    served: Served, number: str, result: Result | None, bench: Workbench
) -> None:
    category = result.category if result is not None else ""
    served.sure = 0.5
    if category == "not_found":
        # A number from an earlier run is not said again: only this run's evidence may be stated.
        named = f"order {number}" if number in bench.turn.text.upper() else "that order"
        served.say(phrases.NOT_FOUND.format(order=named))
    elif category == "forbidden" or (result is not None and result.error == "identity_needed"):
        served.say(phrases.NEED_IDENTITY)
    else:
        served.say(phrases.NO_LOOKUP)
        served.say(phrases.OFFER_PERSON, "offer")


def serve_action(ask: Ask, bench: Workbench) -> Served:
    """Pass a deed on to a person, with the facts and the rule, when it is plainly wanted."""
    served = Served()
    behaviour = ask.behaviour
    if not _is_meant(ask):
        return _clarify(ask, bench)
    needs_account = behaviour.order == "yes" or ask.intent == "delete_account"
    if not bench.turn.is_known:
        return _serve_stranger(ask, bench, needs_account=needs_account)
    standing: Standing | None = None
    if behaviour.order == "yes" or ask.order:
        choice = choose_order(ask, bench.turn, bench.findings)
        search = bench.search(_rules_query(ask))
        if choice.state is not State.FOUND:
            _ask_for_order(served, choice, ask, bench)
            return served
        result = bench.order(choice.number, ask)
        facts = facts_of(result)
        if facts is None:
            _tell_lookup_failed(served, choice.number, result, bench)
            return served
        standing = stand(facts, None)
        if _show_card(served, ask, standing, bench):
            served.cite(bench.quote(search, _question(ask), ask))
            return served
    else:
        search = bench.search(_rules_query(ask))
    _pass_on(served, ask, standing, bench.quote(search, _question(ask), ask), bench)
    return served


def _show_card(served: Served, ask: Ask, standing: Standing, bench: Workbench) -> bool:
    """Put a card before the customer for what the gate takes; a person gets all the rest."""
    if ask.intent not in _CARDS or not bench.can("request_change"):
        return False
    number = str(standing.facts.get("number", ""))
    shown = bench.change({**_CARDS[ask.intent], "order_number": number})
    if shown is None:
        return True  # not known yet: the rules run again when it is
    if facts_of(shown) is None:
        return False
    served.say(" ".join(tell_standing(standing)[:1]), "facts")
    served.say(phrases.CARD_SHOWN)
    return True


def _pass_on(
    served: Served, ask: Ask, standing: Standing | None, quote: Quote | None, bench: Workbench
) -> None:
    """Tell the facts and the rule, and note what a person has to do."""
    details: tuple[str, ...] = ()
    order = ""
    if standing is not None:
        order = str(standing.facts.get("number", ""))
        told = tell_standing(standing)[:2]
        if ask.intent in _WINDOW_INTENTS:
            told += tell_return_window(standing.facts, bench.turn.today.isoformat())
        served.say(" ".join(told), "facts")
        details = describe_for_staff(standing)
        if standing.status in ask.behaviour.pointless:
            served.say(phrases.CANNOT_NOW if standing.status != "cancelled" else "")
            served.say(phrases.OFFER_PERSON, "offer")
            return
    served.cite(quote)
    reason = reason_of(ask.behaviour.kind, ask.intent)
    served.needs.append(
        Need(
            reason,
            ask.behaviour.wish,
            order,
            (*details, *describe_rules(quote)),
            decides=ask.route == "action",
        )
    )


def _serve_stranger(ask: Ask, bench: Workbench, *, needs_account: bool) -> Served:
    """Serve a request for a deed from somebody who is not known: the rule, and how to go on."""
    served = Served()
    if ask.behaviour.order == "yes":
        _tell_stranger(served, ask, bench)
        return served
    served.cite(bench.quote(bench.search(_rules_query(ask)), _question(ask), ask))
    if needs_account:
        served.say(phrases.NEED_ACCOUNT)
    else:
        served.say(phrases.OFFER_PERSON, "offer")
    return served


def _clarify(ask: Ask, bench: Workbench) -> Served:
    """Answer with the rule and ask whether the deed is wanted: a question costs nothing."""
    served = Served(sure=0.6)
    served.cite(bench.quote(bench.search(_rules_query(ask)), _question(ask), ask))
    served.say(phrases.OFFER_DEED.format(wish=ask.behaviour.wish), "offer")
    return served


def _is_meant(ask: Ask) -> bool:
    if ask.agreed or ask.may_act:
        return True
    return ask.intent in {"damaged_item", "wrong_item", "payment_problem"} and ask.p >= _PROBLEM


def _rules_query(ask: Ask) -> str:
    return ask.behaviour.rules or ask.query


def _question(ask: Ask) -> str:
    return f"{ask.behaviour.rules} {ask.query}".strip()
