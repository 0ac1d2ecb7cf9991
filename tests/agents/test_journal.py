"""What a run has done is on record before anything that may take long, in few round trips."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import connection
from django.db.models.functions import Now

from agents.adapters.scripted import ScriptedModel, calls
from agents.lease import claim_run
from agents.models import Event, Message, Run, Step
from agents.review import Desk as Agents
from agents.rules import MAX_ATTEMPTS
from agents.runner import Surroundings, execute_run, give_back
from agents.threads import Inline
from tests.agents import engine
from tests.agents.conftest import make_desk
from tests.agents.test_runs import GREETING
from tests.conftest import NOW, make_tenant

LEASED = {"status": "running", "lease_owner": "w9#1"}
AGES = timedelta(hours=1)


@pytest.mark.parametrize(
    "state",
    [
        {"status": "queued"},
        {"status": "queued", "not_before": Now() + AGES},
        {"status": "queued", "not_before": Now() - AGES},
        {**LEASED, "lease_until": Now() + AGES},
        {**LEASED, "lease_until": Now() - AGES},
        {**LEASED, "lease_until": Now() - AGES, "not_before": Now() + AGES},
        {**LEASED, "lease_until": Now() - AGES, "attempt": MAX_ATTEMPTS},
        {"status": "completed", "finished_at": NOW},
        {"status": "cancelled", "finished_at": NOW},
    ],
    ids=str,
)
def test_claim_takes_what_the_sweeper_calls_claimable_and_nothing_else(desk, state):
    sent = desk.say("hello")
    Run.objects.filter(pk=sent.run_id).update(**state)
    listed = Run.objects.claimable().filter(pk=sent.run_id, attempt__lt=MAX_ATTEMPTS).exists()
    assert (claim_run(sent.run_id, "w1", NOW) is not None) is listed


def on_record(desk, run_id, writes):
    """Run a tool that looks what it finds on record; return the steps and the last event."""
    found = []

    def look(arguments, context):
        steps = Step.objects.for_run(run_id).values_list("kind", flat=True)
        found.append((list(steps), Event.objects.for_run(run_id).last().type))
        return engine.search_kb(arguments, context)

    tools = {"search_kb": replace(engine.TOOLS["search_kb"], body=look, writes=writes)}
    agents = Agents(engine.make_agent(tools=tools), None, {"greeting"})
    model = ScriptedModel([calls(("search_kb", {"query": "x"})), *GREETING])
    assert desk.run(run_id, model, desk=lambda _architecture: agents) == "completed"
    return found


def test_tool_that_acts_finds_the_turn_that_asked_for_it_on_record(desk):
    sent = desk.say("hello")
    assert on_record(desk, sent.run_id, writes=True) == [(["model"], "tool.called")]


def test_quick_look_up_costs_no_write_of_its_own(desk):
    sent = desk.say("hello")
    assert on_record(desk, sent.run_id, writes=False) == [([], "run.started")]


def test_tool_that_writes_is_on_record_before_the_next_one_begins(desk):
    sent = desk.say("hello")
    found = []

    def opens(arguments, context):
        found.append(Step.objects.for_run(sent.run_id).filter(kind="tool").count())
        return engine.create_ticket(arguments, context)

    spec = replace(engine.TOOLS["create_ticket"], body=opens)
    tools = {"create_ticket": spec, "again": replace(spec, name="again")}
    agents = Agents(engine.make_agent(tools=tools), None, {"greeting"})
    model = ScriptedModel([calls(("again", {}), ("create_ticket", {})), *GREETING])
    desk.run(sent.run_id, model, desk=lambda _architecture: agents)
    assert found == [0, 1]


def test_answer_has_the_number_of_its_event(desk):
    sent = desk.say("hello")
    desk.run(sent.run_id, ScriptedModel([calls(("search_kb", {"query": "x"})), *GREETING]))
    (answer,) = [event for event in desk.events() if event.type == "answer"]
    said = Message.objects.for_conversation(desk.conversation).last()
    assert (said.seq, said.text) == (answer.seq, answer.data["answer"])


class Watching(ScriptedModel):
    """A provider that notes whether its thread holds a connection while it is asked."""

    def __init__(self) -> None:
        super().__init__(GREETING)

    def _say(self, request):
        HELD.append(connection.connection is not None)
        return super()._say(request)


HELD: list[bool] = []


def test_no_connection_is_held_while_a_model_is_asked(committed_db, settings):
    """Also when switches and budgets were read just before."""
    settings.DSUPPORT_PROVIDERS = {
        **settings.DSUPPORT_PROVIDERS,
        "watching": f"{__name__}.Watching",
    }
    settings.DSUPPORT_PROVIDER = "watching"
    settings.DSUPPORT_BUDGETS = {**settings.DSUPPORT_BUDGETS, "customer": 1_000_000}
    desk = make_desk(make_tenant())
    sent = desk.say("hello")
    around = Surroundings(owner="w1", crew=Inline(), release=give_back, now=lambda: NOW)
    assert execute_run(sent.run_id, around) == "completed"
    assert HELD == [False, False]
