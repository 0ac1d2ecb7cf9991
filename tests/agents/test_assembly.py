"""Teams that must not exist are refused at start-up."""

from __future__ import annotations

import pytest

from agents.assembly import ACCESS, DEFAULT_ASSEMBLY, Assembly, build_desk
from agents.errors import AssemblyRefused
from agents.toolkit import all_tools

INTENTS = ("greeting",)


def changed(**roles) -> Assembly:
    return Assembly(access={**ACCESS, **roles})


def test_orchestrator_with_a_data_tool_is_refused():
    wrong = changed(orchestrator=("ask_orders", "get_order"))
    with pytest.raises(AssemblyRefused, match="must not hold 'get_order'"):
        build_desk("team", all_tools(), INTENTS, wrong)


def test_specialist_that_delegates_is_refused():
    with pytest.raises(AssemblyRefused, match="must not delegate"):
        build_desk("team", all_tools(), INTENTS, changed(orders=("ask_knowledge",)))


def test_unknown_tool_is_refused():
    with pytest.raises(AssemblyRefused, match="which no room offers"):
        build_desk("solo", all_tools(), INTENTS, changed(solo=("launch_rocket",)))


def test_team_gives_each_specialist_only_its_tools():
    desk = build_desk("team", all_tools(), INTENTS)
    held = {name: set(agent.tools) for name, agent in desk.producer.delegates.items()}
    assert held == {
        "ask_knowledge": {"search_kb", "get_product"},
        "ask_orders": {"list_my_orders", "get_order", "track_shipment", "request_change"},
        "escalate": {"create_ticket"},
    }
    assert set(desk.producer.tools) == set(held)


def test_solo_and_team_reach_the_same_tools():
    team = build_desk("team", all_tools(), INTENTS).producer
    reached = {name for agent in team.delegates.values() for name in agent.tools}
    assert reached == set(build_desk("solo", all_tools(), INTENTS).producer.tools)


def test_every_agent_has_a_prompt_of_its_own():
    desk = build_desk("team", all_tools(), INTENTS)
    prompts = [desk.producer.prompt, *(agent.prompt for agent in desk.producer.delegates.values())]
    assert len(set(prompts)) == len(prompts)


def test_no_tool_takes_an_identity():
    for name, spec in all_tools().items():
        for argument in spec.schema().get("properties", {}):
            assert not any(word in argument for word in ("customer", "email", "user", "tenant")), (
                name
            )


def test_default_assembly_is_the_shipped_access():
    assert DEFAULT_ASSEMBLY.access is ACCESS
