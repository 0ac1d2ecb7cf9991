"""Finding is not answering: a judge says whether the cited articles answer, and code checks it."""

from __future__ import annotations

import json

import pytest

from agents.adapters.offline.reviewing import judge_case
from agents.adapters.scripted import ScriptedModel, calls, fills, says
from agents.answer import AnswerableForm, AnswerForm
from agents.answerability import check_answerable, stands_in
from agents.errors import RunStopped, StopCause
from agents.loop import Agent
from agents.review import REFUSED, Desk, produce_answer
from dsupport.contract.llm import ChatMessage, ModelReply, StopReason
from dsupport.contract.tools import ToolResult
from tests.agents.engine import PASSAGE, make_agent, make_scope

QUESTION = "How long may I return a tent?"
ASK = (ChatMessage.user(QUESTION),)
SEARCH = calls(("search_kb", {"query": QUESTION}))
CITED = {
    "answer": "You have 30 days after delivery.",
    "intent": "return_policy",
    "sources": [{"doc_id": "returns"}],
    "confidence": 0.9,
}
UNKNOWN = {"answer": "I do not know that.", "intent": "return_policy", "confidence": 0.4}
PROOF = fills({"answers": True, "doc_id": "returns", "quote": PASSAGE.text})
YES = fills({"approved": True})


def produce(drafts, verdicts):
    script = {"solo": [SEARCH, *drafts], "answerability": list(verdicts), "reviewer": [YES]}
    model = ScriptedModel(script)
    scope = make_scope(model, words=(QUESTION,))
    judge = Agent(role="answerability", prompt="Judge.")
    reviewer = Agent(role="reviewer", prompt="Review.")
    desk = Desk(make_agent(), reviewer, {"return_policy"}, judge)
    return produce_answer(desk, ASK, scope, "m1/"), model, scope


def verdicts_of(scope):
    return [
        (data["answers"], data["proven"])
        for type, _, data in scope.trace.said
        if type == "answerability.finished"
    ]


def test_answer_whose_article_answers_goes_on_to_the_reviewer():
    form, model, scope = produce([fills(CITED)], [PROOF])
    assert form.answer == CITED["answer"]
    assert [r.role for r in model.requests] == ["solo", "solo", "answerability", "reviewer"]
    assert verdicts_of(scope) == [(True, True)]


def test_judge_sees_the_question_and_the_cited_passages_as_data_and_not_the_draft():
    _, model, _ = produce([fills(CITED)], [PROOF])
    case = json.loads(model.requests[2].messages[0].text)
    assert (case["question"], case["earlier"]) == (QUESTION, [])
    assert [passage["doc_id"] for passage in case["passages"]] == ["returns"]
    assert "draft" not in case


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        (fills({"answers": False}), (False, False)),
        (
            fills({"answers": True, "doc_id": "returns", "quote": "You have 90 days."}),
            (True, False),
        ),
        (fills({"answers": True, "doc_id": "other", "quote": PASSAGE.text}), (True, False)),
        (fills({"answers": True, "doc_id": "returns", "quote": ""}), (True, False)),
        (fills({"answers": True, "doc_id": "returns", "quote": "days"}), (True, False)),
        (says("Yes, it does."), (False, False)),
        (ModelReply((), StopReason.REFUSAL), (False, False)),
    ],
    ids=["no", "invented", "other-article", "no-quote", "a-word", "no-form", "refusal"],
)
def test_draft_that_no_article_proves_is_refused_and_the_model_may_say_so(verdict, said):
    form, model, scope = produce([fills(CITED), fills(UNKNOWN)], [verdict])
    assert form.answer == UNKNOWN["answer"]
    assert verdicts_of(scope) == [said]
    refusal = next(r for r in model.requests if r.messages[-1].text.startswith(REFUSED))
    assert "do not answer the question" in refusal.messages[-1].text


def test_model_that_insists_on_an_article_that_does_not_answer_ends_with_a_person():
    no = fills({"answers": False})
    with pytest.raises(RunStopped) as caught:
        produce([fills(CITED)] * 3, [no] * 3)
    assert caught.value.cause is StopCause.CHECKS_FAILED


def test_answer_that_stands_on_no_article_is_not_judged():
    _, model, scope = produce([fills(UNKNOWN)], [])
    assert [r.role for r in model.requests] == ["solo", "solo", "reviewer"]
    assert verdicts_of(scope) == []


def test_answer_that_hands_over_is_not_judged():
    wish = {"reason": "late_delivery", "summary": "They ask for a person."}
    form = AnswerForm(**{**CITED, "hand_over": wish})
    judge = Agent(role="answerability", prompt="Judge.")
    scope = make_scope(ScriptedModel([]), words=(QUESTION,))
    scope.evidence.add("m1/0", "search_kb", ToolResult(data={}, sources=(PASSAGE,)))
    assert check_answerable(judge, form, scope, "m1/0") == []


def test_quote_may_differ_in_white_space_alone():
    def verdict(quote):
        return AnswerableForm(answers=True, doc_id="returns", quote=quote)

    assert stands_in(verdict("You  have\n30 days after"), [PASSAGE])
    assert not stands_in(verdict("You have 30 days before"), [PASSAGE])


def test_rules_in_a_vendors_place_name_the_sentence_that_shares_most_with_the_question():
    passages = [{"doc_id": "a", "text": "Tents are green. You may return a tent within 30 days."}]
    verdict = judge_case(json.dumps({"question": QUESTION, "passages": passages}))
    assert verdict == {
        "answers": True,
        "doc_id": "a",
        "quote": "You may return a tent within 30 days.",
    }
    strange = judge_case(json.dumps({"question": "Bitcoin?", "passages": passages}))
    assert strange["answers"] is False
    assert judge_case("no json")["answers"] is False
