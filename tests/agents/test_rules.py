"""Messages and run states."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.errors import EmptyMessage, MessageTooLong, UnreadableMessage
from agents.rules import ACTIVE, TRANSITIONS, RunStatus, can_become, check_message


@pytest.mark.parametrize("text", ["", "   ", "\n\t", "\u200b\u200b", "\u2066\u2069", "\x07"])
def test_message_without_words_is_refused(text):
    with pytest.raises(EmptyMessage):
        check_message(text)


@pytest.mark.parametrize("text", ["a\x00b", "\ud800", None, 7, ["x"], {"a": 1}])
def test_message_that_is_no_text_is_refused(text):
    with pytest.raises(UnreadableMessage):
        check_message(text)


def test_message_of_8001_characters_is_refused_with_its_length():
    assert check_message("x" * 8_000) == "x" * 8_000
    with pytest.raises(MessageTooLong, match="8,001"):
        check_message("x" * 8_001)


@pytest.mark.parametrize("text", ["🙂", "👩‍👩‍👧", "?", "日本語", "é"])
def test_short_message_is_taken_as_typed(text):
    assert check_message(text) == text


@given(st.text(max_size=500))
def test_message_is_kept_or_refused_and_then_stable(text):
    try:
        kept = check_message(text)
    except (EmptyMessage, UnreadableMessage):
        return
    assert check_message(kept) == kept
    assert "\r" not in kept


def test_every_state_of_a_run_stands_in_the_table():
    assert set(TRANSITIONS) == set(RunStatus)


def test_an_ended_run_goes_nowhere():
    for status in set(RunStatus) - ACTIVE:
        assert TRANSITIONS[status] == frozenset()


def test_every_state_can_be_reached_and_every_active_one_can_end():
    reached = {new for targets in TRANSITIONS.values() for new in targets}
    assert reached == set(RunStatus)
    for status in ACTIVE:
        assert any(can_become(status, end) for end in set(RunStatus) - ACTIVE)
