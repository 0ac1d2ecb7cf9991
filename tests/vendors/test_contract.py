"""What every adapter promises: each ending, each fault, one attempt, and nothing half."""

from __future__ import annotations

import json

import pytest

from agents.adapters.vendors.house import House, RoleModel
from agents.adapters.vendors.trouble import VendorError
from agents.answer import AnswerForm, parse_form
from dsupport.contract.llm import (
    CallPart,
    ChatMessage,
    Opaque,
    ResultPart,
    StopReason,
    Text,
)
from dsupport.contract.tools import ToolCall
from tests.vendors.conftest import FORM, LOOK_UP, asking, form_text
from tests.vendors.script import Breaks, Fault, Says

CALL = ("get_order", {"order_number": "1042"})
QUESTION = ChatMessage.user("Where is my order 1042?")


# --- endings --------------------------------------------------------------------------------


def test_answer_fills_the_form_and_is_counted(vendor):
    vendor.plays(Says(form_text(), prompt_tokens=1_000, output_tokens=50, cached_tokens=600))
    reply = vendor.ask()
    assert reply.stop is StopReason.END_TURN
    form, _ = parse_form(AnswerForm, reply.text)
    assert form is not None
    assert form.answer == FORM["answer"]
    usage = reply.usage
    assert (usage.input_tokens, usage.output_tokens, usage.cached_tokens) == (1_000, 50, 600)
    assert usage.cost == 400 * 2 + 50 * 10 + 60  # 600 tokens from the cache at 0.1


def test_model_is_named_as_it_answered(vendor):
    vendor.plays(Says(form_text(), model="model-a-20261001"))
    reply = vendor.ask()
    assert reply.model == "model-a-20261001"
    assert reply.usage.cost > 0  # the price of its family


def test_call_comes_with_its_arguments(vendor):
    vendor.plays(Says(calls=(CALL,)))
    reply = vendor.ask()
    assert reply.stop is StopReason.TOOL_USE
    (call,) = reply.calls
    assert (call.name, dict(call.arguments), call.malformed) == (
        "get_order",
        {"order_number": "1042"},
        "",
    )
    assert call.id


def test_parallel_calls_keep_their_order(vendor):
    if vendor.kind == "local":
        pytest.skip("one step at a time")
    asked = tuple(("get_order", {"order_number": str(n)}) for n in range(4))
    vendor.plays(Says("Looking.", calls=asked))
    reply = vendor.ask()
    assert [call.arguments["order_number"] for call in reply.calls] == ["0", "1", "2", "3"]
    assert len({call.id for call in reply.calls}) == 4


@pytest.mark.parametrize("raw", ['{"order_number": "10', "[1042]", '"1042"', "nonsense"])
def test_broken_arguments_are_kept_for_the_engine_to_refuse(vendor, raw):
    vendor.plays(Says(calls=(("get_order", raw),)))
    reply = vendor.ask()
    if vendor.kind == "local" and reply.stop is StopReason.END_TURN:
        assert parse_form(AnswerForm, reply.text)[0] is None
        return
    (call,) = reply.calls
    assert (dict(call.arguments), call.malformed) == ({}, raw)


def test_unknown_tool_and_extra_arguments_pass_to_the_engines_own_check(vendor):
    vendor.plays(Says(calls=(("drop_tables", {"customer_id": 7}),)))
    (call,) = vendor.ask().calls
    assert (call.name, dict(call.arguments)) == ("drop_tables", {"customer_id": 7})


def test_reply_cut_inside_a_call_brings_no_call(vendor):
    """`{"order_number": "1"` reads like a whole wrong order once a parser has closed it."""
    vendor.plays(Says("Giving back.", calls=(("refund", '{"order_number": "1"'),), stop="length"))
    reply = vendor.ask()
    assert reply.stop is StopReason.MAX_TOKENS
    assert reply.calls == ()


def test_refusal_has_its_own_ending_even_without_words(vendor):
    vendor.plays(Says(stop="refusal"))
    reply = vendor.ask()
    assert (reply.stop, reply.text, reply.calls) == (StopReason.REFUSAL, "", ())


def test_unknown_ending_is_said_to_be_unknown(vendor):
    vendor.plays(Says("Hm.", stop="unknown"))
    assert vendor.ask().stop is StopReason.UNKNOWN


def test_empty_answer_is_empty(vendor):
    vendor.plays(Says(""))
    reply = vendor.ask()
    assert (reply.stop, reply.text) == (StopReason.END_TURN, "")


def test_pause_and_full_context_are_told_apart_from_an_end():
    from tests.vendors.claude import FakeClaude
    from tests.vendors.conftest import Vendor

    for stop, reason in (("pause", StopReason.PAUSE), ("context", StopReason.CONTEXT_FULL)):
        with FakeClaude([Says("So far.", stop=stop)]) as fake:
            vendor = Vendor("claude", lambda _script, fake=fake: fake).plays()
            assert vendor.ask().stop is reason
            vendor.adapter.close()


