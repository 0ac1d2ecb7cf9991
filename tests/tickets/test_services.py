from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import IntegrityError, connection, transaction

from dsupport.contract.principal import Principal, Proof
from tests.conftest import make_tenant
from tests.tickets.conftest import NOW, open_for, wish
from tickets.errors import TicketNotFound
from tickets.models import Ticket, TicketCounter, TicketEvent
from tickets.services import get_ticket


def test_open_first_ticket_gets_the_first_number(customer):
    opened = open_for(customer, wish("#1042", summary="  Parcel is late.  ", reason="complaint"))
    assert not opened.already_open
    ticket = Ticket.objects.get()
    assert (ticket.number, ticket.status, ticket.queue.slug) == ("TKT-1001", "open", "support")
    assert (ticket.order_number, ticket.problem) == ("1042", "order:1042")
    assert (ticket.owner_key, ticket.customer_id) == ("customer:7", 7)
    assert (ticket.subject, ticket.summary) == ("Order 1042: a complaint", "Parcel is late.")
    assert [event.kind for event in ticket.events.all()] == ["opened"]


def test_open_numbers_count_in_each_shop(customer):
    elsewhere = Principal(make_tenant("other").pk, Proof.LOGIN, customer_id=7)
    numbers = [
        open_for(customer, wish("1")).ticket.number,
        open_for(customer, wish("2")).ticket.number,
        open_for(elsewhere, wish("1")).ticket.number,
    ]
    assert numbers == ["TKT-1001", "TKT-1002", "TKT-1001"]


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        (("1042", "a"), ("1042", "a"), True),
        (("1042", "a"), ("#1042", "b"), True),
        (("1042", "a"), ("1043", "a"), False),
        (("1042", "a"), (None, "a"), True),
        ((None, "a"), ("1042", "a"), True),
        ((None, "a"), (None, "a"), True),
        ((None, "a"), (None, "b"), False),
        (("1042", "a"), (None, "b"), False),
        ((None, "a"), ("1042", "b"), False),
        ((None, ""), (None, ""), True),
        ((None, ""), ("1042", ""), False),
    ],
)
def test_open_same_problem_is_found_again(customer, first, second, same):
    one = open_for(customer, wish(*first))
    other = open_for(customer, wish(*second, summary="Once more."))
    assert other.already_open is same
    assert (other.ticket.number == one.ticket.number) is same
    if same:
        events = list(TicketEvent.objects.filter(ticket=one.ticket))
        assert [(event.kind, event.note) for event in events] == [
            ("opened", "Wants a person."),
            ("asked_again", "Once more."),
        ]


@pytest.mark.parametrize("status", ["solved", "closed"])
def test_open_finished_ticket_does_not_count(customer, status):
    open_for(customer, wish("1042"))
    Ticket.objects.update(status=status)
    assert open_for(customer, wish("1042")).ticket.number == "TKT-1002"


def test_open_waiting_ticket_counts(customer):
    open_for(customer, wish("1042"))
    Ticket.objects.update(status="waiting")
    again = open_for(customer, wish("1042"), now=NOW + timedelta(hours=1))
    assert again.already_open
    assert Ticket.objects.get().updated_at == NOW + timedelta(hours=1)


def test_open_other_people_have_their_own(tenant, customer):
    open_for(customer, wish("1042"))
    for other in (
        Principal(tenant.pk, Proof.LOGIN, customer_id=8),
        Principal(tenant.pk, visitor="v1"),
        Principal(tenant.pk, visitor="v2"),
    ):
        assert not open_for(other, wish("1042")).already_open
    assert Ticket.objects.count() == 4


def test_open_hundred_at_once_give_one(committed_db):
    customer = Principal(make_tenant().pk, Proof.LOGIN, customer_id=7)
    gate = threading.Barrier(20)

    def one(index: int) -> tuple[str, bool]:
        try:
            if index < 20:
                gate.wait()
            # Half name the order and half do not: within one conversation they are one problem.
            opened = open_for(customer, wish("1042" if index % 2 else None))
            return opened.ticket.number, opened.already_open
        finally:
            connection.close()

    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(one, range(100)))
    assert {number for number, _ in answers} == {"TKT-1001"}
    assert sum(not already for _, already in answers) == 1
    assert Ticket.objects.count() == 1
    assert TicketEvent.objects.count() == 100
    assert TicketCounter.objects.get().value == 1001


def test_open_numbers_at_once_have_no_gap(committed_db):
    customer = Principal(make_tenant().pk, Proof.LOGIN, customer_id=7)

    def one(index: int) -> str:
        try:
            return open_for(customer, wish(str(index), talk=f"talk{index}")).ticket.number
        finally:
            connection.close()

    with ThreadPoolExecutor(10) as pool:
        numbers = sorted(pool.map(one, range(30)))
    assert numbers == [f"TKT-{1001 + index}" for index in range(30)]


def test_open_beside_a_writer_without_the_lock_finds_its_ticket(committed_db):
    """Another program inserts the ticket at the same time; the constraint decides."""
    customer = Principal(make_tenant().pk, Proof.LOGIN, customer_id=7)
    open_for(customer, wish("1"))  # so that queue and counter are there
    answers: list = []

    def wait_for_the_writer() -> None:
        try:
            answers.append(open_for(customer, wish("1042")))
        finally:
            connection.close()

    with transaction.atomic():
        ticket = Ticket.objects.get()
        ticket.pk, ticket.number, ticket.problem = None, "EXT-1", "order:1042"
        ticket.save(force_insert=True)
        asker = threading.Thread(target=wait_for_the_writer)
        asker.start()
        asker.join(0.5)
        assert asker.is_alive()  # held by the unique constraint until this commits
    asker.join(20)
    assert [(found.ticket.number, found.already_open) for found in answers] == [("EXT-1", True)]
    assert TicketCounter.objects.get().value == 1001


def test_table_refuses_a_second_open_ticket(customer):
    open_for(customer, wish("1042"))
    ticket = Ticket.objects.get()
    ticket.pk, ticket.number = None, "TKT-2000"
    with pytest.raises(IntegrityError, match="one_open_ticket_per_problem"), transaction.atomic():
        ticket.save(force_insert=True)
    ticket.status = "closed"
    ticket.save(force_insert=True)


@pytest.mark.parametrize("change", [{"status": "lost"}, {"reason": "boredom"}])
def test_table_refuses_unknown_words(customer, change):
    open_for(customer, wish())
    with pytest.raises(IntegrityError), transaction.atomic():
        Ticket.objects.update(**change)


def test_tickets_are_seen_by_their_owner_alone(tenant, customer):
    number = open_for(customer, wish()).ticket.number
    assert get_ticket(principal=customer, number=number).number == number
    other = Principal(tenant.pk, Proof.LOGIN, customer_id=8)
    elsewhere = Principal(make_tenant("other").pk, Proof.LOGIN, customer_id=7)
    messages = set()
    for asker, asked in ((other, number), (elsewhere, number), (customer, "TKT-9")):
        with pytest.raises(TicketNotFound) as refused:
            get_ticket(principal=asker, number=asked)
        messages.add(refused.value.message)
    assert len(messages) == 1
