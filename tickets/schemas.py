"""What it takes to open a ticket."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints

from tickets.rules import Reason

MAX_SUMMARY = 2_000
MAX_ORDER_NUMBER = 50

Summary = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_SUMMARY)
]
OrderNumber = Annotated[str, StringConstraints(strip_whitespace=True, max_length=MAX_ORDER_NUMBER)]


class NewTicket(BaseModel):
    """The arguments of the actions `tickets.create` and `tickets.escalate`."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    reason: Reason
    summary: Summary
    order_number: OrderNumber | None = None
    conversation_id: str = ""


class Assignment(BaseModel):
    """The arguments of `tickets.assign`: a ticket by its number, a queue by its short name."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    ticket: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=24)]
    queue: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=40)]
