"""Askers and wishes for the tests of tickets."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from dsupport.contract.principal import Principal, Proof
from tickets.schemas import NewTicket
from tickets.services import Opened, open_ticket

NOW = datetime(2026, 10, 15, 9, 0, tzinfo=UTC)


@pytest.fixture
def customer(tenant) -> Principal:
    return Principal(tenant_id=tenant.pk, proof=Proof.LOGIN, customer_id=7)


def wish(order: str | None = None, talk: str = "talk", **fields: Any) -> NewTicket:
    values = {"reason": "customer_request", "summary": "Wants a person.", **fields}
    return NewTicket.model_validate_json(
        NewTicket.model_construct(
            order_number=order, conversation_id=talk, **values
        ).model_dump_json(warnings=False)
    )


def open_for(principal: Principal, new: NewTicket, now: datetime = NOW) -> Opened:
    return open_ticket(
        principal=principal, new=new, evidence={}, proposal_id="", run_id="", now=now
    )
