"""The delayed parcel on a scripted but realistic Claude: what an answer costs in calls and tokens.

    uv run pytest -n 0 -s tests/vendors/test_delayed_parcel.py

prints the figures. Tokens are the bytes of the real requests, divided by four.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import Any

import pytest

from agents import services
from agents.adapters.offline import OfflineRules
from agents.adapters.vendors.claude import Claude
from agents.adapters.vendors.house import House, RoleModel
from agents.context import LOOKED_UP
from agents.metered import Metered
from agents.models import Event, Message, Run
from agents.providers import POLICY, FallingBack
from agents.runner import Surroundings, execute_run
from agents.threads import Inline
from dsupport.contract.principal import Principal
from dsupport.lib import clock
from dsupport.lib.gateway import Gateway, Room
from dsupport.models import Tenant
from orders.tools import enter_as
from tests.databases import SEEDED_AT
from tests.vendors.claude import FakeClaude
from tests.vendors.script import Fault, Says

QUESTION = "My order 1042 has not arrived"
# What a published team design needs for the same question.
PUBLISHED_CALLS, PUBLISHED_TOKENS = 12, 15_000
MOST_CALLS, MOST_TOKENS = 5, 6_000

LOOK_UP = (
    ("get_order", {"order_number": "1042"}),
    ("track_shipment", {"order_number": "1042"}),
    ("search_kb", {"query": "parcel more than a week late"}),
)
TICKET = {
    "reason": "action_needed",
    "summary": "Order 1042 is late; the customer asks where it is. Please ask the carrier.",
    "order_number": "1042",
}


def results_in(body: dict[str, Any]) -> dict[str, Any]:
    """Return what the tools answered so far, by the name of the tool that was called."""
    names: dict[str, str] = {}
    found: dict[str, Any] = {}
    for message in body["messages"]:
        for block in message["content"]:
            if block["type"] == "tool_use":
                names[block["id"]] = block["name"]
            elif block["type"] == "tool_result":
                found[names[block["tool_use_id"]]] = json.loads(block["content"])["data"]
            elif block["text"].startswith(LOOKED_UP):
                inside = block["text"].removeprefix(LOOKED_UP).removesuffix("</looked-up>")
                result = json.loads(inside)
                found[result["tool"]] = result["data"]
    return found


def form_of(order: dict[str, Any], source: dict[str, Any], **fields: Any) -> Says:
    answer = (
        f"Order 1042 was promised for {order['promised_on']} and is {order['days_late']} days "
        "late. I have passed this to our team as ticket {ticket}; they check with the carrier."
    )
    form = {
        "answer": answer,
        "intent": "late_delivery",
        "sources": [{"doc_id": source["doc_id"], "heading": source["heading"]}],
        "confidence": 0.9,
        "hand_over": TICKET,
        **fields,
    }
    return Says(json.dumps(form))


def solo(body: dict[str, Any]) -> Says:
    """Play one agent that looks everything up at once, then answers and asks for a person."""
    if not body.get("tools"):
        return Says('{"approved": true, "problems": []}')
    found = results_in(body)
    if not found:
        return Says(calls=LOOK_UP)
    return form_of(found["get_order"], found["search_kb"]["hits"][0])


def team(body: dict[str, Any]) -> Says:
    """Play an orchestrator that asks its specialists beside each other, and those."""
    held = {tool["name"] for tool in body.get("tools", [])}
    found = results_in(body)
    if not held:
        return Says('{"approved": true, "problems": []}')
    if "ask_orders" in held:
        return orchestrator(found)
    if "get_order" in held and not found:
        return Says(calls=LOOK_UP[:2])
    if "search_kb" in held and not found:
        return Says(calls=LOOK_UP[2:])
    return Says(json.dumps(found))


def orchestrator(found: dict[str, Any]) -> Says:
    if not found:
        asked = (
            ("ask_orders", {"question": f"{QUESTION}. How does order 1042 stand?"}),
            ("ask_knowledge", {"question": "What do we do about a late parcel?"}),
        )
        return Says(calls=asked)
    orders = json.loads(found["ask_orders"]["report"])["get_order"]
    hit = json.loads(found["ask_knowledge"]["report"])["search_kb"]["hits"][0]
    return form_of(orders, hit)


@dataclass(frozen=True)
class Figures:
    status: str
    ending: str
    by_rules: int
    calls: int
    tokens: int
    cacheable: int
    said: str


def play(architecture: str, model: Any) -> Figures:
    shop = Tenant.objects.get(slug="demo")
    visitor = Principal(tenant_id=shop.pk, visitor="v")
    customer = enter_as(tenant=shop, principal=visitor, email="fleur.hendriks@example.com")
    talk = services.open_conversation(principal=customer, now=SEEDED_AT)
    sent = services.submit_message(
        principal=customer, conversation_id=talk.pk, text=QUESTION, now=SEEDED_AT, wake=False
    )
    Run.objects.for_worker(sent.run_id).update(architecture=architecture, provider="anthropic")
    with FakeClaude([model]) as fake:
        claude = Claude(House("key", fake.url, RoleModel("claude-sonnet-5-5")))

        def client(asking: Any) -> FallingBack:
            main = Metered(
                claude, Gateway(sleep=lambda _seconds: None), POLICY, Room(4), asking.book
            )
            return FallingBack(main, OfflineRules(), lambda: "")

        around = Surroundings(
            owner="w1",
            crew=Inline(),
            release=lambda: None,
            now=lambda: SEEDED_AT,
            client=client,
        )
        with clock.frozen(SEEDED_AT):
            status = execute_run(sent.run_id, around)
        claude.close()
        assert fake.breaches == []
        bodies = [asked.body for asked in fake.asked]
        sizes = [int(asked.headers["content-length"]) for asked in fake.asked]
    repeated = [body for body in bodies[1:] if body.get("tools") == bodies[0].get("tools")]
    beginning = [bodies[0].get("tools"), bodies[0]["system"]]
    fixed = len(json.dumps(beginning, separators=(",", ":")).encode())
    answers = Message.objects.for_conversation(talk).filter(author="assistant")
    notices = [
        event.data["notice"]
        for event in Event.objects.after(talk.pk, 0)
        if event.type == "model.called" and event.data["notice"]
    ]
    return Figures(
        status=str(status),
        ending=Run.objects.for_worker(sent.run_id).get().ending,
        by_rules=len(notices),
        calls=len(bodies),
        tokens=sum(sizes) // 4,
        cacheable=fixed * len(repeated) // 4,
        said=" ".join(answer.text for answer in answers),
    )


@pytest.mark.parametrize(("architecture", "model"), [("solo", solo), ("team", team)])
def test_delayed_parcel_is_answered_with_the_facts_and_counted(module_demo_db, architecture, model):
    figures = play(architecture, model)
    sys.stdout.write(
        f"\n{architecture}: {figures.calls} model calls, {figures.tokens:,} input tokens, of which "
        f"{figures.cacheable:,} repeat a cached beginning "
        f"(a published team: {PUBLISHED_CALLS} calls, {PUBLISHED_TOKENS:,} tokens)"
    )
    assert (figures.status, figures.by_rules) == ("handed_over", 0)
    assert "2026-10-05" in figures.said or "5 October 2026" in figures.said
    assert "10 days late" in figures.said
    assert "TKT-" in figures.said
    if architecture == "solo":
        assert figures.calls <= MOST_CALLS
        assert figures.tokens <= MOST_TOKENS
    else:
        assert figures.calls <= PUBLISHED_CALLS
        assert figures.tokens <= PUBLISHED_TOKENS


@pytest.mark.parametrize(("architecture", "model"), [("solo", solo), ("team", team)])
@pytest.mark.parametrize("answered", [0, 1, 2, 4])
def test_rules_go_on_where_a_model_stopped(module_demo_db, architecture, model, answered):
    """A vendor that dies in the middle of a run leaves its half-done work to the offline rules."""
    left = [answered]

    def dying(body: dict[str, Any]) -> Says | Fault:
        left[0] -= 1
        return model(body) if left[0] >= 0 else Fault(401)

    figures = play(architecture, dying)
    assert (figures.status, figures.ending) == ("handed_over", "")
    assert "1042" in figures.said
    assert "5 October 2026" in figures.said or "2026-10-05" in figures.said
    assert "TKT-" in figures.said
