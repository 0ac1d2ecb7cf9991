"""The truth of an answer: nothing invented leaves."""

from __future__ import annotations

import pytest

from agents.answer import AnswerForm, CitedSource
from agents.evidence import Evidence
from agents.truth import check_answer
from dsupport.contract.tools import ToolResult
from tests.agents.engine import ORDER, PASSAGE

INTENTS = {"order_status", "return_policy"}


def codes(answer: str, evidence: Evidence, **fields) -> list[str]:
    form = AnswerForm.model_validate(
        {"answer": answer, "intent": "order_status", "confidence": 0.9, **fields}
    )
    return [problem.code for problem in check_answer(form, evidence, INTENTS)]


@pytest.fixture
def evidence() -> Evidence:
    found = Evidence(words=["Where is my order 1042? I paid 12.50 EUR for shipping."])
    found.add("a", "get_order", ToolResult(data=ORDER))
    article = ToolResult(
        data={"hits": [{"text": PASSAGE.text}]}, sources=(PASSAGE,), trust="article"
    )
    found.add("b", "search_kb", article)
    return found


@pytest.mark.parametrize(
    "answer",
    [
        "Order 1042 was promised for 5 October 2026 and is 10 days late.",
        "Order #1042 was promised for October 5th.",
        "The total is 49.90 EUR.",
        "The total is €49.90, and you paid €12.50 for shipping.",
        "It is ten days late.",
        "I do not know.",
    ],
)
def test_answer_from_evidence_passes(evidence, answer):
    assert codes(answer, evidence) == []


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ("Order 1043 is on its way.", "unsupported_identifier"),
        ("Parcel W2611340 is on its way.", "unsupported_identifier"),
        ("You get €49.99 back.", "unsupported_amount"),
        ("You get $49.90 back.", "unsupported_amount"),
        ("It arrives on 6 October 2026.", "unsupported_date"),
        ("It arrives on 2026-10-06.", "unsupported_date"),
        ("It arrives in 3 days.", "unsupported_span"),
        ("You have 50% off.", "unsupported_span"),
    ],
)
def test_answer_with_an_invention_is_refused(evidence, answer, code):
    assert codes(answer, evidence) == [code]


def test_answer_from_an_article_must_cite_it(evidence):
    answer = "You have 30 days to return it."
    assert codes(answer, evidence) == ["uncited_claim"]
    assert codes(answer, evidence, sources=[{"doc_id": "returns"}]) == []


def test_answer_with_an_unread_source_is_refused(evidence):
    assert codes("Hello.", evidence, sources=[CitedSource(doc_id="secret")]) == ["unknown_source"]


def test_answer_with_an_unknown_intent_is_refused(evidence):
    assert codes("Hello.", evidence, intent="be_nice") == ["unknown_intent"]


def test_answer_with_an_invented_ticket_is_refused(evidence):
    assert codes("Ticket TKT-9 is open.", evidence) == ["unknown_ticket"]
    assert "unknown_ticket" in codes("All good.", evidence, ticket_id="TKT-9", escalated=True)


def test_answer_claiming_a_hand_over_that_did_not_happen_is_refused(evidence):
    assert codes("A person will look.", evidence, escalated=True) == ["not_escalated"]


def test_answer_must_tell_the_ticket_that_was_opened(evidence):
    evidence.add("c", "create_ticket", ToolResult(data={"ticket": "TKT-1"}, ticket="TKT-1"))
    assert codes("A person will look.", evidence) == ["ticket_not_told", "ticket_not_told"]
    told = {"escalated": True, "ticket_id": "TKT-1"}
    assert codes("Your ticket is TKT-1.", evidence, **told) == []


def test_answer_may_name_a_ticket_the_customer_named():
    evidence = Evidence(words=["What about TKT-7?"])
    assert codes("I cannot see TKT-7.", evidence) == []


def test_answer_may_name_a_ticket_told_before():
    evidence = Evidence(words=["And now?"], known_tickets=frozenset({"TKT-7"}))
    assert codes("TKT-7 is with a person.", evidence, ticket_id="TKT-7", escalated=True) == []


def test_report_of_a_specialist_is_no_evidence():
    evidence = Evidence(words=["Where is it?"])
    report = ToolResult(data={"report": "Order 777777 comes on 2026-11-11."}, trust="specialist")
    evidence.add("a", "ask_orders", report)
    assert codes("Order 777777 comes on 11 November 2026.", evidence) != []
