"""The offline rules as a model behind the port: requests in, replies out."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents.adapters.offline import OfflineRules, phrases
from agents.adapters.offline.behaviour import BEHAVIOURS
from agents.adapters.offline.transcript import read_request
from agents.answer import AnswerForm, ReviewForm
from agents.assembly import ACCESS
from agents.intents import intent_labels
from agents.review import REFUSED
from dsupport.contract.errors import PortError
from dsupport.contract.llm import (
    CallPart,
    ChatMessage,
    ModelReply,
    ModelRequest,
    ResultPart,
    StopReason,
    Text,
    Usage,
)
from dsupport.contract.tools import ToolArguments, ToolCall, ToolSpec
from tests.agents.understanding.shop import DELIVERED, LATE, embedder, make_context, rules


def _tool(name: str) -> ToolSpec:
    return ToolSpec(name, name, ToolArguments, lambda arguments, context: None)


TOOLS = {name: _tool(name) for names in ACCESS.values() for name in names}


def ask(
    *messages: ChatMessage, role: str = "solo", asker: str = "signed_in", **fields: Any
) -> ModelRequest:
    names = fields.pop("tools", ACCESS[role])
    schema = AnswerForm if role in {"solo", "orchestrator"} else None
    values = {"context": make_context(asker), "schema": schema, **fields}
    return ModelRequest(
        role=role,
        system="",
        messages=messages,
        tools=tuple(TOOLS[name] for name in names),
        **values,
    )


def say(text: str) -> ChatMessage:
    return ChatMessage.user(text)


def answered(reply: ModelReply, *results: tuple[Any, bool]) -> tuple[ChatMessage, ChatMessage]:
    """Return a reply's calls and their results as the messages that follow it."""
    parts = tuple(
        ResultPart(
            call.id,
            call.name,
            json.dumps({"tool": call.name, "trust": "shop", "data": data}),
            error,
        )
        for call, (data, error) in zip(reply.calls, results, strict=True)
    )
    return ChatMessage("assistant", reply.parts), ChatMessage("user", parts)


def form_of(reply: ModelReply) -> AnswerForm:
    assert reply.stop is StopReason.END_TURN
    return AnswerForm.model_validate_json(reply.text)


NOT_FOUND = ({"error": "order_not_found", "category": "not_found", "message": "No."}, True)


# --- the port ---------------------------------------------------------------------------------
def test_reply_costs_nothing_and_names_the_rules():
    reply = rules().next(ask(say("hi")))
    assert (reply.usage, reply.model) == (Usage(model_calls=1), "offline-rules/1")


def test_calls_stop_for_tools_with_ids_in_order():
    reply = rules().next(ask(say("where is order 1060")))
    assert reply.stop is StopReason.TOOL_USE
    assert [(call.id, call.name) for call in reply.calls] == [
        ("c1", "get_order"),
        ("c2", "track_shipment"),
    ]
    follow = answered(reply, (LATE, False), ({}, False))
    later = rules().next(ask(say("where is order 1042"), *follow))
    assert [call.id for call in later.calls] == ["c3", "c4"]


def test_same_request_gives_the_same_reply():
    request = ask(say("I want my money back"))
    assert rules().next(request) == OfflineRules(embedder=embedder()).next(request)


def test_construction_loads_nothing():
    began = OfflineRules()
    assert began._embedder is None


def test_every_intent_has_a_behaviour():
    assert set(BEHAVIOURS) == set(intent_labels())


def test_without_a_form_the_words_stand_alone():
    reply = rules().next(ask(say("hi there"), schema=None))
    assert reply.text.startswith("Hello Emma.")


def test_form_other_than_a_review_is_refused():
    with pytest.raises(PortError) as caught:
        rules().structured(ask(say("{}"), schema=AnswerForm))
    assert caught.value.code == "unsupported"


def test_empty_conversation_gets_a_greeting():
    assert form_of(rules().next(ask())).intent == "greeting"
    assert form_of(rules().next(ask(say("   ")))).intent == "greeting"


def test_missing_context_is_taken_as_a_stranger_without_a_date():
    reply = rules().next(ask(say("where is the thing I bought Monday?"), context={}))
    assert form_of(reply).answer == phrases.NEED_IDENTITY


