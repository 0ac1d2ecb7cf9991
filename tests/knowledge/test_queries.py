"""Questions are cleaned and bounded; follow-ups are told from complete ones."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge.errors import EmptyQuery
from knowledge.rules.queries import QUERY_LIMIT, clean_query, needs_history, with_history


@pytest.mark.parametrize(
    ("query", "cleaned"),
    [
        ("  how\n long? ", "how long?"),
        ("a\x00b\x1fc", "a b c"),
        ("bad \ud800 half", "bad half"),
        ("e\u0301", "é"),
        ("😀😀", "😀😀"),
    ],
)
def test_query_is_one_clean_line(query, cleaned):
    assert clean_query(query) == cleaned


@pytest.mark.parametrize("query", ["", "  \n", "\x00\x00", "\ud800"])
def test_query_empty_one_is_refused(query):
    with pytest.raises(EmptyQuery):
        clean_query(query)


def test_query_long_one_keeps_its_beginning_and_its_end():
    text = clean_query("Order 1042. " + "blah " * 2_000 + "When does it arrive?")
    assert len(text) <= QUERY_LIMIT
    assert text.startswith("Order 1042.")
    assert text.endswith("When does it arrive?")


@settings(deadline=None)
@given(st.text(max_size=3_000))
def test_query_any_text_becomes_storable_or_is_refused(text):
    try:
        cleaned = clean_query(text)
    except EmptyQuery:
        return
    assert len(cleaned) <= QUERY_LIMIT
    assert "\x00" not in cleaned
    cleaned.encode()
    assert clean_query(cleaned) == cleaned


@pytest.mark.parametrize(
    "query",
    [
        "and for jeans?",
        "how long does it take?",
        "why?",
        "what about Japan",
        "is that free",
        "how much?",
    ],
)
def test_follow_up_is_not_understood_alone(query):
    assert needs_history(query)


@pytest.mark.parametrize(
    "query",
    ["pizza?", "who won the game last night?", "return window", "hi", "thanks", "", "😀",
     "when do you open on Saturday?",
     "I would like to know whether I can still return it although I have lost the box"],
)  # fmt: skip
def test_complete_question_needs_no_history(query):
    assert not needs_history(query)


def test_history_last_complete_message_goes_before_the_follow_up():
    history = ["what does shipping cost?", "can I return shoes?", "and then?"]
    assert with_history("how long does it take?", history) == (
        "can I return shoes? how long does it take?"
    )


def test_history_the_question_itself_is_not_its_own_past():
    assert with_history("and then?", ["and then?"]) == "and then?"
