"""The bounded loop: its limits, its tools, and every way a model can end a turn."""

from __future__ import annotations

import json
import threading
import time

import pytest

from agents.adapters.scripted import ScriptedModel, calls, says
from agents.assembly import Question
from agents.errors import RunStopped, StopCause
from agents.loop import Agent, run_agent
from agents.rules import Limits
from dsupport.contract.errors import PortError
from dsupport.contract.llm import ChatMessage, ModelReply, Opaque, ResultPart, StopReason, Usage
from dsupport.contract.tools import ToolResult, ToolSpec
from tests.agents.engine import TOOLS, MemoryJournal, Nothing, make_agent, make_scope

ASK = (ChatMessage.user("Where is order 1042?"),)


def run(model, agent=None, **scope):
    made = make_scope(model, **scope)
    return run_agent(agent or make_agent(), ASK, made, "m1/0/solo"), made


def stop_of(model, agent=None, **scope) -> StopCause:
    with pytest.raises(RunStopped) as caught:
        run(model, agent, **scope)
    return caught.value.cause


def results_in(request) -> list[ResultPart]:
    return [part for part in request.messages[-1].parts if isinstance(part, ResultPart)]


def test_loop_text_at_once_is_the_draft():
    draft, _ = run(ScriptedModel([says("Hello.")]))
    assert draft.text == "Hello."
    assert [message.role for message in draft.history] == ["user", "assistant"]


def test_loop_tool_then_text_shows_the_result_to_the_model():
    model = ScriptedModel([calls(("get_order", {"order_number": "1042"})), says("Late.")])
    _, scope = run(model)
    (part,) = results_in(model.requests[1])
    assert json.loads(part.content)["data"]["promised_on"] == "2026-10-05"
    assert [seen.tool for seen in scope.evidence.seen] == ["get_order"]


def test_loop_slow_tools_run_together_and_keep_their_order():
    together = threading.Barrier(2, timeout=5)

    def slow(name, pause):
        def body(arguments, context):
            together.wait()  # passes only when both are running at once
            time.sleep(pause)
            return ToolResult(data=name)

        return ToolSpec(name, name, Nothing, body)

    tools = {"first": slow("first", 0.05), "second": slow("second", 0)}
    model = ScriptedModel([calls(("first", {}), ("second", {})), says("Done.")])
    run(model, make_agent(tools=tools))
    assert [part.name for part in results_in(model.requests[1])] == ["first", "second"]


def test_loop_failing_tool_does_not_fail_its_neighbour():
    def broken(arguments, context):
        raise PortError("The carrier cannot be reached.", code="carrier_unavailable")

    tools = {**TOOLS, "track": ToolSpec("track", "Track.", Nothing, broken)}
    model = ScriptedModel(
        [calls(("track", {}), ("get_order", {"order_number": "1042"})), says("Done.")]
    )
    run(model, make_agent(tools=tools))
    first, second = results_in(model.requests[1])
    assert json.loads(first.content)["data"]["category"] == "unavailable"
    assert (first.is_error, second.is_error) == (True, False)


def test_loop_look_up_that_takes_its_time_has_the_turn_written_down_meanwhile():
    written = threading.Event()

    class Journal(MemoryJournal):
        def settle(self):
            if self.made:  # the turn that asked for it
                written.set()

    def waits(arguments, context):
        return ToolResult(data={"written": written.wait(5)})

    tools = {"slow": ToolSpec("slow", "Slow.", Nothing, waits)}
    model = ScriptedModel([calls(("slow", {})), says("Done.")])
    run(model, make_agent(tools=tools), journal=Journal())
    (part,) = results_in(model.requests[1])
    assert json.loads(part.content)["data"] == {"written": True}


def test_loop_slow_reading_tool_is_left_behind():
    ended = threading.Event()

    def endless(arguments, context):
        ended.wait(10)
        return ToolResult(data="late")

    tools = {"slow": ToolSpec("slow", "Slow.", Nothing, endless, timeout=0.05)}
    model = ScriptedModel([calls(("slow", {})), says("Done.")])
    run(model, make_agent(tools=tools))
    ended.set()
    (part,) = results_in(model.requests[1])
    assert json.loads(part.content)["data"]["error"] == "tool_timeout"


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (("no_such_tool", {}), "unknown_tool:no_such_tool"),
        (("get_order", {}), "missing_argument:order_number"),
        (("get_order", {"order_number": "1", "email": "a@b.example"}), "unknown_argument:email"),
        (("get_order", {"order_number": 1042}), "invalid_argument:order_number"),
    ],
)
def test_loop_wrong_call_gets_a_precise_error(call, code):
    model = ScriptedModel([calls(call), says("Sorry.")])
    run(model)
    (part,) = results_in(model.requests[1])
    assert part.is_error
    assert json.loads(part.content)["data"]["error"] == code


def test_loop_identical_failing_call_stops_the_run():
    wrong = ("get_order", {})
    assert (
        stop_of(ScriptedModel([calls(wrong), calls(wrong), says("?")])) is StopCause.REPEATED_CALL
    )


