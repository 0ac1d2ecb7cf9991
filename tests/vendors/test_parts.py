"""The pure parts of the adapters: pairs, prices, schemas, settings."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.adapters.vendors.calls import read_call
from agents.adapters.vendors.house import RoleModel
from agents.adapters.vendors.pairs import index_of_words, paired
from agents.adapters.vendors.schemas import slim
from agents.assembly import ROLES
from agents.checks import check_models
from agents.houses import problems_of, read_house
from dsupport.contract.llm import CallPart, ChatMessage, ResultPart, Text
from dsupport.contract.tools import ToolCall
from dsupport.environment import Environment
from dsupport.lib.prices import Price, Tokens, find_price, usage_of

# --- pairs ----------------------------------------------------------------------------------

IDS = st.sampled_from(["a", "b", "c"])
TEXTS = st.sampled_from(["", " ", "hello", "and now?"]).map(Text)
CALLS = IDS.map(lambda id: CallPart(ToolCall(id, "get_order", {})))
RESULTS = IDS.map(lambda id: ResultPart(id, "get_order", "{}"))
MESSAGES = st.lists(
    st.builds(
        ChatMessage,
        role=st.sampled_from(["user", "assistant"]),
        parts=st.lists(TEXTS | CALLS | RESULTS, max_size=4, unique_by=repr).map(tuple),
    ),
    max_size=6,
)


@given(MESSAGES)
def test_any_history_comes_out_with_each_call_answered_right_after_it(messages):
    waiting: list[str] = []
    for message in paired(messages):
        assert message.parts
        assert all(not isinstance(p, Text) or p.text.strip() for p in message.parts)
        results = [p.call_id for p in message.parts if isinstance(p, ResultPart)]
        if message.role == "user":
            assert results == waiting
            assert list(message.parts[: len(results)]) == [
                p for p in message.parts if isinstance(p, ResultPart)
            ]
            waiting = []
        else:
            assert not waiting
            waiting = [p.call.id for p in message.parts if isinstance(p, CallPart)]
    assert not waiting


@given(MESSAGES)
def test_history_that_is_whole_is_left_alone(messages):
    once = paired(messages)
    assert paired(once) == once


def test_words_keep_their_place_while_tools_are_called():
    words = ChatMessage.user("Where is it?")
    called = ChatMessage("assistant", (CallPart(ToolCall("a", "get_order", {})),))
    told = ChatMessage("user", (ResultPart("a", "get_order", "{}"),))
    history = [ChatMessage.user("Hello"), ChatMessage.assistant("Hi"), words, called, told]
    assert index_of_words(history[:3]) == index_of_words(history) == 2


# --- prices ---------------------------------------------------------------------------------

LONG = Price(Decimal("0.50"), Decimal("2.50"))
HAIKU = Price(Decimal("0.10"), Decimal("0.50"), Decimal("0.125"), Decimal("0.01"), 100_000, LONG)


@pytest.mark.parametrize(
    ("tokens", "millionths"),
    [
        (Tokens(input=1_000_000), 500_000),  # a long prompt, dearer as a whole
        (Tokens(input=100_000), 10_000),
        (Tokens(input=100_001), 50_001),
        (Tokens(output=1_000), 500),
        (Tokens(cache_write=1_000, cache_read=1_000), 135),
        (Tokens(input=1), 1),  # a tenth of a millionth, rounded up
        (Tokens(), 0),
    ],
)
def test_cost_is_exact_and_rounded_up(tokens, millionths):
    assert usage_of(tokens, "haiku", {"haiku": HAIKU}).cost == millionths


def test_price_is_that_of_the_longest_family_name():
    prices = {"claude-haiku": LONG, "claude-haiku-5-5": HAIKU}
    assert find_price("claude-haiku-5-5-20260101", prices) is HAIKU
    assert find_price("claude-haiku-5-50", prices) is LONG
    assert find_price("claude-haikuesque", prices) is None


# --- schemas and calls ----------------------------------------------------------------------


def test_slim_schema_keeps_what_steers_a_model():
    schema = {
        "title": "Thing",
        "description": "A docstring.",
        "type": "object",
        "properties": {
            "title": {"title": "Title", "type": "string", "description": "What it is called"},
            "size": {"title": "Size", "type": "integer", "description": "How big\n\n{default: 1}"},
            "none": {"anyOf": [{"type": "null"}], "description": "{default: None}"},
        },
        "required": ["title"],
    }
    assert slim(schema) == {
        "type": "object",
        "properties": {
            "title": {"type": "string", "description": "What it is called"},
            "size": {"type": "integer", "description": "How big"},
            "none": {"anyOf": [{"type": "null"}]},
        },
        "required": ["title"],
    }


@pytest.mark.parametrize(("raw", "arguments"), [("", {}), ("{}", {}), ('{"a": 1}', {"a": 1})])
def test_call_without_arguments_is_no_broken_one(raw, arguments):
    call = read_call("c", "t", raw)
    assert (dict(call.arguments), call.malformed) == (arguments, "")


# --- settings -------------------------------------------------------------------------------


def test_roles_have_the_vendors_own_models_until_the_operator_names_one(settings):
    house = read_house("anthropic")
    assert house.model_for("solo").model == "claude-sonnet-5-5"
    assert house.model_for("reviewer") == RoleModel("claude-haiku-5-5", "low", 4_000)
    settings.DSUPPORT_MODEL = "claude-opus-5-5"
    assert read_house("anthropic").model_for("reviewer").model == "claude-opus-5-5"
    settings.DSUPPORT_ROLES = {"reviewer": {"model": "small", "effort": "", "thinking_room": 0}}
    assert read_house("anthropic").model_for("reviewer") == RoleModel("small", "", 0)


def test_environment_names_the_model_of_a_role_alone():
    env = Environment(dsupport_model_answerability="tiny")
    assert env.models_by_role() == {"answerability": "tiny"}
    fields = {f"dsupport_model_{role}" for role in ROLES}
    assert fields <= set(Environment.model_fields)


def test_every_model_that_is_chosen_by_default_has_a_price():
    house = read_house("anthropic")
    for role in ROLES:
        assert find_price(house.model_for(role).model, house.prices) is not None


def test_missing_key_model_and_price_are_said_and_stop_nothing(settings):
    assert problems_of("offline") == []
    assert "has no key" in problems_of("anthropic")[0]
    houses = settings.DSUPPORT_MODELS
    settings.DSUPPORT_MODELS = {
        "anthropic": {**houses["anthropic"], "api_key": "k"},
        "openai": {**houses["openai"], "base_url": "http://127.0.0.1:11434/v1"},
    }
    assert problems_of("anthropic") == []
    assert "No model is named" in problems_of("openai")[0]
    settings.DSUPPORT_MODEL = "my-model"
    assert problems_of("openai") == [
        "my-model has no price, so budgets do not count it. Set DSUPPORT_PRICES."
    ]
    settings.DSUPPORT_PROVIDER = "openai"
    assert [message.id for message in check_models()] == ["agents.W001"]
