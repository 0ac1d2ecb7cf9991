"""Why tickets are opened, what they may become and when two of them are one problem."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from tickets.errors import InQueueAlready, TicketFinished


class Reason(StrEnum):
    """Why something is handed to a person. The list is closed."""

    CUSTOMER_REQUEST = "customer_request"
    NO_ANSWER = "no_answer"
    UNSUPPORTED_REQUEST = "unsupported_request"
    POLICY_RESTRICTION = "policy_restriction"
    TOOL_FAILURE = "tool_failure"
    LIMIT_REACHED = "limit_reached"
    CHECKS_FAILED = "checks_failed"
    COMPLAINT = "complaint"
    ACTION_NEEDED = "action_needed"


# What people read in place of the reason's name.
REASON_TEXT: Mapping[Reason, str] = MappingProxyType(
    {
        Reason.CUSTOMER_REQUEST: "asks for a person",
        Reason.NO_ANSWER: "no answer was found",
        Reason.UNSUPPORTED_REQUEST: "a request the assistant cannot handle",
        Reason.POLICY_RESTRICTION: "outside the shop's rules",
        Reason.TOOL_FAILURE: "information could not be reached",
        Reason.LIMIT_REACHED: "a limit was reached",
        Reason.CHECKS_FAILED: "an answer did not pass its checks",
        Reason.COMPLAINT: "a complaint",
        Reason.ACTION_NEEDED: "something needs doing by a person",
    }
)


class TicketStatus(StrEnum):
    """Where a ticket stands."""

    OPEN = "open"  # the shop is to act
    WAITING = "waiting"  # the customer is to answer
    SOLVED = "solved"  # done, and may come back
    CLOSED = "closed"  # done for good


TRANSITIONS: Mapping[TicketStatus, frozenset[TicketStatus]] = MappingProxyType(
    {
        TicketStatus.OPEN: frozenset(
            {TicketStatus.WAITING, TicketStatus.SOLVED, TicketStatus.CLOSED}
        ),
        TicketStatus.WAITING: frozenset(
            {TicketStatus.OPEN, TicketStatus.SOLVED, TicketStatus.CLOSED}
        ),
        TicketStatus.SOLVED: frozenset({TicketStatus.OPEN, TicketStatus.CLOSED}),
        TicketStatus.CLOSED: frozenset(),
    }
)
# In one of these a ticket stands for its problem, and no second one is opened.
UNFINISHED = frozenset({TicketStatus.OPEN, TicketStatus.WAITING})


FIRST_NUMBER = 1001
_ORDER_PREFIX = "order:"
_TALK_PREFIX = "conversation:"
_PREFIX = re.compile(r"(?:ORDER|ORD)(?:NUMBER|NO)?(?=\w*\d)")


def check_can_move(status: TicketStatus, queue: str, wanted: str) -> None:
    """Raise unless a ticket of this status may go from its queue to the one that is wanted."""
    if status not in UNFINISHED:
        raise TicketFinished(f"The ticket is {status}. Open a new one.")
    if queue == wanted:
        raise InQueueAlready("The ticket waits in that queue already. Nothing was changed.")


def ticket_number(value: int) -> str:
    """Return a ticket's number as people say it."""
    return f"TKT-{value}"


def order_name(number: str | None) -> str:
    """Return an order number as it is shown: `# ord-1042 ` is `ORD-1042`. Empty without one."""
    text = unicodedata.normalize("NFKC", number or "").upper()
    return "".join(char for char in text if char.isalnum() or char == "-").strip("-")


def normalise_order(number: str | None) -> str:
    """Return the spelling-free form of an order number: `#1042` and `order 1042` are one."""
    bare = order_name(number).replace("-", "")
    prefix = _PREFIX.match(bare)
    return bare[prefix.end() :] if prefix else bare


def problem_key(order_number: str | None, conversation_id: str) -> str:
    """Name the problem a ticket is about: the order when one is named, else the conversation."""
    order = normalise_order(order_number)
    return f"{_ORDER_PREFIX}{order}" if order else f"{_TALK_PREFIX}{conversation_id}"


def is_about_order(problem: str) -> bool:
    """Tell whether a problem is an order's, and not a conversation's in general."""
    return problem.startswith(_ORDER_PREFIX)


def subject_line(reason: Reason, order_number: str | None) -> str:
    """Return a ticket's subject, made from the reason and the order alone."""
    text = REASON_TEXT[reason]
    order = order_name(order_number)
    return f"Order {order}: {text}" if order else text[0].upper() + text[1:]
