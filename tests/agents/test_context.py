"""What the model sees: bounded, alternating, and never without an identifier that was named."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from agents.claims import find_claims
from agents.context import CHARS_PER_TOKEN, Said, assemble, render_context
from dsupport.contract.llm import Text

AUTHORS = st.sampled_from(["customer", "assistant", "staff", "system"])
NUMBERS = st.integers(1000, 99999).map(lambda n: f"About order {n}, paid €{n}.00 on 2026-01-02.")
WORDS = st.text("abcdefgh ", max_size=200)
TICKETS = st.sampled_from(["", "", "TKT-1001", "TKT-2002"])
TALK = st.lists(st.builds(Said, AUTHORS, NUMBERS | WORDS, TICKETS), max_size=30)


@given(TALK, st.integers(1, 200))
def test_no_identifier_amount_or_date_is_ever_lost(past, budget):
    seen = "\n".join(m.text for m in assemble(past, ["And now?"], budget_tokens=budget))
    shown = {claim.key for claim in find_claims(seen)}
    for said in past:
        needed = {c.key for c in find_claims(said.text) if c.kind != "span"}
        assert needed <= shown


@given(TALK, st.lists(st.text("xyz", min_size=1), min_size=1, max_size=3), st.integers(1, 200))
def test_roles_alternate_and_the_customer_has_the_last_word(past, words, budget):
    messages = assemble(past, words, budget_tokens=budget)
    roles = [message.role for message in messages]
    assert roles[0] == "user"
    assert all(a != b for a, b in pairwise(roles))
    assert messages[-1].parts == tuple(Text(word) for word in words)


@given(TALK, st.integers(1, 200))
def test_history_keeps_to_its_budget(past, budget):
    messages = assemble(past, ["?"], budget_tokens=budget)
    prose = sum(
        len(part.text)
        for message in messages[:-1]
        for part in message.parts
        if isinstance(part, Text) and not part.text.startswith("[")
    )
    assert prose <= budget * CHARS_PER_TOKEN


def test_dropped_ticket_is_remembered():
    past = [Said("assistant", "x" * 400, "TKT-1001"), Said("customer", "short")]
    first = assemble(past, ["?"], budget_tokens=20)[0].text
    assert "ticket TKT-1001 was opened" in first


def test_words_of_staff_and_system_are_marked():
    messages = assemble([Said("staff", "Hello, Sam here.")], ["Thanks"])
    assert messages[0].text == "[staff] Hello, Sam here."


def test_context_lists_everything_but_the_intents():
    text = render_context({"today": "2026-10-15", "intents": ["a"], "asker": "anonymous"})
    assert text == "<desk-context>\nasker: anonymous\ntoday: 2026-10-15\n</desk-context>"