def test_prompt_that_is_too_long_is_a_full_context_and_no_error(vendor):
    kind = "invalid_request_error" if vendor.kind == "claude" else "context_length_exceeded"
    vendor.plays(Fault(400, kind, "prompt is too long: 1,200,000 tokens > 1,000,000 maximum"))
    reply = vendor.ask()
    assert (reply.stop, reply.parts) == (StopReason.CONTEXT_FULL, ())


# --- faults ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "code", "passes"),
    [
        (Fault(429), "rate_limited", True),
        (Fault(529), "overloaded", True),
        (Fault(500), "server_error", True),
        (Fault(502), "server_error", True),
        (Fault(408), "timeout", True),
        (Fault(401), "key_refused", False),
        (Fault(403), "not_allowed", False),
        (Fault(404), "unknown_model", False),
        (Fault(400, message="tools.0: no such field"), "bad_request", False),
    ],
)
def test_status_is_told_in_our_own_words_after_one_attempt(vendor, fault, code, passes):
    vendor.plays(fault)
    with pytest.raises(VendorError) as failed:
        vendor.ask()
    assert (failed.value.code, failed.value.retryable) == (code, passes)
    assert len(vendor.bodies) == 1  # the SDK's own retries are off


@pytest.mark.parametrize(
    ("header", "seconds"), [("171", 171.0), ("0.5", 0.5), ("soon", None), ("-3", None)]
)
def test_wish_to_wait_is_handed_on(vendor, header, seconds):
    vendor.plays(Fault(429, headers={"retry-after": header}))
    with pytest.raises(VendorError) as failed:
        vendor.ask()
    assert failed.value.retry_after == seconds


@pytest.mark.parametrize(
    ("how", "kind", "code"),
    [
        ("error", "overloaded", "overloaded"),
        ("error", "server", "server_error"),
        ("drop", "", "cut"),
        ("clean", "", "cut"),
        ("noise", "", "server_error"),
    ],
)
def test_stream_that_breaks_is_a_failure_that_may_have_cost(vendor, how, kind, code):
    kind = "api" if (vendor.kind, kind) == ("claude", "server") else kind
    vendor.plays(Breaks(how, kind=kind))
    with pytest.raises(VendorError) as failed:
        vendor.ask()
    assert (failed.value.code, failed.value.retryable) == (code, True)
    assert "Your refund" not in failed.value.message
    assert failed.value.usage.model_calls == 1
    assert failed.value.usage.input_tokens > 0


def test_stream_that_hangs_ends_with_the_deadline(vendor):
    vendor.plays(Breaks("hang"))
    with pytest.raises(VendorError) as failed:
        vendor.ask(seconds=0.3)
    assert (failed.value.code, failed.value.retryable) == ("timeout", True)


def test_nobody_there_is_unreachable_and_free(vendor):
    vendor.plays(Says(form_text()))
    vendor.fake.__exit__()
    with pytest.raises(VendorError) as failed:
        vendor.ask()
    assert failed.value.code == "unreachable"
    assert failed.value.usage.cost == 0


def test_without_a_key_nothing_is_asked(vendor):
    vendor.plays(
        Says(form_text()), api_key="", **({} if vendor.kind == "claude" else {"base_url": ""})
    )
    with pytest.raises(VendorError) as failed:
        vendor.ask()
    assert (failed.value.code, failed.value.retryable) == ("no_key", False)
    assert vendor.bodies == []


def test_preparing_asks_nothing(vendor):
    vendor.plays(Says(form_text()))
    vendor.adapter.prepare()
    assert vendor.bodies == []
    assert vendor.ask().stop is StopReason.END_TURN


# --- requests -------------------------------------------------------------------------------


def turn(reply, *results):
    told = [
        ResultPart(call.id, call.name, json.dumps(result))
        for call, result in zip(reply.calls, results, strict=True)
    ]
    return ChatMessage("assistant", reply.parts), ChatMessage("user", tuple(told))


def test_trying_the_key_asks_for_the_list_of_models_alone(vendor):
    vendor.plays(Says("hello")).adapter.try_key(2.0)
    assert len(vendor.fake.listed) == 1
    assert vendor.bodies == []


def test_refused_key_is_found_before_the_first_question(vendor):
    vendor.plays(Says("hello"), api_key="wrong")
    with pytest.raises(VendorError) as refused:
        vendor.adapter.try_key(2.0)
    assert refused.value.code == "key_refused"


def test_server_without_a_list_of_models_has_refused_nothing(vendor):
    vendor.plays(Says("hello"))
    nowhere = House("test-key", f"{vendor.fake.url}/elsewhere", RoleModel("model-a"))
    other = type(vendor.adapter)(nowhere)
    other.try_key(2.0)
    other.close()


def test_server_that_is_away_is_said_when_the_key_is_tried(vendor):
    vendor.plays(Says("hello"), base_url="http://127.0.0.1:9/v1")
    with pytest.raises(VendorError) as away:
        vendor.adapter.try_key(2.0)
    assert away.value.code == "unreachable"


