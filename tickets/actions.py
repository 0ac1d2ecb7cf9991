"""The consequential actions of this room, as the gate needs to know them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from approvals.registry import Action, Change, Execution, allow_anybody, register
from dsupport.contract.principal import Principal
from dsupport.contract.risk import RiskTier
from tickets.rules import TicketStatus, check_can_move, problem_key, subject_line
from tickets.schemas import Assignment, NewTicket
from tickets.services import (
    assign_ticket,
    find_open_ticket,
    get_queue,
    get_ticket,
    open_ticket,
)


def register_actions() -> None:
    """Register what a model may ask for, and what code falls back to.

    Both open a ticket. `tickets.create` can be switched off and is limited like any action;
    `tickets.escalate` is how code hands over, and that always works.
    """
    register(_open_action("tickets.create", always_on=False))
    register(_open_action("tickets.escalate", always_on=True))
    register(ASSIGN)


def _open_action(name: str, *, always_on: bool) -> Action:
    return Action(
        name=name,
        tier=RiskTier.LOW,
        arguments=NewTicket,
        permit=allow_anybody,
        validate=_allow_always,
        snapshot=_find_standing,
        current=_find_standing,
        describe=_describe,
        execute=_open,
        undo="Close the ticket.",
        intent_key=_intent,
        always_on=always_on,
    )


def _allow_always(_principal: Principal, _new: NewTicket, _now: datetime) -> None:
    """Let a ticket be opened in any state: one that is open already is found again."""


def _find_standing(principal: Principal, new: NewTicket) -> dict[str, Any]:
    ticket = find_open_ticket(principal=principal, new=new)
    return {"open_ticket": ticket.number if ticket else None}


def _describe(new: NewTicket, snapshot: Mapping[str, Any]) -> str:
    subject = subject_line(new.reason, new.order_number)
    standing = snapshot["open_ticket"]
    return f"Add to ticket {standing}: {subject}" if standing else f"Open a ticket: {subject}"


def _intent(principal: Principal, new: NewTicket) -> str:
    return f"{principal.owner_key}/{problem_key(new.order_number, new.conversation_id)}"


def _open(principal: Principal, new: NewTicket, execution: Execution) -> dict[str, Any]:
    opened = open_ticket(
        principal=principal,
        new=new,
        evidence=execution.evidence,
        proposal_id=execution.proposal_id,
        run_id=execution.run_id,
        now=execution.now,
    )
    return {
        "ticket": opened.ticket.number,
        "already_open": opened.already_open,
        "queue": opened.ticket.queue.name,
        "subject": opened.ticket.subject,
        "reason": str(new.reason),
    }


# --- who looks after it -----------------------------------------------------------------------


def _check_move(principal: Principal, wanted: Assignment, _now: datetime) -> None:
    ticket = get_ticket(principal=principal, number=wanted.ticket)
    queue = get_queue(principal=principal, slug=wanted.queue)
    check_can_move(TicketStatus(ticket.status), ticket.queue.slug, queue.slug)


def _queues(principal: Principal, wanted: Assignment) -> dict[str, Any]:
    return _read_queues(principal, wanted, lock=False)


def _queues_locked(principal: Principal, wanted: Assignment) -> dict[str, Any]:
    return _read_queues(principal, wanted, lock=True)


def _read_queues(principal: Principal, wanted: Assignment, *, lock: bool) -> dict[str, Any]:
    ticket = get_ticket(principal=principal, number=wanted.ticket, lock=lock)
    return {
        "order": ticket.order_number,
        "ticket": ticket.number,
        "subject": ticket.subject,
        "status": ticket.status,
        "queue": ticket.queue.name,
        "wanted": get_queue(principal=principal, slug=wanted.queue).name,
    }


def _move_words(_wanted: Assignment, state: Mapping[str, Any]) -> str:
    return f"Move ticket {state['ticket']} ({state['subject']}) to {state['wanted']}"


def _move(principal: Principal, wanted: Assignment, execution: Execution) -> dict[str, Any]:
    ticket = assign_ticket(
        principal=principal, number=wanted.ticket, slug=wanted.queue, now=execution.now
    )
    return {"ticket": ticket.number, "queue": ticket.queue.name}


ASSIGN = Action(
    name="tickets.assign",
    tier=RiskTier.MEDIUM,
    arguments=Assignment,
    permit=allow_anybody,
    validate=_check_move,
    snapshot=_queues,
    current=_queues_locked,
    describe=_move_words,
    changes=lambda _wanted, state: [Change("Queue", state["queue"], state["wanted"])],
    execute=_move,
    undo="Move it back.",
    intent_key=lambda principal, wanted: f"{principal.owner_key}/{wanted.ticket}/{wanted.queue}",
)