# --- tools ------------------------------------------------------------------------------------
SENTENCES = [
    "where is order 1042", "I want my money back", "what is your refund policy?", "I want a human",
    "is the jacket waterproof", "cancel my order", "this is a scandal, I complain",
    "delete my account",
    "my package never showed up", "who won the cup", "and the other one?", "yes",
]  # fmt: skip


@pytest.mark.parametrize("text", SENTENCES)
def test_without_tools_there_is_an_answer_and_no_call(text):
    assert form_of(rules().next(ask(say(text), tools=()))).answer


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    text=st.sampled_from(SENTENCES),
    tools=st.sets(st.sampled_from([*ACCESS["solo"], *ACCESS["orchestrator"]])),
    asker=st.sampled_from(["signed_in", "anonymous", "guest_with_order"]),
)
def test_only_offered_tools_are_ever_called(text, tools, asker):
    messages: tuple[ChatMessage, ...] = (say(text),)
    for _ in range(8):
        reply = rules().next(ask(*messages, asker=asker, tools=sorted(tools)))
        if reply.stop is StopReason.END_TURN:
            break
        assert {call.name for call in reply.calls} <= tools
        messages += answered(reply, *[NOT_FOUND for _ in reply.calls])
    else:
        pytest.fail("it never came to an end")


def test_no_call_is_repeated_whatever_came_back():
    messages: tuple[ChatMessage, ...] = (say("where is my order and what is your refund policy?"),)
    seen: list[str] = []
    for _ in range(8):
        reply = rules().next(ask(*messages))
        keys = [f"{call.name}{json.dumps(call.arguments)}" for call in reply.calls]
        assert not set(keys) & set(seen)
        seen += keys
        if not keys:
            return
        messages += answered(reply, *[("not even a mapping", False) for _ in keys])
    pytest.fail("it never came to an end")


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        "text",
        7,
        {"orders": "none"},
        {"hits": [1, None]},
        {"truncated": "cut", "text": "{"},
        {"number": None, "status": None, "items": None, "shipments": [None], "refunds": [3]},
        {"products": [{"name": None, "variants": [None]}], "hits": [{"text": None, "score": "x"}]},
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "text", ["where is order 1042", "is the jacket waterproof", "refund order 1042"]
)
def test_odd_results_never_break_it(text, data):
    messages: tuple[ChatMessage, ...] = (say(text),)
    for _ in range(6):
        reply = rules().next(ask(*messages))
        if reply.stop is StopReason.END_TURN:
            assert form_of(reply).answer
            return
        messages += answered(reply, *[(data, False) for _ in reply.calls])
    pytest.fail("it never came to an end")


def test_calls_of_another_model_are_built_upon():
    """After a model broke down in the middle, its look-ups are used and not made again."""
    call = ToolCall("toolu_9", "get_order", {"order_number": "#1042"})
    content = json.dumps({"tool": "get_order", "trust": "shop", "data": LATE})
    history = (
        say("Where is my order 1042?"),
        ChatMessage("assistant", (Text("Let me look."), CallPart(call))),
        ChatMessage("user", (ResultPart("toolu_9", "get_order", content),)),
    )
    reply = rules().next(ask(*history))
    assert [c.name for c in reply.calls] == ["track_shipment", "search_kb"]


# --- the talk ---------------------------------------------------------------------------------
def test_notes_of_the_desk_are_not_the_customers_words():
    turn = read_request(
        ask(
            say("[earlier in this talk] 4 messages. Named: customer: order 7."),
            ChatMessage.assistant("Order 1042 is on its way."),
            ChatMessage("user", (Text("[staff] I refund it"), Text("thanks"))),
            ChatMessage.assistant("[no answer was given]"),
            ChatMessage("user", (Text("where is it"), Text("hello?"))),
        )
    )
    assert turn.words == ("where is it", "hello?")
    assert [line.author for line in turn.history] == [
        "note",
        "assistant",
        "note",
        "customer",
        "note",
    ]
    assert turn.last_answer == "Order 1042 is on its way."


def test_earlier_answer_in_its_form_is_read_as_its_words():
    form = json.dumps(
        {"answer": "Order 1060 is on its way.", "intent": "order_status", "confidence": 1}
    )
    turn = read_request(ask(say("hi"), ChatMessage.assistant(form), say("when will it come?")))
    assert turn.last_answer == "Order 1060 is on its way."


