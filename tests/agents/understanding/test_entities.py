"""What a message names."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.understanding.entities import find_entities, fold_order, mask, same_order

TODAY = date(2026, 10, 15)  # a Thursday


def find(text: str):
    return find_entities(text, today=TODAY)


@pytest.mark.parametrize(
    ("text", "orders"),
    [
        ("where is my order 1042?", ("1042",)),
        ("Order no. 7 and order #12 please", ("7", "12")),
        ("refund ORD-1 for me", ("ORD-1",)),
        ("it is about #1042", ("1042",)),
        ("my order number is 1042.", ("1042",)),
        ("orders 1042, 1043 and 1044", ("1042", "1043", "1044")),
        ("what about #W2611340", ("#W2611340",)),
        ("W2611340 has not come", ("W2611340",)),
        ("cancel purchase 00004587345", ("00004587345",)),
        ("Wo ist meine Bestellung 1042?", ("1042",)),
        ("I want to order 2 lamps", ()),
        ("my order came 30 days ago", ()),
        ("my invoice INV-2041 is wrong", ()),
        ("the order was 49.90 euro", ()),
    ],
)
def test_orders_marked_as_such_are_found(text, orders):
    assert find(text).orders == orders


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("where is 1042", ("1042",)),
        ("call me on 020 555 0199", ("020", "555", "0199")),
        ("it costs $512 or 49,90 euro", ()),
        ("I waited 100 days", ()),
        ("I moved in 2025", ()),
        ("order 1042", ()),
        ("120 cm wide", ()),
    ],
)
def test_bare_numbers_are_weak(text, numbers):
    assert find(text).numbers == numbers


@pytest.mark.parametrize(
    ("text", "value", "currency"),
    [
        ("you took €512.64 from me", "512.64", "EUR"),
        ("49,90 euro please", "49.90", "EUR"),
        ("I paid $1,299.00", "1299.00", "USD"),
        ("around 40 dollars", "40", "USD"),
        ("5800 yen", "5800", "JPY"),
        ("£12", "12", "GBP"),
    ],
)
def test_amounts_are_read_both_ways_round(text, value, currency):
    (amount,) = find(text).amounts
    assert (amount.value, amount.currency) == (value, currency)


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("the thing I bought Monday", "2026-10-12", "2026-10-12"),
        ("bought it last Thursday", "2026-10-08", "2026-10-08"),
        ("I bought it yesterday", "2026-10-14", "2026-10-14"),
        ("ordered the day before yesterday", "2026-10-13", "2026-10-13"),
        ("ordered this morning", "2026-10-15", "2026-10-15"),
        ("what I ordered last week", "2026-10-05", "2026-10-11"),
        ("bought two weeks ago", "2026-09-28", "2026-10-04"),
        ("3 days ago", "2026-10-12", "2026-10-12"),
        ("on 3 March", "2026-03-03", "2026-03-03"),
        ("on March 3rd, 2025", "2025-03-03", "2025-03-03"),
        ("on 2026-09-01", "2026-09-01", "2026-09-01"),
        ("paid on 12/10", "2026-10-12", "2026-10-12"),
        ("paid on 10/13", "2026-10-13", "2026-10-13"),
        ("since the 12th", "2026-10-12", "2026-10-12"),
        ("promised for the 28th", "2026-09-28", "2026-09-28"),
        ("last month", "2026-09-01", "2026-09-30"),
        ("next Friday", "2026-10-16", "2026-10-16"),
    ],
)
def test_days_become_ranges(text, start, end):
    (day,) = find(text).days
    assert (day.start.isoformat(), day.end.isoformat()) == (start, end)


@pytest.mark.parametrize(
    "text",
    ["may I return it", "30 days", "I sat in the chair", "the second one", "31 February", "1042"],
)
def test_words_that_name_no_day_are_left(text):
    assert find(text).days == ()


def test_emails_and_tickets_are_found_apart_from_orders():
    found = find("ticket 1001, TKT-1002, mail me at emma.v@example.com")
    assert found.tickets == ("TKT-1001", "TKT-1002")
    assert found.emails == ("emma.v@example.com",)
    assert found.orders == ()
    assert found.numbers == ()


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("where is order no. 1042?", "where is order 12345?"),
        ("refund ORD-7 please", "refund order 12345 please"),
        ("#1042 or #W2611340", "order 12345 or order 12345"),
        ("write to a@example.com", "write to my email"),
        ("I want to order 2 lamps", "I want to order 2 lamps"),
    ],
)
def test_mask_puts_one_word_for_every_number(text, masked):
    assert mask(text) == masked


def test_spellings_of_one_order_are_the_same():
    assert same_order("#W2611340", "w2611340")
    assert same_order("ORD-1042", "1042")
    assert not same_order("1042", "1043")


@given(st.text(max_size=200), st.dates(date(2000, 1, 1), date(2100, 1, 1)))
def test_any_text_is_read_without_trouble(text, today):
    found = find_entities(text, today=today)
    assert all(day.start <= day.end for day in found.days)
    assert all(fold_order(order) for order in found.orders)


@given(st.integers(1, 28), st.dates(date(2020, 1, 1), date(2030, 1, 1)))
def test_a_number_of_days_ago_is_that_day(count, today):
    (day,) = find_entities(f"{count} days ago", today=today).days
    assert day.start == day.end == today - timedelta(days=count)
