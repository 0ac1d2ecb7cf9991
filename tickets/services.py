"""Opening tickets and moving them between queues."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction

from dsupport.contract.principal import Principal
from tickets import rules
from tickets.errors import QueueNotFound, TicketNotFound
from tickets.models import Queue, Ticket, TicketCounter, TicketEvent
from tickets.schemas import NewTicket

_DEFAULT_QUEUE = ("support", "Support")


@dataclass(frozen=True, slots=True)
class Opened:
    """The ticket a problem has, and whether it was there before."""

    ticket: Ticket
    already_open: bool


@dataclass(frozen=True, slots=True)
class _Wish:
    """Who asks for what ticket, and where it comes from."""

    principal: Principal
    new: NewTicket
    problem: str
    evidence: Mapping[str, Any]
    proposal_id: str
    run_id: str
    now: datetime


def open_ticket(
    *,
    principal: Principal,
    new: NewTicket,
    evidence: Mapping[str, Any],
    proposal_id: str,
    run_id: str,
    now: datetime,
) -> Opened:
    """Give a problem its ticket: a new one, or the one that is open for it already.

    However many ask at once, one ticket comes of it; the others' words are kept on it. The gate
    calls this and writes the audit entry.
    """
    problem = rules.problem_key(new.order_number, new.conversation_id)
    wish = _Wish(principal, new, problem, evidence, proposal_id, run_id, now)
    with transaction.atomic():
        ticket = find_open_ticket(principal=principal, new=new)
        if ticket is None:
            try:
                with transaction.atomic():
                    return _open_locked(wish)
            except IntegrityError:
                # Somebody who did not take the lock was faster; the constraint held.
                ticket = find_open_ticket(principal=principal, new=new)
                if ticket is None:
                    raise
        return _ask_again(wish, ticket)


def find_open_ticket(*, principal: Principal, new: NewTicket) -> Ticket | None:
    """Return the unfinished ticket that the asker has for this problem."""
    problem = rules.problem_key(new.order_number, new.conversation_id)
    rows = Ticket.objects.for_principal(principal).unfinished()
    found: Ticket | None = (
        rows.of_problem(problem, new.conversation_id).select_related("queue").order_by("id").first()
    )
    return found


def get_ticket(*, principal: Principal, number: str, lock: bool = False) -> Ticket:
    """Return one of the asker's own tickets by its number; with `lock`, it stays as it is."""
    rows = Ticket.objects.for_principal(principal).select_related("queue")
    if lock:
        rows = rows.select_for_update(of=("self",))
    ticket: Ticket | None = rows.filter(number=number).first()
    if ticket is None:
        raise TicketNotFound("There is no ticket of this number here. Check the number.")
    return ticket


def get_queue(*, principal: Principal, slug: str) -> Queue:
    """Return a queue of the asker's shop."""
    rows = Queue.objects.filter(tenant_id=principal.tenant_id)
    found = rows.filter(slug=slug).first()
    if found is None:
        known = ", ".join(rows.values_list("slug", flat=True))
        raise QueueNotFound(f"There is no such queue. Choose one of: {known or 'none yet'}.")
    return found


def assign_ticket(*, principal: Principal, number: str, slug: str, now: datetime) -> Ticket:
    """Have a ticket wait in another queue, and say so in its history."""
    with transaction.atomic():
        ticket = get_ticket(principal=principal, number=number, lock=True)
        before, after = ticket.queue, get_queue(principal=principal, slug=slug)
        rules.check_can_move(rules.TicketStatus(ticket.status), before.slug, after.slug)
        ticket.queue, ticket.updated_at = after, now
        ticket.save(update_fields=["queue", "updated_at"])
        TicketEvent.objects.create(
            ticket=ticket,
            at=now,
            kind=TicketEvent.Kind.MOVED,
            actor=principal.owner_key,
            reason=ticket.reason,
            note=f"{before.name} to {after.name}",
            conversation_id=ticket.conversation_id,
        )
    return ticket


def _open_locked(wish: _Wish) -> Opened:
    """Open under the lock of the shop's counter, after looking again: others may have waited."""
    tenant_id = wish.principal.tenant_id
    TicketCounter.objects.bulk_create(
        [TicketCounter(tenant_id=tenant_id, value=rules.FIRST_NUMBER - 1)], ignore_conflicts=True
    )
    counter = TicketCounter.objects.select_for_update().get(tenant_id=tenant_id)
    ticket = find_open_ticket(principal=wish.principal, new=wish.new)
    if ticket is not None:
        return _ask_again(wish, ticket)
    value = counter.value + 1
    ticket = _insert(wish, rules.ticket_number(value))
    TicketCounter.objects.filter(pk=tenant_id).update(value=value)
    _add_event(wish, ticket, TicketEvent.Kind.OPENED)
    return Opened(ticket, already_open=False)


def _insert(wish: _Wish, number: str) -> Ticket:
    slug, name = _DEFAULT_QUEUE
    tenant_id, new = wish.principal.tenant_id, wish.new
    queue, _ = Queue.objects.get_or_create(tenant_id=tenant_id, slug=slug, defaults={"name": name})
    ticket: Ticket = Ticket.objects.create(
        tenant_id=tenant_id,
        number=number,
        queue=queue,
        owner_key=wish.principal.owner_key,
        customer_id=wish.principal.customer_id,
        conversation_id=new.conversation_id,
        run_id=wish.run_id,
        order_number=rules.order_name(new.order_number),
        problem=wish.problem,
        reason=new.reason,
        subject=rules.subject_line(new.reason, new.order_number),
        summary=new.summary,
        status=rules.TicketStatus.OPEN,
        evidence=dict(wish.evidence),
        proposal_id=wish.proposal_id,
        created_at=wish.now,
        updated_at=wish.now,
    )
    return ticket


def _ask_again(wish: _Wish, ticket: Ticket) -> Opened:
    Ticket.objects.filter(pk=ticket.pk).update(updated_at=wish.now)
    _add_event(wish, ticket, TicketEvent.Kind.ASKED_AGAIN)
    return Opened(ticket, already_open=True)


def _add_event(wish: _Wish, ticket: Ticket, kind: TicketEvent.Kind) -> None:
    TicketEvent.objects.create(
        ticket=ticket,
        at=wish.now,
        kind=kind,
        actor=wish.principal.owner_key,
        reason=wish.new.reason,
        note=wish.new.summary,
        conversation_id=wish.new.conversation_id,
    )
