from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tickets import rules
from tickets.rules import REASON_TEXT, TRANSITIONS, UNFINISHED, Reason, TicketStatus


def test_transitions_every_status_appears():
    assert set(TRANSITIONS) == set(TicketStatus)
    assert {target for targets in TRANSITIONS.values() for target in targets} <= set(TicketStatus)
    assert not TRANSITIONS[TicketStatus.CLOSED]
    assert all(TRANSITIONS[status] for status in UNFINISHED)


def test_reasons_each_has_a_text():
    assert set(REASON_TEXT) == set(Reason)


@pytest.mark.parametrize(
    "spelling",
    ["1042", "#1042", " 1042 ", "# 1042", "order 1042", "Order No. 1042", "ORD-1042", "１０４２"],
)
def test_order_spellings_are_one(spelling):
    assert rules.problem_key(spelling, "talk") == "order:1042"


@pytest.mark.parametrize(
    ("spelling", "key"),
    [("#W2378156", "W2378156"), ("w-23", "W23"), ("order", "ORDER"), ("ORDINARY", "ORDINARY")],
)
def test_order_other_forms_keep_their_letters(spelling, key):
    assert rules.normalise_order(spelling) == key


@pytest.mark.parametrize("nothing", [None, "", "  ", "#", "--", "\x00"])
def test_problem_without_an_order_is_the_conversation(nothing):
    assert rules.problem_key(nothing, "talk") == "conversation:talk"
    assert not rules.is_about_order(rules.problem_key(nothing, "talk"))


@given(st.text(max_size=30))
def test_order_name_is_stable_and_storable(number):
    name = rules.order_name(number)
    assert rules.order_name(name) == name
    assert rules.normalise_order(rules.normalise_order(number)) == rules.normalise_order(number)
    assert "\x00" not in name


def test_subject_is_made_of_reason_and_order_alone():
    assert rules.subject_line(Reason.COMPLAINT, "#1042") == "Order 1042: a complaint"
    assert rules.subject_line(Reason.CUSTOMER_REQUEST, None) == "Asks for a person"


def test_number_is_as_people_say_it():
    assert rules.ticket_number(1001) == "TKT-1001"