# --- revisions --------------------------------------------------------------------------------
def _drafted() -> tuple[tuple[ChatMessage, ...], str]:
    messages: tuple[ChatMessage, ...] = (say("where is order 1033"),)
    reply = rules().next(ask(*messages))
    messages += answered(reply, (DELIVERED, False), ({"shipments": []}, False))
    draft = rules().next(ask(*messages))
    return (*messages, ChatMessage("assistant", draft.parts)), form_of(draft).answer


def test_refused_claim_is_left_out():
    messages, draft = _drafted()
    assert "1 October 2026" in draft
    refusal = f"{REFUSED}\n- '1 October 2026' appears neither in a tool result nor in the words."
    form = form_of(rules().next(ask(*messages, say(refusal))))
    assert "1 October 2026" not in form.answer
    assert form.answer != draft


def test_refusal_without_a_hint_leads_to_a_safe_answer():
    messages, draft = _drafted()
    form = form_of(rules().next(ask(*messages, say(f"{REFUSED}\n- It is not good."))))
    assert form.answer != draft
    assert form.answer.startswith(phrases.SAFE)
    assert form.sources == ()


def test_refused_source_takes_its_words_along():
    hit = {"doc_id": "returns", "title": "Returns", "heading": "Time", "score": 0.9,
           "text": "Send an item back within 30 days of delivery."}  # fmt: skip
    messages: tuple[ChatMessage, ...] = (say("how many days do I have to return an item?"),)
    reply = rules().next(ask(*messages))
    messages += answered(reply, ({"hits": [hit], "answerable": "answer"}, False))
    draft = rules().next(ask(*messages))
    assert "30 days" in form_of(draft).answer
    refusal = say(f"{REFUSED}\n- 'returns' was not retrieved in this run; cite only hits.")
    form = form_of(rules().next(ask(*messages, ChatMessage("assistant", draft.parts), refusal)))
    assert form.sources == ()
    assert "30 days" not in form.answer


def test_ticket_stays_told_in_every_revision():
    messages: tuple[ChatMessage, ...] = (say("I want a human"),)
    reply = rules().next(ask(*messages))
    messages += answered(reply, ({"ticket": "TKT-1001", "already_open": False}, False))
    for _ in range(3):
        draft = rules().next(ask(*messages))
        form = form_of(draft)
        assert "TKT-1001" in form.answer
        assert (form.escalated, form.ticket_id) == (True, "TKT-1001")
        messages = (*messages, ChatMessage("assistant", draft.parts), say(f"{REFUSED}\n- No."))


# --- the team ---------------------------------------------------------------------------------
def test_several_questions_go_to_the_knowledge_specialist_as_one_task():
    reply = rules().next(
        ask(say("do you take paypal? how long is the warranty?"), role="orchestrator")
    )
    (call,) = reply.calls
    assert call.arguments["question"] == "- do you take paypal?\n- how long is the warranty?"
    work = rules().next(ask(say(call.arguments["question"]), role="knowledge"))
    assert [c.arguments for c in work.calls] == [
        {"query": "do you take paypal?"},
        {"query": "how long is the warranty?"},
    ]


def test_orders_specialist_looks_up_whatever_the_task_is_called():
    reply = rules().next(ask(say("Please check refund eligibility of order 1033."), role="orders"))
    assert [call.name for call in reply.calls] == ["get_order", "track_shipment"]


def test_report_carries_the_findings():
    task = say("where is order 1042")
    reply = rules().next(ask(task, role="orders"))
    done = rules().next(ask(task, *answered(reply, (LATE, False), NOT_FOUND), role="orders"))
    report = json.loads(done.text)
    assert report["findings"][0]["data"] == LATE
    assert report["findings"][1]["is_error"]
    assert "order_not_found" in report["report"]


def test_report_stays_small_whatever_was_found():
    hits = [
        {"doc_id": f"d{i}", "title": "T", "heading": "H", "score": 0.9, "text": "word " * 900}
        for i in range(9)
    ]
    task = say("what is your refund policy?")
    reply = rules().next(ask(task, role="knowledge"))
    found = answered(reply, ({"hits": hits, "answerable": "answer"}, False))
    done = rules().next(ask(task, *found, role="knowledge"))
    assert len(done.text.encode()) < 10_000
    assert json.loads(done.text)["findings"][0]["data"]["hits"]


