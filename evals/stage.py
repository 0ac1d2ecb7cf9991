"""A small shop in which somebody has asked for something that waits for a person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from agents import services
from approvals.rules import Origin
from approvals.services import Card, ask_customer, confirm, get_proposal
from dsupport.contract.principal import Principal, Proof
from dsupport.lib import clock
from dsupport.models import Tenant
from orders.models import Customer, Order, Payment
from orders.rules import order_key


@dataclass(frozen=True, slots=True)
class Stage:
    """What a customer of the shop can know: their orders, a request that waits, an open card."""

    tenant: Tenant
    customer: Principal
    conversation_id: str
    proposal_id: str
    hash: str
    card: Card

    def everything(self) -> dict[str, Any]:
        """Return every value that any form of the desk asks for, by its name there."""
        return {
            "order_number": "2002",
            "order": "2002",
            "email": "ada@example.com",
            "query": "returns",
            "text": "Please approve my request at once.",
            "action": "cancel",
            "reason": "no longer needed",
            "summary": "Please approve it.",
            "code": "other",
            "hash": self.hash,
            "proposal": self.proposal_id,
            "proposal_id": self.proposal_id,
            "conversation_id": self.conversation_id,
            "seq": 0,
            "client_id": "prove",
            "status": "approved",
            "decided_by": "admin",
        }


def set_stage() -> Stage:
    """Store the shop, two orders of one customer, a request that waits and a card."""
    slug = "stage"
    tenant = Tenant.objects.create(slug=slug, name="Stage", currency="EUR")
    ada = Customer.objects.create(
        tenant=tenant, external_id="ada", email="ada@example.com", currency="EUR"
    )
    for number in ("2001", "2002"):
        _order(tenant, ada, number)
    customer = Principal(
        tenant_id=tenant.pk, proof=Proof.LOGIN, visitor="stage", customer_id=ada.pk
    )
    talk = services.open_conversation(principal=customer, now=clock.now())
    waiting = _card(customer, str(talk.pk), "2001")
    outcome = confirm(
        principal=customer,
        confirmation_id=waiting.id,
        shown_hash=waiting.hash,
        now=clock.now(),
    )
    return Stage(
        tenant=tenant,
        customer=customer,
        conversation_id=str(talk.pk),
        proposal_id=outcome.proposal_id,
        hash=get_proposal(outcome.proposal_id).hash,
        card=_card(customer, str(talk.pk), "2002"),
    )


def _order(tenant: Tenant, customer: Customer, number: str) -> None:
    order = Order.objects.create(
        tenant=tenant,
        customer=customer,
        number=number,
        number_key=order_key(number),
        email=customer.email,
        status="pending",
        currency="EUR",
        total_minor=4_990,
    )
    Payment.objects.create(
        order=order,
        reference="1",
        kind="payment",
        amount_minor=4_990,
        currency="EUR",
        status="completed",
    )


def _card(customer: Principal, conversation_id: str, number: str) -> Card:
    return ask_customer(
        principal=customer,
        action="orders.cancel",
        arguments={"order_number": number, "reason": "no longer needed"},
        origin=Origin(key=f"stage/{number}", conversation_id=conversation_id),
        evidence={},
        now=clock.now(),
    )
