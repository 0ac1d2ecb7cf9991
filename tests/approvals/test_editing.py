"""Arguments become fields that a person edits, and fields become arguments again."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, TypeAdapter

from approvals.editing import blanks_of, read_blanks
from orders.actions.arguments import (
    Cancel,
    ChangeAddress,
    ChangePayment,
    Refund,
    Return,
    SwapItems,
)

WORD = st.text("abcdef0123456789-", min_size=1, max_size=12)


class Odd(BaseModel):
    count: int
    sure: bool = False
    kind: Literal["only"] = "only"
    note: Annotated[str, Field(max_length=9)] | None = None


FORMS: dict[type[BaseModel], Any] = {
    Cancel: {"order_number": "1042", "reason": "ordered by mistake"},
    ChangePayment: {"order_number": "1042", "payment_method": "card_1"},
    Return: {"order_number": "1042", "items": ["a", "a", "b"], "payment_method": "card_1"},
    SwapItems: {
        "order_number": "1042",
        "swaps": [{"old": "a", "new": "b"}, {"old": "c", "new": "d"}],
        "payment_method": "card_1",
    },
    Refund: {"order_number": "1042", "amount": None, "items": ["a"], "reason": "late"},
    Odd: {"count": -3, "sure": True, "kind": "only", "note": None},
}


def posted(model: type[BaseModel], arguments: Any) -> dict[str, str]:
    return {blank.name: blank.value for blank in blanks_of(model, arguments)}


@pytest.mark.parametrize("model", FORMS, ids=lambda model: model.__name__)
def test_form_sent_back_untouched_is_the_same_request(model):
    assert read_blanks(model, posted(model, FORMS[model])) == FORMS[model]


@given(st.lists(st.fixed_dictionaries({"old": WORD, "new": WORD}), max_size=8), WORD)
def test_lists_of_any_length_come_back_in_their_order(swaps, method):
    arguments = {"order_number": "1", "swaps": swaps, "payment_method": method}
    assert read_blanks(SwapItems, posted(SwapItems, arguments)) == arguments


def test_an_entry_is_added_in_the_empty_line_and_removed_by_emptying_it():
    form = posted(SwapItems, FORMS[SwapItems])
    form |= {"swaps.0.old": "", "swaps.0.new": " ", "swaps.2.old": "e", "swaps.2.new": "f"}
    read = read_blanks(SwapItems, form)
    assert read["swaps"] == [{"old": "c", "new": "d"}, {"old": "e", "new": "f"}]


def test_choices_are_offered_and_what_may_be_empty_is_not_required():
    blanks = {blank.name: blank for blank in blanks_of(Refund, FORMS[Refund])}
    assert "damaged" in blanks["reason"].choices
    assert (blanks["reason"].required, blanks["amount"].required) == (True, False)
    assert blanks["items"].many
    address = {blank.name: blank for blank in blanks_of(ChangeAddress, {})}
    assert (address["line1"].label, address["line1"].required) == ("Line1", True)
    assert not address["line2"].required


def test_what_is_no_number_stays_as_it_was_written_for_the_gate_to_refuse():
    read = read_blanks(Odd, {"count": "three", "sure": "perhaps"})
    assert (read["count"], read["sure"]) == ("three", "perhaps")
    with pytest.raises(ValueError, match="count"):
        TypeAdapter(Odd).validate_python(read, strict=True)


def test_nothing_beyond_the_fields_of_the_action_is_read():
    form = posted(Cancel, FORMS[Cancel]) | {"customer_id": "9", "swaps.0.old": "x"}
    assert read_blanks(Cancel, form) == FORMS[Cancel]