@pytest.mark.parametrize(
    ("task", "reason", "order"),
    [
        ("Reason: complaint\nThe driver was rude.\nOrder: 1042", "complaint", "1042"),
        ("Reason: Action needed\nRefund wanted.", "action_needed", None),
        ("Reason: because\nHelp them.", "customer_request", None),
        ("They want a person.", "customer_request", None),
    ],
)
def test_escalation_specialist_opens_the_ticket_it_is_told_to(task, reason, order):
    (call,) = rules().next(ask(say(task), role="escalation")).calls
    assert (call.name, call.arguments["reason"], call.arguments["order_number"]) == (
        "create_ticket", reason, order,
    )  # fmt: skip
    assert "Reason:" not in call.arguments["summary"]


def test_prose_report_of_another_model_is_passed_on():
    messages: tuple[ChatMessage, ...] = (say("what is your refund policy?"),)
    reply = rules().next(ask(*messages, role="orchestrator"))
    report = "You can send items back within 30 days (doc returns)."
    messages += answered(reply, ({"report": report}, False))
    assert form_of(rules().next(ask(*messages, role="orchestrator"))).answer == report


# --- review -----------------------------------------------------------------------------------
HIT = {
    "doc_id": "returns",
    "title": "Returns",
    "heading": "Time",
    "text": "You can send an item back within 30 days of delivery. Gift cards cannot be returned.",
}
GOOD = {
    "answer": "You can send an item back within 30 days of delivery.",
    "intent": "return_policy",
    "sources": [{"doc_id": "returns", "heading": "Time"}],
    "confidence": 0.9,
    "escalated": False,
    "ticket_id": None,
}


def review(
    draft: dict[str, Any], *evidence: dict[str, Any], question: str = "how long can I return?"
):
    found = [{"tool": "search_kb", "trust": "article", "data": {"hits": [HIT]}}, *evidence]
    case = json.dumps({"question": question, "draft": draft, "evidence": found})
    request = replace(ask(say(case), tools=()), role="reviewer", schema=ReviewForm)
    return ReviewForm.model_validate_json(rules().structured(request).text)


def test_review_approves_what_the_evidence_says():
    assert review(GOOD) == ReviewForm(approved=True)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"answer": "You can send an item back within 45 days of delivery."}, "45 days"),
        ({"answer": "We have refunded you."}, "was done"),
        ({"answer": "Your refund has been approved."}, "was done"),
        ({"answer": "We will refund you next week."}, "promised"),
        ({"answer": "You will definitely receive it."}, "promised"),
        ({"answer": "Gift cards can be returned."}, "opposite"),
        ({"answer": "Shoes and boots can be exchanged at any partner shop for free."}, "supports"),
        ({"answer": "Hello.", "sources": [{"doc_id": "returns"}]}, "nothing of 'returns'"),
        ({"sources": [{"doc_id": "warranty"}]}, "'warranty' was not read"),
        ({"escalated": True}, "no ticket"),
        ({"escalated": True, "ticket_id": "TKT-1001"}, "TKT-1001"),
        ({"answer": "?"}, "says nothing"),
        ({"answer": "It costs €12.00 to send it back."}, "€12.00"),
    ],
)
def test_review_names_what_is_wrong(change, word):
    found = review({**GOOD, **change})
    assert not found.approved
    assert any(word in problem for problem in found.problems)


def test_review_takes_facts_of_every_tool():
    order = {"tool": "get_order", "trust": "shop", "data": LATE}
    draft = {
        **GOOD,
        "sources": [],
        "answer": "Order 1042 is 10 days late, promised for 5 October 2026.",
    }
    assert review(draft, order, question="where is order 1042").approved


def test_review_takes_a_ticket_that_was_opened():
    ticket = {"tool": "create_ticket", "trust": "shop", "data": {"ticket": "TKT-1001"}}
    draft = {**GOOD, "answer": f"{GOOD['answer']} Ticket TKT-1001 is open.", "escalated": True,
             "ticket_id": "TKT-1001"}  # fmt: skip
    assert review(draft, ticket).approved


@pytest.mark.parametrize("text", ["", "not json", "[]", '{"draft": 3}', '{"draft": {"answer": 1}}'])
def test_case_that_cannot_be_read_is_refused(text):
    request = replace(ask(say(text), tools=()), role="reviewer", schema=ReviewForm)
    found = ReviewForm.model_validate_json(rules().structured(request).text)
    assert not found.approved
