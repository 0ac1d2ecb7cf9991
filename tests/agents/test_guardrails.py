"""Code at the three points: the model can neither see nor skip it."""

from __future__ import annotations

import json

import pytest

from agents.adapters.scripted import ScriptedModel, calls, fills, says
from agents.guardrails import Allow, Deny, Modify
from agents.loop import run_agent
from agents.review import Desk, produce_answer
from dsupport.contract.llm import ChatMessage
from dsupport.contract.tools import Source, ToolResult, ToolSpec
from tests.agents.engine import STRANGER, Nothing, OrderNumber, make_agent, make_scope

ASK = (ChatMessage.user("Where is order 1042?"),)
FORM = {"answer": "Hello.", "intent": "greeting", "confidence": 0.9}


def last_result(model) -> dict:
    return json.loads(model.requests[-1].messages[-1].parts[-1].content)["data"]


def test_stranger_asking_for_an_order_is_denied_before_the_tool_runs():
    ran = []
    body = lambda arguments, context: ran.append(1)  # noqa: E731
    spec = ToolSpec("get_order", "Read.", OrderNumber, body, personal=True)
    model = ScriptedModel([calls(("get_order", {"order_number": "1042"})), says("Sign in.")])
    scope = make_scope(model, principal=STRANGER)
    run_agent(make_agent(tools={"get_order": spec}), ASK, scope, "m")
    assert ran == []
    assert last_result(model)["error"] == "identity_needed"
    assert "guardrail.denied" in scope.trace.types()


def test_email_as_an_order_number_is_denied():
    asked = calls(("get_order", {"order_number": "bob@example.com"}))
    model = ScriptedModel([asked, says("No.")])
    run_agent(make_agent(), ASK, make_scope(model), "m")
    assert last_result(model)["error"] == "identity_argument:email"


def test_personal_data_in_a_result_is_masked_before_the_model_sees_it():
    def body(arguments, context):
        return ToolResult(data={"note": "call +4915112345678 or bob@example.com", "number": "1042"})

    model = ScriptedModel([calls(("look", {})), says("ok")])
    scope = make_scope(model, words=["I am anna@example.com"])
    run_agent(make_agent(tools={"look": ToolSpec("look", "L.", Nothing, body)}), ASK, scope, "m")
    assert last_result(model) == {"note": "call [phone] or [email]", "number": "1042"}
    assert "guardrail.modified" in scope.trace.types()


def test_second_ticket_of_a_run_is_denied_with_the_number():
    again = calls(("create_ticket", {}))
    model = ScriptedModel([calls(("create_ticket", {})), again, says("x")])
    scope = make_scope(model)
    run_agent(make_agent(), ASK, scope, "m")
    assert last_result(model)["error"] == "ticket_open:TKT-1001"
    assert scope.evidence.tickets == ["TKT-1001"]


class Watching:
    """Records the points it is asked at, and answers as told."""

    name = "watching"

    def __init__(self, before=None, after=None, final=None):
        self.verdicts = {"before": before, "after": after, "final": final}
        self.asked: list[str] = []

    def _say(self, point):
        self.asked.append(point)
        return self.verdicts[point] or Allow()

    def before_tool(self, spec, arguments, situation):
        return self._say("before")

    def after_tool(self, spec, result, situation):
        return self._say("after")

    def before_final(self, form, situation):
        return self._say("final")


def produce(model, guardrail):
    scope = make_scope(model, guardrails=(guardrail,))
    desk = Desk(make_agent(), None, {"greeting"})
    return produce_answer(desk, ASK, scope, "m1/"), scope


def test_guardrails_are_asked_at_three_points_in_order():
    watching = Watching()
    model = ScriptedModel([calls(("search_kb", {"query": "x"})), fills(FORM)])
    produce(model, watching)
    assert watching.asked == ["before", "after", "final"]


def test_changed_arguments_reach_the_tool():
    seen = []

    def body(arguments, context):
        seen.append(arguments.order_number)
        return ToolResult(data="ok")

    watching = Watching(before=Modify({"order_number": "1042"}, "normalised"))
    tools = {"get_order": ToolSpec("get_order", "R.", OrderNumber, body)}
    model = ScriptedModel([calls(("get_order", {"order_number": "#1042"})), says("x")])
    run_agent(make_agent(tools=tools), ASK, make_scope(model, guardrails=(watching,)), "m")
    assert seen == ["1042"]


def test_changed_arguments_are_validated_again():
    watching = Watching(before=Modify({"nonsense": 1}, "broken guardrail"))
    model = ScriptedModel([calls(("get_order", {"order_number": "1042"})), says("x")])
    run_agent(make_agent(), ASK, make_scope(model, guardrails=(watching,)), "m")
    assert last_result(model)["category"] == "invalid_input"


def test_denied_result_never_reaches_the_model():
    watching = Watching(after=Deny("withheld", "Go on without it."))
    model = ScriptedModel([calls(("get_order", {"order_number": "1042"})), says("x")])
    scope = make_scope(model, guardrails=(watching,))
    run_agent(make_agent(), ASK, scope, "m")
    assert last_result(model)["error"] == "withheld"
    assert "49.90" not in str(model.requests[-1].messages)


def test_refused_final_answer_goes_back_to_the_producer():
    class Once(Watching):
        def before_final(self, form, situation):
            self.asked.append("final")
            return Deny("rude", "Be polite.") if len(self.asked) == 1 else Allow()

    model = ScriptedModel([fills(FORM), fills({**FORM, "answer": "Good day."})])
    form, _ = produce(model, Once())
    assert form.answer == "Good day."
    assert "Be polite." in model.requests[1].messages[-1].text


@pytest.mark.parametrize("leak", ["bob@example.com", "4111 1111 1111 1111", "+49 151 1234 5678"])
def test_personal_data_of_nobody_present_is_masked_in_the_answer(leak):
    model = ScriptedModel([fills({**FORM, "answer": f"Write to {leak} please."})])
    scope = make_scope(model)
    form = produce_answer(Desk(make_agent(), None, {"greeting"}), ASK, scope, "m1/")
    assert leak not in form.answer


def test_addresses_that_articles_publish_may_be_quoted():
    source = Source("contact", "Contact", "E-mail", 1, 0.9, "Write to help@shop.example.")
    result = ToolResult(data={"text": source.text}, sources=(source,), trust="article")
    tools = {"find": ToolSpec("find", "F.", Nothing, lambda a, c: result)}
    answer = {**FORM, "answer": "Write to help@shop.example.", "sources": [{"doc_id": "contact"}]}
    model = ScriptedModel([calls(("find", {})), fills(answer)])
    desk = Desk(make_agent(tools=tools), None, {"greeting"})
    form = produce_answer(desk, ASK, make_scope(model), "m1/")
    assert "help@shop.example" in form.answer