def test_role_has_no_more_room_for_output_than_its_settings_say(vendor):
    vendor.plays(Says("hello"), roles={"reviewer": RoleModel("model-a", max_output_tokens=300)})
    vendor.ask(role="reviewer", max_output_tokens=2_000)
    vendor.ask(role="reviewer", max_output_tokens=200)
    vendor.ask(role="solo", max_output_tokens=2_000)
    rooms = [body.get("max_tokens") or body["max_completion_tokens"] for body in vendor.bodies]
    assert rooms == [300, 200, 2_000]


def test_a_whole_round_keeps_the_vendors_rules(vendor):
    vendor.plays(Says("I look.", calls=(CALL,)), Says(form_text()))
    first = vendor.ask()
    history = (QUESTION, *turn(first, {"status": "on its way"}))
    assert vendor.ask(messages=history).stop is StopReason.END_TURN
    assert "on its way" in json.dumps(vendor.bodies[1])


def test_call_whose_result_was_lost_is_answered_as_lost(vendor):
    vendor.plays(Says(form_text()))
    lost = ChatMessage("assistant", (CallPart(ToolCall("c1", "refund", {"order_number": "1"})),))
    vendor.ask(messages=(QUESTION, lost, ChatMessage.user("Hello?")))
    assert "result_lost" in json.dumps(vendor.bodies[0])


def test_result_whose_call_was_trimmed_is_left_out(vendor):
    vendor.plays(Says(form_text()))
    orphan = ChatMessage("user", (ResultPart("c9", "get_order", "{}"), Text("And now?")))
    vendor.ask(messages=(orphan,))
    assert "c9" not in json.dumps(vendor.bodies[0])


def test_what_changes_stands_behind_the_words_and_the_beginning_stays_equal(vendor):
    vendor.plays(Says(calls=(CALL,)), Says(form_text()), Says(form_text()))
    first = vendor.ask()
    vendor.ask(messages=(QUESTION, *turn(first, {"status": "late"})))
    vendor.ask(
        messages=(ChatMessage.user("Another customer's question"),),
        context={"today": "2026-11-02", "asker": "anonymous"},
    )
    one, two, three = vendor.bodies
    for name in ("system", "tools", "response_format", "output_config"):
        assert one.get(name) == two.get(name) == three.get(name)
    beginning = _without_marks(one["messages"])
    assert _without_marks(two["messages"])[: len(beginning)] == beginning
    text = json.dumps(one)
    assert text.count("2026-10-15") == 1
    assert text.index("order 1042") < text.index("2026-10-15")


def _without_marks(messages):
    plain = json.loads(json.dumps(messages))
    for message in plain:
        for block in message["content"] if isinstance(message["content"], list) else []:
            block.pop("cache_control", None)
    return plain


def test_structured_call_offers_the_form_and_no_tool(vendor):
    vendor.plays(Says(form_text()))
    vendor.ask(tools=())
    (body,) = vendor.bodies
    assert "tools" not in body
    assert "confidence" in json.dumps(body.get("output_config") or body.get("response_format"))


def test_blocks_of_another_model_are_dropped_and_own_ones_echoed(vendor):
    data = {"type": "thinking", "thinking": "hm", "signature": "s"}
    if vendor.kind != "claude":
        data = {"reasoning": "hm"}
    history = (
        QUESTION,
        ChatMessage("assistant", (Opaque("model-a", data), Text("Which one?"))),
        ChatMessage.user("1042"),
    )
    vendor.plays(Says(form_text()), Says(form_text()))
    vendor.ask(messages=history)
    other = ChatMessage("assistant", (Opaque("model-b", data), Text("Which one?")))
    vendor.ask(messages=(history[0], other, history[2]))
    assert ("hm" in json.dumps(vendor.bodies[0]["messages"])) is (vendor.kind != "local")
    assert "hm" not in json.dumps(vendor.bodies[1]["messages"])


def test_thoughts_come_back_verbatim_with_the_next_request():
    from tests.vendors.claude import FakeClaude
    from tests.vendors.conftest import Vendor

    script = [Says("I look.", calls=(CALL,), thinks="Which order?"), Says(form_text())]
    with FakeClaude(script) as fake:
        vendor = Vendor("claude", lambda _script: fake).plays()
        first = vendor.ask()
        vendor.ask(messages=(QUESTION, *turn(first, {"status": "late"})))
        block = vendor.bodies[1]["messages"][1]["content"][0]
        assert block == {
            "type": "thinking",
            "thinking": "Which order?",
            "signature": "signed by model-a",
        }
        assert fake.breaches == []
        vendor.adapter.close()


def test_engine_never_forces_a_tool_and_claude_compiles_strict_schemas(vendor):
    vendor.plays(Says(form_text()))
    vendor.ask(tools=(LOOK_UP,))
    (body,) = vendor.bodies
    assert "tool_choice" not in body
    if vendor.kind == "claude":
        (tool,) = body["tools"]
        assert tool["strict"] is True


def test_request_has_no_more_room_than_the_engine_allows(vendor):
    vendor.plays(Says(form_text()))
    vendor.ask(max_output_tokens=700)
    body = vendor.bodies[0]
    assert body.get("max_tokens", body.get("max_completion_tokens")) == 700


def test_asking_helper_is_what_the_engine_sends():
    assert asking().schema is AnswerForm
