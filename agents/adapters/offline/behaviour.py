"""What the rules do for each intent, as one table."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """The ways in which a wish is served."""

    KNOWLEDGE = "knowledge"  # search the help articles and quote them
    PRODUCT = "product"  # the same, and the catalogue
    ORDER = "order"  # look the order up and tell how it stands
    ACTION = "action"  # somebody must do something: facts, rules, a ticket
    PERSON = "person"  # a ticket at once
    SOCIAL = "social"


class Pick(StrEnum):
    """Which of several orders a wish is most likely about."""

    OPEN = "open"  # not delivered and not cancelled
    LATE = "late"
    MISSING = "missing"  # overdue, or said to be delivered
    CHANGEABLE = "changeable"  # not with the carrier yet
    DELIVERED = "delivered"
    REFUNDABLE = "refundable"  # delivered, or overdue
    MONEY_BACK = "money_back"  # cancelled or returned
    ANY = "any"


@dataclass(frozen=True, slots=True)
class Behaviour:
    """How one intent is served.

    `order` says whether an order is needed: "yes", "no" or "helps". `rules` is what to search the
    help articles for when the customer's own words ask for a deed and not for a rule; without it
    the words themselves are searched for. `wish` is how a ticket names it. `pointless` are states
    of the order in which it cannot be done.
    """

    kind: Kind
    order: str = "no"
    pick: Pick = Pick.ANY
    rules: str = ""
    wish: str = ""
    pointless: frozenset[str] = frozenset()


_OVER = frozenset({"cancelled", "returned", "exchanged"})
_ARRIVED = _OVER | {"delivered", "return_requested", "exchange_requested"}


def _knowledge() -> Behaviour:
    return Behaviour(Kind.KNOWLEDGE)


def _act(
    wish: str,
    rules: str,
    *,
    order: str = "yes",
    pick: Pick = Pick.DELIVERED,
    pointless: frozenset[str] = frozenset(),
) -> Behaviour:
    return Behaviour(Kind.ACTION, order, pick, rules, wish, pointless)


BEHAVIOURS: dict[str, Behaviour] = {
    "refund_policy": _knowledge(),
    "return_policy": _knowledge(),
    "tracking_help": _knowledge(),
    "delivery_info": _knowledge(),
    "cancel_policy": _knowledge(),
    "payment_methods": _knowledge(),
    "account_help": _knowledge(),
    "place_order": _knowledge(),
    "promo_question": _knowledge(),
    "warranty_question": _knowledge(),
    "store_info": _knowledge(),
    "company_info": _knowledge(),
    "feedback": _knowledge(),
    "other": _knowledge(),
    "product_question": Behaviour(Kind.PRODUCT),
    "order_status": Behaviour(Kind.ORDER, "yes", Pick.OPEN),
    "late_delivery": Behaviour(Kind.ORDER, "yes", Pick.LATE, wish="a late parcel to be checked"),
    "missing_parcel": Behaviour(
        Kind.ORDER, "yes", Pick.MISSING, wish="a parcel that has not arrived to be looked for"
    ),
    "refund_status": Behaviour(
        Kind.ORDER,
        "yes",
        Pick.MONEY_BACK,
        rules="how long does a refund take until the money is on my account",
        wish="to know where a refund is",
    ),
    "refund_request": _act("a refund", "when can I get a refund, what is the refund policy"),
    "return_request": _act("a return", "how do I send an item back, where do I get a return label"),
    "exchange_request": _act("an exchange", "how do I exchange an item for another size or colour"),
    "damaged_item": _act(
        "help with a damaged or faulty item", "an item arrived damaged or faulty, what happens now"
    ),
    "wrong_item": _act("help with a wrong or missing item", "wrong or missing items in my parcel"),
    "cancel_request": _act(
        "a cancellation",
        "can I cancel my order, until when",
        pick=Pick.CHANGEABLE,
        pointless=_OVER,
    ),
    "change_address": _act(
        "a change of the delivery address",
        "can I change the delivery address of an order",
        pick=Pick.CHANGEABLE,
        pointless=_ARRIVED,
    ),
    "change_order": _act(
        "a change of the items",
        "can I change the items in my order",
        pick=Pick.CHANGEABLE,
        pointless=_ARRIVED,
    ),
    "invoice_request": _act("an invoice", "where do I find my invoice", pick=Pick.ANY),
    "payment_problem": _act("help with a payment", "", order="helps"),
    "delete_account": _act("the deletion of the account", "how do I delete my account", order="no"),
    "newsletter": _act(
        "a change of the newsletter subscription", "how do I change my newsletter", order="no"
    ),
    "complaint": Behaviour(Kind.PERSON, wish="to complain"),
    "human_agent": Behaviour(Kind.PERSON, wish="to talk to a person"),
    "greeting": Behaviour(Kind.SOCIAL),
    "thanks_bye": Behaviour(Kind.SOCIAL),
    "yes_no": Behaviour(Kind.SOCIAL),
    "bot_identity": Behaviour(Kind.SOCIAL),
}

# Searched when a look-up shows that a parcel is in trouble, whatever the customer asked.
TROUBLE_RULES = {
    "late": "my parcel is days past the promised date, when does a person check with the carrier",
    "lost": "my parcel is lost, what happens with a lost parcel",
    "not_received": "tracking says delivered but I did not receive my parcel",
}


def behaviour_of(intent: str) -> Behaviour:
    """Return how an intent is served; one that is unknown here is answered from the articles."""
    return BEHAVIOURS.get(intent, Behaviour(Kind.KNOWLEDGE))
