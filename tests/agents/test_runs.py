"""Runs against the database: every ending is coherent, and told once."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction
from django.db.models.functions import Now

from agents import services
from agents.adapters.scripted import ScriptedModel, calls, fills, says
from agents.errors import RunOver
from agents.lease import claim_run, release_run
from agents.models import Conversation, Message, Run, Step
from agents.rules import Limits
from agents.store import Pending, write
from agents.tracing import build_tree
from dsupport.contract.errors import PortError
from dsupport.contract.llm import ModelReply, StopReason
from tests.conftest import NOW

HELLO = {"answer": "Hello. How can I help?", "intent": "greeting", "confidence": 0.9}
YES = fills({"approved": True})
GREETING = [fills(HELLO), YES]


def test_run_answers_once_and_completes(desk):
    sent = desk.say("hello")
    assert desk.run(sent.run_id, ScriptedModel(GREETING)) == "completed"
    assert desk.said("assistant") == ["Hello. How can I help?"]
    run = desk.stored(sent.run_id)
    assert (run.status, run.attempt, run.lease_owner) == ("completed", 1, "")
    assert run.model_calls == 2
    assert desk.types()[0] == "message"
    assert desk.types()[-2:] == ["answer", "run.finished"]


def test_events_of_a_conversation_are_one_stream_without_gaps(desk):
    for _ in range(3):
        desk.run(desk.say("hello").run_id, ScriptedModel(GREETING))
    seqs = [event.seq for event in desk.events()]
    assert seqs == list(range(1, len(seqs) + 1))


def test_run_is_not_carried_out_twice(desk):
    sent = desk.say("hello")
    desk.run(sent.run_id, ScriptedModel(GREETING))
    idle = ScriptedModel(GREETING)
    assert desk.run(sent.run_id, idle) is None
    assert idle.requests == []
    assert len(desk.said("assistant")) == 1


def test_claimed_run_is_not_taken_by_another(desk):
    sent = desk.say("hello")
    assert claim_run(sent.run_id, "w1", NOW) is not None
    assert claim_run(sent.run_id, "w2", NOW) is None


def test_same_client_id_is_stored_once(desk):
    first = desk.say("hello", "c-1")
    again = desk.say("hello", "c-1")
    assert again.duplicate
    assert (again.run_id, again.seq) == (first.run_id, first.seq)
    assert desk.said("customer") == ["hello"]


def test_several_messages_in_a_row_are_one_run_and_one_answer(desk):
    first, second = desk.say("hello"), desk.say("anyone there?")
    assert first.run_id == second.run_id
    model = ScriptedModel(GREETING)
    desk.run(first.run_id, model)
    assert [part.text for part in model.requests[0].messages[-1].parts] == [
        "hello",
        "anyone there?",
    ]
    assert len(desk.said("assistant")) == 1


def test_words_that_arrive_while_drafting_are_answered_too(desk):
    sent = desk.say("hello")

    def interrupted(request):
        desk.say("and what about returns?")
        return fills(HELLO)

    model = ScriptedModel([interrupted, YES, fills({**HELLO, "answer": "Both answered."}), YES])
    assert desk.run(sent.run_id, model) == "completed"
    assert desk.said("assistant") == ["Both answered."]
    assert desk.stored(sent.run_id).model_calls == 4
    assert "and what about returns?" in str(model.requests[2].messages)


def test_customer_who_keeps_writing_gets_an_answer_after_three_rounds(desk):
    sent = desk.say("hello")

    def interrupted(request):
        desk.say("wait")
        return fills(HELLO)

    model = ScriptedModel([line for _ in range(3) for line in (interrupted, YES)])
    assert desk.run(sent.run_id, model) == "completed"
    assert len(desk.said("assistant")) == 1


def test_only_one_active_run_per_conversation(desk):
    sent = desk.say("hello")
    run = desk.stored(sent.run_id)
    with pytest.raises(IntegrityError), transaction.atomic():
        Run.objects.create(
            tenant=desk.tenant,
            conversation=desk.conversation,
            provider="offline",
            architecture="solo",
            created_at=run.created_at,
        )


def test_model_that_never_stops_hands_over_with_a_ticket(desk):
    sent = desk.say("hello")
    endless = ScriptedModel([calls(("search_kb", {"query": f"q{i}"})) for i in range(20)])
    assert desk.run(sent.run_id, endless, limits=Limits(turns=3)) == "handed_over"
    (text,) = desk.said("system")
    assert "TKT-" in text
    (told,) = [event.data for event in desk.events() if event.type == "escalated"]
    assert told["ticket"] in text
    assert told["text"].startswith("This conversation")
    assert desk.stored(sent.run_id).ending == "turns"


@pytest.mark.parametrize(
    ("script", "ending"),
    [
        ([ModelReply((), StopReason.REFUSAL)], "refusal"),
        ([ModelReply((), StopReason.UNKNOWN)], "unknown_stop"),
        ([ModelReply((), StopReason.CONTEXT_FULL)], "context_full"),
        ([says("cut", stop=StopReason.MAX_TOKENS)] * 2, "truncated"),
        ([calls(("get_order", {})), calls(("get_order", {}))], "repeated_call"),
        ([calls(("no_such", {})), calls(("no_such", {}))], "repeated_call"),
        ([says("{nonsense")] * 3, "checks_failed"),
        ([fills({**HELLO, "answer": "You get €500.00."})] * 3, "checks_failed"),
    ],
)
def test_model_in_trouble_hands_over_and_the_next_question_works(desk, script, ending):
    sent = desk.say("hello")
    assert desk.run(sent.run_id, ScriptedModel(script)) == "handed_over"
    assert desk.stored(sent.run_id).ending == ending
    assert desk.said("assistant") == []
    again = desk.say("hello?")
    assert desk.run(again.run_id, ScriptedModel(GREETING)) == "completed"
    assert desk.types()[-1] == "run.finished"


def test_trouble_in_one_conversation_opens_one_ticket(desk):
    for _ in range(3):
        desk.run(desk.say("x").run_id, ScriptedModel([ModelReply((), StopReason.REFUSAL)]))
    numbers = {
        word.strip(".") for text in desk.said("system") for word in text.split() if "TKT-" in word
    }
    assert len(numbers) == 1


def test_fault_of_ours_is_recorded_told_and_raised(desk):
    sent = desk.say("hello")
    with pytest.raises(ZeroDivisionError):
        desk.run(sent.run_id, ScriptedModel([lambda request: 1 / 0]))
    run = desk.stored(sent.run_id)
    assert (run.status, run.ending) == ("failed", "fault")
    assert "ZeroDivisionError" in run.detail
    assert "TKT-" in desk.said("system")[0]


def test_waiting_run_is_cancelled_at_once(desk):
    sent = desk.say("hello")
    services.cancel_run(principal=desk.principal, run_id=sent.run_id, now=NOW)
    assert desk.stored(sent.run_id).status == "cancelled"
    assert desk.said("system") == ["Stopped. Nothing was changed."]
    assert desk.run(sent.run_id, ScriptedModel(GREETING)) is None


def test_running_run_is_cancelled_at_its_next_step(desk):
    sent = desk.say("hello")

    def cancelled(request):
        services.cancel_run(principal=desk.principal, run_id=sent.run_id, now=NOW)
        return calls(("search_kb", {"query": "x"}))

    model = ScriptedModel([cancelled, *GREETING])
    assert desk.run(sent.run_id, model) == "cancelled"
    assert len(model.requests) == 1
    assert desk.said("assistant") == []


def test_cancel_between_draft_and_post_says_nothing_else(desk):
    sent = desk.say("hello")

    def late(request):
        Run.objects.filter(pk=sent.run_id).update(cancel_asked_at=NOW)
        return YES

    assert desk.run(sent.run_id, ScriptedModel([fills(HELLO), late])) == "cancelled"
    assert desk.said("assistant") == []


def test_ended_run_cannot_be_cancelled(desk):
    sent = desk.say("hello")
    desk.run(sent.run_id, ScriptedModel(GREETING))
    with pytest.raises(RunOver):
        services.cancel_run(principal=desk.principal, run_id=sent.run_id, now=NOW)


def test_dead_worker_is_taken_over_without_repeating_a_step(desk):
    sent = desk.say("how long do I have to return it?")
    died = ScriptedModel([calls(("search_kb", {"query": "return"})), SystemExit("killed")])
    with pytest.raises(SystemExit):
        desk.run(sent.run_id, died)
    assert desk.stored(sent.run_id).status == "running"
    assert Step.objects.filter(run=sent.run_id).count() == 2
    assert desk.run(sent.run_id, ScriptedModel(GREETING), owner="w2") is None  # lease still runs
    Run.objects.filter(pk=sent.run_id).update(lease_until=Now() - timedelta(seconds=1))
    model = ScriptedModel(GREETING)
    assert desk.run(sent.run_id, model, owner="w2") == "completed"
    assert len(model.requests) == 2
    assert desk.types().count("run.started") == 1
    assert desk.types().count("tool.called") == 1
    seqs = [event.seq for event in desk.events()]
    assert seqs == list(range(1, len(seqs) + 1))


def test_worker_that_lost_its_lease_writes_nothing_more(desk):
    sent = desk.say("hello")

    def stolen(request):
        Run.objects.filter(pk=sent.run_id).update(lease_owner="w2", attempt=2)
        return fills(HELLO)

    assert desk.run(sent.run_id, ScriptedModel([stolen, YES])) is None
    assert desk.said("assistant") == []
    assert desk.types() == ["message", "run.started"]


def test_ending_worker_lets_go_at_the_next_step_and_another_goes_on(desk):
    sent = desk.say("returns?")
    leaving = []

    def search_and_leave(_request):
        leaving.append(True)
        return calls(("search_kb", {"query": "returns"}))

    first = ScriptedModel([search_and_leave, *GREETING])
    assert desk.run(sent.run_id, first, draining=lambda: bool(leaving)) is None
    assert len(first.requests) == 1
    left = desk.stored(sent.run_id)
    assert (left.status, left.lease_owner, left.lease_until, left.attempt) == (
        "queued",
        "",
        None,
        0,
    )
    assert desk.said("system") == []

    second = ScriptedModel(GREETING)
    assert desk.run(sent.run_id, second, owner="w2") == "completed"
    assert "search_kb" in str(second.requests[0].messages)  # the journal kept the step
    assert desk.types().count("run.started") == 1
    assert len(desk.said("assistant")) == 1


def test_process_that_takes_a_run_again_has_another_hold(desk):
    sent = desk.say("hello")
    first = claim_run(sent.run_id, "w1", NOW)
    release_run(first)
    second = claim_run(sent.run_id, "w1", NOW)
    assert (first.attempt, second.attempt) == (1, 1)
    assert first.owner != second.owner
    assert not write(first, Pending()).held
    release_run(first)  # an old hold gives nothing back either
    assert write(second, Pending()).held


def test_ending_worker_takes_no_run(desk):
    sent = desk.say("hello")
    idle = ScriptedModel(GREETING)
    assert desk.run(sent.run_id, idle, draining=lambda: True) is None
    assert idle.requests == []
    assert desk.stored(sent.run_id).attempt == 0


def test_any_number_of_restarts_is_no_attempt(desk):
    sent = desk.say("returns?")
    for number in range(5):
        leaving = []

        def ask_and_leave(_request, number=number, leaving=leaving):
            leaving.append(True)
            return calls(("search_kb", {"query": f"returns {number}"}))

        model = ScriptedModel([ask_and_leave])
        owner = f"w{number}"
        ended = desk.run(sent.run_id, model, owner=owner, draining=lambda left=leaving: bool(left))
        assert ended is None
    assert desk.run(sent.run_id, ScriptedModel(GREETING), owner="last") == "completed"


def test_worker_told_to_end_drains_its_process():
    from celery.signals import worker_shutting_down

    from agents import runner, tasks

    assert tasks.let_go in [ref() for _, ref in worker_shutting_down.receivers]
    around = runner.process_surroundings("w1")
    try:
        assert not around.draining()
        tasks.let_go()
        assert around.draining()
    finally:
        runner._leaving.clear()


def test_run_that_kills_its_worker_three_times_ends_with_a_person(desk):
    sent = desk.say("poison")
    for attempt in range(3):
        with pytest.raises(SystemExit):
            desk.run(sent.run_id, ScriptedModel([SystemExit("killed")]), owner=f"w{attempt}")
        Run.objects.filter(pk=sent.run_id).update(lease_until=Now() - timedelta(seconds=1))
    model = ScriptedModel(GREETING)
    assert desk.run(sent.run_id, model, owner="w9") == "failed"
    assert model.requests == []
    assert "TKT-" in desk.said("system")[0]
    assert desk.stored(sent.run_id).ending == "attempts_used_up"


def test_answer_is_not_posted_after_a_person_took_over(desk):
    sent = desk.say("hello")

    def taken_over(request):
        Conversation.objects.filter(pk=desk.conversation.pk).update(posture="off")
        return YES

    desk.run(sent.run_id, ScriptedModel([fills(HELLO), taken_over]))
    assert desk.said("assistant") == []
    assert desk.stored(sent.run_id).ending == "a_person_answers"


def test_second_answer_of_a_run_is_refused_by_the_database(desk):
    sent = desk.say("hello")
    desk.run(sent.run_id, ScriptedModel(GREETING))
    with pytest.raises(IntegrityError), transaction.atomic():
        Message.objects.create(
            conversation=desk.conversation,
            run_id=sent.run_id,
            author="assistant",
            text="again",
            seq=999,
            created_at=NOW,
        )


def test_asking_for_a_person_opens_a_ticket_and_stops_the_run(desk):
    sent = desk.say("hello")
    number = services.request_person(
        principal=desk.principal, conversation_id=desk.conversation.pk, now=NOW
    )
    assert number in desk.said("system")[-1]
    assert desk.stored(sent.run_id).status == "cancelled"


def test_tree_is_rebuilt_from_the_events(desk):
    sent = desk.say("returns?")
    asked = calls(("search_kb", {"query": "returns"}), ("search_kb", {"query": "refund"}))
    desk.run(sent.run_id, ScriptedModel([asked, *GREETING]))
    events = [
        {"span": e.span, "parent": e.parent, "agent": e.agent, "type": e.type}
        for e in desk.events()
        if e.run_id
    ]
    roots = [node for node in build_tree(events) if node.span]
    (desk_node,) = roots
    (solo,) = desk_node.children
    assert (desk_node.agent, solo.agent) == ("desk", "solo")
    assert [child.agent for child in solo.children] == ["search_kb", "search_kb", "reviewer"]


def test_vendor_outage_falls_back_or_hands_over(desk):
    sent = desk.say("hello")
    model = ScriptedModel([PortError("down", code="overloaded", retryable=True)])
    assert desk.run(sent.run_id, model) == "handed_over"
    assert desk.stored(sent.run_id).ending == "model_down"