def test_loop_model_that_never_stops_reaches_the_turn_limit():
    endless = ScriptedModel([calls(("search_kb", {"query": f"q{i}"})) for i in range(50)])
    assert stop_of(endless, make_agent(max_turns=100)) is StopCause.TURNS
    assert len(endless.requests) == Limits().turns


def test_loop_agent_has_a_turn_limit_of_its_own():
    endless = ScriptedModel([calls(("search_kb", {"query": f"q{i}"})) for i in range(50)])
    assert stop_of(endless, make_agent(max_turns=3)) is StopCause.TURNS
    assert len(endless.requests) == 3


@pytest.mark.parametrize(
    ("limits", "usage", "cause"),
    [
        (Limits(tokens=100), Usage(1, 90, 20), StopCause.TOKENS),
        (Limits(cost=1_000), Usage(1, 1, 1, cost=1_000), StopCause.MONEY),
    ],
)
def test_loop_spent_budget_stops_before_the_next_call(limits, usage, cause):
    first = calls(("search_kb", {"query": "x"}))
    costly = ModelReply(first.parts, first.stop, usage, first.model)
    model = ScriptedModel([costly, says("Never said.")])
    assert stop_of(model, limits=limits) is cause
    assert len(model.requests) == 1


def test_loop_time_used_up_stops_the_run():
    assert stop_of(ScriptedModel([says("x")]), elapsed=lambda: 91.0) is StopCause.TIME


def test_loop_cancelled_run_asks_nothing_more():
    model = ScriptedModel([says("x")])
    assert stop_of(model, stop_asked=lambda: StopCause.CANCELLED) is StopCause.CANCELLED
    assert model.requests == []


@pytest.mark.parametrize(
    ("reply", "cause"),
    [
        (ModelReply((), StopReason.REFUSAL), StopCause.REFUSAL),
        (ModelReply((), StopReason.CONTEXT_FULL), StopCause.CONTEXT_FULL),
        (ModelReply((), StopReason.UNKNOWN), StopCause.UNKNOWN_STOP),
        (ModelReply((), StopReason.END_TURN), StopCause.EMPTY_REPLY),
        (ModelReply((), StopReason.TOOL_USE), StopCause.EMPTY_REPLY),
    ],
)
def test_loop_each_dead_end_has_its_cause(reply, cause):
    assert stop_of(ScriptedModel([reply])) is cause


def test_loop_truncated_tool_call_never_runs():
    cut = calls(("create_ticket", {}), stop=StopReason.MAX_TOKENS)
    journal = MemoryJournal()
    model = ScriptedModel([cut, says("Whole.")])
    draft, scope = run(model, journal=journal)
    assert draft.text == "Whole."
    assert scope.evidence.seen == []
    assert model.requests[1].max_output_tokens == 2 * model.requests[0].max_output_tokens
    assert model.requests[1].messages == model.requests[0].messages


def test_loop_truncated_twice_stops():
    cut = says("Half an ans", stop=StopReason.MAX_TOKENS)
    assert stop_of(ScriptedModel([cut, cut, says("x")])) is StopCause.TRUNCATED


def test_loop_pause_goes_on_a_bounded_number_of_times():
    pause = ModelReply((Opaque("m", {"thinking": "…"}),), StopReason.PAUSE)
    assert run(ScriptedModel([pause, says("Done.")]))[0].text == "Done."
    assert stop_of(ScriptedModel([pause] * 4 + [says("x")])) is StopCause.EMPTY_REPLY


def test_loop_resumed_run_repeats_no_finished_step():
    asked = calls(("get_order", {"order_number": "1042"}), ("search_kb", {"query": "late"}))
    journal = MemoryJournal()
    first = ScriptedModel([asked])  # the worker dies while it waits for the second reply
    with pytest.raises(RunStopped):
        run(first, journal=journal)
    resumed = MemoryJournal(journal.steps)
    second = ScriptedModel([says("Late by ten days.")])
    draft, scope = run(second, journal=resumed)
    assert draft.text == "Late by ten days."
    assert len(second.requests) == 1
    assert len(resumed.made) == 1
    assert [seen.tool for seen in scope.evidence.seen] == ["get_order", "search_kb"]


def test_loop_specialist_starts_fresh_and_reports():
    specialist = Agent(role="orders", prompt="Report.", tools={"get_order": TOOLS["get_order"]})
    ask = ToolSpec("ask_orders", "Ask.", Question, lambda a, c: ToolResult(data=None))
    lead = Agent(
        role="orchestrator",
        prompt="Lead.",
        tools={"ask_orders": ask},
        delegates={"ask_orders": specialist},
    )
    model = ScriptedModel(
        {
            "orchestrator": [calls(("ask_orders", {"question": "Find 1042"})), says("Done.")],
            "orders": [calls(("get_order", {"order_number": "1042"})), says("It is late.")],
        }
    )
    _, scope = run(model, lead)
    asked = [request for request in model.requests if request.role == "orders"]
    assert asked[0].messages == (ChatMessage.user("Find 1042"),)
    (report,) = results_in(model.requests[-1])
    assert json.loads(report.content)["data"] == {"report": "It is late."}
    assert {seen.tool for seen in scope.evidence.seen} == {"get_order", "ask_orders"}
