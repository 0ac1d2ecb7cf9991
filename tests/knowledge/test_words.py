"""Words are compared by stem, numbers by their letters and digits."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge.rules.words import (
    find_identifiers,
    find_stems,
    find_terms,
    is_number,
    lone_identifiers,
)


@pytest.mark.parametrize(
    ("text", "stems"),
    [
        ("How many days do I have to return an item?", ["mani", "day", "return", "item"]),
        ("Returning returned RETURNS", ["return"]),
        ("what's the customer’s e-mail", ["custom", "e", "mail"]),
        ("a 30-day or 2-year warranty", ["30", "day", "2", "year", "warranti"]),
        ("ORD-1042", ["ord1042", "1042"]),
        ("AB/12-3", ["ab123"]),
        ("１０４２", ["1042"]),
        ("the and of", []),
        ("", []),
    ],
)
def test_stems_are_those_of_content_words(text, stems):
    assert find_stems(text) == stems


def test_stems_follow_the_language():
    assert find_stems("Rückgaben", "de") == find_stems("Rückgabe", "de-AT")
    assert find_stems("Lieferungen", "de") != find_stems("Lieferungen", "en")


def test_terms_of_a_code_list_what_would_answer_it():
    assert find_terms("where is ORD-1042") == [("ord1042", "1042")]


@pytest.mark.parametrize(
    "query", ["1042", "ORD 1042", "ord-1042", "#1042", "Order no. 1042", "ORD1042"]
)
def test_identifier_every_spelling_meets_the_order_number(query):
    stored = find_identifiers("The example order ORD-1042 was sent on Monday.")
    assert set(lone_identifiers(query)) & set(stored)


@pytest.mark.parametrize("query", ["AB/12-3", "ab12-3", "ab-12/3", "AB123", "ab123"])
def test_identifier_every_spelling_meets_the_part_number(query):
    assert set(lone_identifiers(query)) & set(find_identifiers("Spare part AB/12-3, steel"))


@pytest.mark.parametrize("query", ["TRK-1042", "TRK 1042", "10422", "ord-1043", "INV-1042"])
def test_identifier_another_number_does_not_meet_it(query):
    assert not set(lone_identifiers(query)) & set(find_identifiers("Order ORD-1042"))


@pytest.mark.parametrize(
    "query",
    ["where is 1042", "refund for ORD-1042 please", "30", "30-day", "hello", "", "24/7", "2-year"],
)
def test_identifier_other_questions_are_not_one_number(query):
    assert lone_identifiers(query) == []


@pytest.mark.parametrize(
    ("query", "number"),
    [("1042", True), ("ORD-1042", True), ("ab12-3", True), ("iphone15", False), ("refund", False)],
)
def test_number_needs_three_digits(query, number):
    assert is_number(query) is number


@settings(deadline=None)
@given(st.text(max_size=200))
def test_words_any_text_is_read_without_fault(text):
    stems = find_stems(text)
    assert len(stems) == len(set(stems))
    assert set(lone_identifiers(text)) <= {
        form for form in lone_identifiers(text) if form.isalnum()
    }
    assert all(form == form.casefold() for form in find_identifiers(text))


@settings(deadline=None)
@given(st.sampled_from(["-", "/", "", "#", "."]), st.integers(1000, 10**9))
def test_identifier_joining_sign_does_not_matter(sign, number):
    assert f"ord{number}" in find_identifiers(f"see ord{sign}{number} there")
