"""Producer and reviewer: code first, then the reviewer, two revisions, then a person."""

from __future__ import annotations

import json

import pytest

from agents.adapters.scripted import ScriptedModel, calls, fills, says
from agents.errors import RunStopped, StopCause
from agents.loop import Agent
from agents.review import REFUSED, Desk, produce_answer
from dsupport.contract.llm import ChatMessage, ModelReply, StopReason
from tests.agents.engine import MemoryJournal, make_agent, make_scope

ASK = (ChatMessage.user("Where is order 1042?"),)
LOOK = calls(("get_order", {"order_number": "1042"}))
GOOD = {"answer": "It is 10 days late.", "intent": "order_status", "confidence": 0.9}
INVENTED = {**GOOD, "answer": "You get €500.00 back."}
YES = fills({"approved": True})
NO = fills({"approved": False, "problems": ["Answer the question."]})
REVIEWER = Agent(role="reviewer", prompt="Review.")


def produce(producer, reviewer=(YES,), journal=None):
    model = ScriptedModel({"solo": list(producer), "reviewer": list(reviewer)})
    scope = make_scope(model, journal=journal)
    desk = Desk(make_agent(), REVIEWER, {"order_status"})
    return produce_answer(desk, ASK, scope, "m1/"), model, scope


def roles(model) -> list[str]:
    return [request.role for request in model.requests]


def test_good_draft_is_reviewed_once():
    form, model, scope = produce([LOOK, fills(GOOD)])
    assert form.answer == "It is 10 days late."
    assert roles(model) == ["solo", "solo", "reviewer"]
    assert [
        data["approved"] for type, _, data in scope.trace.said if type == "review.finished"
    ] == [True]


def test_draft_that_code_refuses_never_reaches_the_reviewer():
    form, model, _ = produce([LOOK, fills(INVENTED), fills(GOOD)])
    assert form.answer == "It is 10 days late."
    assert roles(model) == ["solo", "solo", "solo", "reviewer"]
    assert model.requests[2].messages[-1].text.startswith(REFUSED)
    assert "€500.00" in model.requests[2].messages[-1].text


def test_reviewer_sees_question_draft_and_evidence_as_data():
    _, model, _ = produce([LOOK, fills(GOOD)])
    case = json.loads(model.requests[-1].messages[0].text)
    assert case["question"] == "Where is order 1042?"
    assert case["draft"]["answer"] == "It is 10 days late."
    assert case["evidence"][0]["data"]["days_late"] == 10


def test_two_revisions_then_a_person():
    with pytest.raises(RunStopped) as caught:
        produce([LOOK, fills(GOOD), fills(GOOD), fills(GOOD)], [NO, NO, NO])
    assert caught.value.cause is StopCause.CHECKS_FAILED


def test_third_draft_may_still_pass():
    form, model, _ = produce([LOOK, fills(GOOD), fills(GOOD), fills(GOOD)], [NO, NO, YES])
    assert form.answer == GOOD["answer"]
    assert roles(model).count("reviewer") == 3


def test_draft_that_is_no_form_is_asked_for_again():
    form, model, _ = produce([says("It is late."), LOOK, fills(GOOD)])
    assert form.answer == GOOD["answer"]
    assert "form" in model.requests[1].messages[-1].text


@pytest.mark.parametrize(
    "review",
    [
        says("Looks fine to me!"),
        fills({"approved": "perhaps"}),
        ModelReply((), StopReason.REFUSAL),
        fills({"approved": False}),
    ],
)
def test_review_that_cannot_be_read_is_a_refusal(review):
    form, model, _ = produce([LOOK, fills(GOOD), fills(GOOD)], [review, YES])
    assert form.answer == GOOD["answer"]
    assert roles(model).count("reviewer") == 2


def test_resumed_review_repeats_no_paid_call():
    journal = MemoryJournal()
    produce([LOOK, fills(GOOD)], [YES], journal)
    form, model, _ = produce([], [], MemoryJournal(journal.steps))
    assert form.answer == GOOD["answer"]
    assert model.requests == []
