"""Each vendor's real SDK against its fake, by the same tests."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest
from pydantic import Field

from agents.adapters.vendors.claude import Claude
from agents.adapters.vendors.house import House, RoleModel
from agents.adapters.vendors.openai_compatible import OpenAICompatible
from agents.answer import AnswerForm
from dsupport.contract.llm import ChatMessage, ModelReply, ModelRequest
from dsupport.contract.tools import ToolArguments, ToolResult, ToolSpec
from dsupport.lib.prices import Price
from tests.vendors.claude import FakeClaude
from tests.vendors.openai import FakeLocal, FakeOpenAI
from tests.vendors.wire import FakeVendor

PRICES = {"model-a": Price(Decimal(2), Decimal(10), Decimal("2.5"), Decimal("0.1"))}
FORM = {"answer": "It ships on Monday.", "intent": "greeting", "confidence": 0.9}


class OrderArguments(ToolArguments):
    order_number: str = Field(min_length=1, max_length=20, description="The order's number")
    pieces: int = Field(default=1, ge=1, le=9)


def _never(_arguments: Any, _context: Any) -> ToolResult:
    raise AssertionError("an adapter runs no tool")


LOOK_UP = ToolSpec("get_order", "Look an order up.", OrderArguments, _never)
REFUND = ToolSpec("refund", "Give money back.", OrderArguments, _never, writes=True)


def asking(**fields: Any) -> ModelRequest:
    """Return a request as the engine makes one: tools, a form, what changes from turn to turn."""
    defaults: dict[str, Any] = {
        "role": "solo",
        "system": "You help the customers of a shop.",
        "messages": (ChatMessage.user("Where is my order 1042?"),),
        "tools": (LOOK_UP, REFUND),
        "context": {"today": "2026-10-15", "asker": "signed_in"},
        "schema": AnswerForm,
    }
    return ModelRequest(**{**defaults, **fields})


@dataclass
class Vendor:
    """An adapter on its real SDK, and the way to script the other side."""

    kind: str
    start: Callable[..., FakeVendor]
    fake: FakeVendor | None = None
    adapter: Any = None

    def plays(self, *script: Any, **house: Any) -> Vendor:
        self.fake = self.start(script)
        base = self.fake.url if self.kind == "claude" else f"{self.fake.url}/v1"
        settings = House(
            **{
                "api_key": "test-key",
                "base_url": base,
                "default": RoleModel("model-a"),
                "prices": PRICES,
                "next_as_schema": self.kind == "local",
                **house,
            }
        )
        self.adapter = (Claude if self.kind == "claude" else OpenAICompatible)(settings)
        return self

    def ask(self, seconds: float = 5.0, **fields: Any) -> ModelReply:
        reply: ModelReply = self.adapter.ask(asking(**fields), seconds)
        return reply

    @property
    def bodies(self) -> list[dict[str, Any]]:
        assert self.fake is not None
        return [asked.body for asked in self.fake.asked]


FAKES = {"claude": FakeClaude, "openai": FakeOpenAI, "local": FakeLocal}


@pytest.fixture(params=FAKES)
def vendor(request):
    with ExitStack() as stack:

        def start(script):
            return stack.enter_context(FAKES[request.param](script))

        made = Vendor(request.param, start)
        yield made
        if made.fake is not None:
            made.adapter.close()
            assert made.fake.breaches == []


def form_text(**fields: Any) -> str:
    return json.dumps({**FORM, **fields})
