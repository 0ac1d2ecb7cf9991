"""Personal data has another name outside, and its own again inside."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.pseudonyms import Hiding, Pseudonyms
from dsupport.contract.llm import (
    CallPart,
    ChatMessage,
    ModelReply,
    ModelRequest,
    ResultPart,
    StopReason,
    Text,
)
from dsupport.contract.tools import ToolCall

STREET = "12 Canal Street"
WORDS = (
    "I am ann@example.com, call +31612345678. I live at 12 canal street. "
    "My card is 4111 1111 1111 1111 and my IBAN NL91 ABNA 0417 1643 00. Order 1042, TRK-77812."
)


def test_hidden_text_holds_none_of_it_and_keeps_the_facts_of_the_case():
    hidden = Pseudonyms([STREET]).hide(WORDS)
    for secret in ("ann@", "31612345678", "canal", "4111", "ABNA"):
        assert secret not in hidden
    assert "Order 1042, TRK-77812." in hidden
    assert "[EMAIL_1]" in hidden
    assert "[ADDRESS_1]" in hidden


def test_same_value_has_one_name_in_any_spelling():
    names = Pseudonyms()
    hidden = names.hide("ann@example.com or Ann@Example.com, not bob@example.com")
    assert hidden == "[EMAIL_1] or [EMAIL_1], not [EMAIL_2]"
    assert names.hide("bob@example.com") == "[EMAIL_2]"


def test_name_that_a_customer_typed_is_never_put_back_as_somebodys_data():
    names = Pseudonyms()
    names.hide("ann@example.com")
    typed = names.hide("What is [EMAIL_1]?")
    assert names.reveal(typed) == "What is [EMAIL 1]?"


def test_name_that_was_never_given_stays():
    assert Pseudonyms().reveal("Write to [EMAIL_7].") == "Write to [EMAIL_7]."


@given(
    st.lists(
        st.sampled_from(["ann@example.com", "+31612345678", STREET, "4111 1111 1111 1111", "and"])
        | st.text(alphabet=st.characters(exclude_characters="[]", codec="utf-8"), max_size=12),
        max_size=8,
    ).map(" ".join)
)
def test_what_was_hidden_comes_back_as_it_was(text):
    names = Pseudonyms([STREET])
    hidden = names.hide(text)
    assert "ann@example.com" not in hidden
    assert names.hide(names.reveal(hidden)) == hidden
    if text.casefold() == text or "canal" not in text.casefold():
        assert names.reveal(hidden) == text


@pytest.mark.parametrize("line", ["", " ", "1", "NL", "abc"])
def test_short_lines_of_an_address_hide_nothing(line):
    assert Pseudonyms([line]).hide("1 NL abc") == "1 NL abc"


class Echo:
    """A model that calls a tool and answers with what it has seen."""

    def __init__(self) -> None:
        self.seen: list[ModelRequest] = []

    def next(self, request: ModelRequest) -> ModelReply:
        self.seen.append(request)
        words = request.messages[-1].text
        call = CallPart(ToolCall("c", "search_kb", {"query": words, "list": [words]}))
        return ModelReply((Text(words), call), StopReason.TOOL_USE)

    structured = next


def test_request_goes_out_hidden_and_the_reply_comes_back_whole():
    echo = Echo()
    told = ResultPart(
        "c0", "get_order", '{"ship_to": "12 Canal Street", "mail": "ann@example.com"}'
    )
    request = ModelRequest(
        role="solo",
        system="You help.",
        messages=(
            ChatMessage.user("Hello"),
            ChatMessage(
                "assistant", (CallPart(ToolCall("c0", "get_order", {"n": "a@b.example"})),)
            ),
            ChatMessage("user", (told, Text("Send it to ann@example.com"))),
        ),
        context={"asker_name": "Ann", "note": "+31612345678"},
    )
    reply = Hiding(echo, Pseudonyms([STREET])).next(request)
    outside = repr(echo.seen)
    for secret in ("ann@", "a@b", "Canal", "31612345678"):
        assert secret not in outside
    assert reply.text == "Send it to ann@example.com"
    assert dict(reply.calls[0].arguments) == {
        "query": "Send it to ann@example.com",
        "list": ["Send it to ann@example.com"],
    }
