"""What the fake desk does for a message: scripted runs, chosen by a word in it.

These are the other side's lines in a play. They say nothing about how the real desk answers.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Protocol

Data = dict[str, Any]


class Stage(Protocol):
    """One run under way; the fake server provides it."""

    asker: str
    text: str

    @property
    def ticket(self) -> str: ...
    async def say(self, type_: str, data: Data, **place: Any) -> None: ...
    async def pause(self, seconds: float) -> None: ...
    async def hold(self) -> None: ...


Scenario = Callable[[Stage], Awaitable[str]]

RETURNS = {
    "doc_id": "returns",
    "title": "Returns policy",
    "heading": "How long you have",
    "version": 3,
    "anchor": "how-long-you-have",
    "url": "/help/returns?version=3#how-long-you-have",
    "stale": False,
}
REFUNDS = {
    "doc_id": "refunds",
    "title": "When a refund arrives",
    "heading": "Cards and bank accounts",
    "version": 5,
    "anchor": "cards",
    "url": "/help/refunds?version=5#cards",
    "stale": True,
}


def reply(text: str, **more: Any) -> Data:
    """Build the data of an `answer` event."""
    return {
        "message_id": more.pop("message_id", "m-answer"),
        "answer": text,
        "intent": "other",
        "sources": [],
        "confidence": 0.86,
        "escalated": False,
        "ticket_id": None,
        "needs": None,
        **more,
    }


def desk_says(text: str) -> Data:
    """Build the data of a `message` event of the desk itself."""
    return {"id": "m", "author": "system", "label": "system", "name": "", "text": text}


async def think(stage: Stage, span: str, agent: str, ms: int, **more: Any) -> None:
    data = {
        "model": "offline-rules",
        "text": "Thinking…",
        "ms": ms,
        "input_tokens": 640,
        "output_tokens": 38,
        "stop": more.pop("stop", "tool_use"),
        "notice": "",
    }
    await stage.say("model.called", data, span=span, agent=agent, **more)


async def review(stage: Stage) -> None:
    """Say that a second model has read the draft, and what came of it."""
    await think(stage, "rev", "reviewer", 14, parent="a", stop="end_turn")
    verdict = {"approved": True, "problems": [], "round": 0}
    await stage.say("review.finished", verdict, span="a", agent="assistant")


async def order(stage: Stage) -> str:
    """Look up an order and its parcel through a specialist; a stranger is asked who they are."""
    if stage.asker == "anonymous":
        await think(stage, "a", "orchestrator", 41, stop="end_turn")
        text = "I can look that up for the person who ordered. Tell me who you are first."
        await stage.say("answer", reply(text, needs="identity"))
        return "completed"
    await think(stage, "a", "orchestrator", 38)
    ask = {"tool": "ask_orders", "text": "Asking about your order…", "arguments": {}}
    await stage.say("tool.called", ask, span="t1", parent="a", agent="ask_orders")
    await think(stage, "b", "orders", 52, parent="t1")
    number = {"order_number": "1042"}
    look = {"tool": "get_order", "text": "Looking up order 1042…", "arguments": number}
    await stage.say("tool.called", look, span="t2", parent="b", agent="get_order")
    await stage.pause(0.4)
    await stage.hold()
    summary = "In transit, 2 items, promised 20 November 2026"
    done = {"tool": "get_order", "ok": True, "ms": 23, "summary": summary}
    await stage.say("tool.finished", done, span="t2", parent="b", agent="get_order")
    track = {"tool": "track_shipment", "text": "Asking the carrier…", "arguments": number}
    await stage.say("tool.called", track, span="t3", parent="b", agent="track_shipment")
    await stage.pause(0.4)
    summary = "Last scan 24 November 2026, depot Zwolle"
    done = {"tool": "track_shipment", "ok": True, "ms": 184, "summary": summary}
    await stage.say("tool.finished", done, span="t3", parent="b", agent="track_shipment")
    done = {"tool": "ask_orders", "ok": True, "ms": 312, "summary": ""}
    await stage.say("tool.finished", done, span="t1", parent="a", agent="ask_orders")
    await review(stage)
    await stage.pause(0.3)
    text = (
        "Order **1042** is on its way and ten days late. It was promised for 20 November 2026; "
        "the last scan was on 24 November 2026 at the depot in Zwolle.\n\nWhat is in it:\n\n"
        "- Ridge rain jacket, moss, M: €129.00\n- Trail socks, two pairs: €18.50\n\n"
        "If it has not moved by Wednesday, I can pass it to a person who asks the carrier to "
        "search for it."
    )
    await stage.say("answer", reply(text, confidence=0.93))
    return "completed"


async def returns(stage: Stage) -> str:
    """Answer from two articles, one of them changed since."""
    await think(stage, "a", "assistant", 36)
    query = {"query": "return period"}
    call = {"tool": "search_kb", "text": "Looking through the help articles…", "arguments": query}
    await stage.say("tool.called", call, span="t1", parent="a", agent="search_kb")
    await stage.pause(0.3)
    shipping = {"doc_id": "shipping", "title": "Shipping costs", "heading": "Shipping costs"}
    hits = [
        {**RETURNS, "score": 1.1051},
        {**REFUNDS, "score": 0.71},
        {**shipping, "version": 2, "score": 0.34},
    ]
    found = {**query, "hits": hits, "cutoff": 0.42, "band": "answer"}
    await stage.say("retrieval.finished", found, span="t1", parent="a", agent="search_kb")
    await stage.pause(0.3)
    done = {"tool": "search_kb", "ok": True, "ms": 61, "summary": "3 passages"}
    await stage.say("tool.finished", done, span="t1", parent="a", agent="search_kb")
    await think(stage, "a", "assistant", 44, stop="end_turn")
    await review(stage)
    text = (
        "You have **30 days after delivery** to send an item back. It has to be unused and in its "
        "original packaging.\n\n- Returns from the Netherlands, Belgium and Germany are free.\n"
        "- The refund goes to the way you paid, within 5 working days after the parcel is here.\n"
        "- Sale items can be returned too; gift cards cannot.\n\n"
        "The steps are in [the returns article](/help/returns)."
    )
    await stage.say("answer", reply(text, intent="return_policy", sources=[RETURNS, REFUNDS]))
    return "completed"


async def person(stage: Stage) -> str:
    """Hand over inside a run."""
    await think(stage, "a", "assistant", 30)
    passed = {
        "reason": "complaint",
        "ticket": stage.ticket,
        "text": "This conversation and what I found about order 1042.",
        "opens": "Monday 9:00",
    }
    await stage.say("escalated", passed)
    text = (
        "I am sorry about the sleeve. I have passed this to a person, who can arrange a new jacket."
    )
    await stage.say("answer", reply(text, escalated=True, ticket_id=stage.ticket))
    return "handed_over"


async def hostile(stage: Stage) -> str:
    """Answer with everything that must stay text."""
    text = (
        '<img src=x onerror="window.broken=1"> <script>window.broken=1</script>\n\n'
        "[click](javascript:window.broken=1) ![pixel](https://evil.example/?d=1) "
        "[away](https://evil.example/) [half](//evil.example/help/x) **<b>bold</b>**"
    )
    source = {**RETURNS, "title": "<i>Returns</i>", "url": "javascript:window.broken=1"}
    await stage.say(
        "tool.called",
        {"tool": "<b>x</b>", "text": "<b>Looking</b>…", "arguments": {"a": "<i>"}},
        span="s1",
    )
    await stage.say("answer", reply(text, sources=[source]))
    return "completed"


async def fails(stage: Stage) -> str:
    await think(stage, "a", "assistant", 30)
    return "failed"


async def broken(stage: Stage) -> str:
    """End with a fault: code opens a ticket and says so itself."""
    await think(stage, "a", "assistant", 30)
    passed = {
        "reason": "tool_failure",
        "ticket": stage.ticket,
        "text": "This conversation.",
        "opens": "Monday 9:00",
    }
    await stage.say("escalated", passed)
    text = (
        "Something went wrong on my side. I have passed your question to a person.\n\n"
        f"Your ticket number is {stage.ticket}. Our team is back Monday 9:00 and answers here."
    )
    await stage.say("message", desk_says(text))
    return "failed"


async def many(stage: Stage) -> str:
    """Say more than a hundred things, and things this page has never heard of."""
    for index in range(120):
        await stage.say(
            "tool.called",
            {"tool": "get_order", "text": f"Step {index}…", "arguments": {}},
            span=f"n{index}",
        )
        await stage.say("weather.changed", {"rain": True})
    await stage.say("answer", reply("All 120 steps are done."))
    return "completed"


async def tour(stage: Stage) -> str:
    """Send what a request that acts says of itself, and a refusal beside it."""
    await stage.say(
        "guardrail.denied", {"point": "before_tool", "reason": "order_not_yours"}, span="g1"
    )
    card = {
        "id": "c1",
        "hash": "0" * 64,
        "title": "Refund €49.90 of €99.80 on order 1042",
        "lines": [{"label": "Refund to", "value": "Visa ending 4242"}],
        "warning": "This cannot be undone.",
        "expires_at": "2099-01-01T09:00:00Z",
    }
    await stage.say("confirmation.asked", card, span="g2")
    waits = {"card": "c1", "id": "p1", "state": "pending", "expires_at": "2099-01-01T09:00:00Z"}
    await stage.say("proposal.created", waits, span="g3")
    await stage.say("answer", reply("That is what later looks like."))
    return "completed"


async def trouble(stage: Stage) -> str:
    """Have the vendor fail, wait, and the rules answer in its place."""
    await stage.say(
        "model.failed",
        {"text": "The model did not answer. Trying again…", "provider": "anthropic",
         "code": "overloaded", "ms": 120, "cost": 0},
    )  # fmt: skip
    await stage.say("run.waiting", {"text": "The model is busy. I go on within 3 minutes…"})
    notice = "The model cannot be reached; the offline rules answer."
    await think(stage, "a", "assistant", 30, notice=notice)
    await stage.say("answer", reply("Here is what I know.", notice=notice))
    return "completed"


async def silence(stage: Stage) -> str:
    """Work and say nothing, because a person has taken over."""
    await think(stage, "a", "assistant", 30)
    return "completed"


async def plain(stage: Stage) -> str:
    await think(stage, "a", "assistant", 30)
    await stage.pause(0.1)
    await stage.hold()
    await stage.say("answer", reply(f"You said: {stage.text}"))
    return "completed"


WORDS: list[tuple[str, Scenario]] = [
    ("order", order),
    ("return", returns),
    ("torn", person),
    ("hostile", hostile),
    ("fail", fails),
    ("broken", broken),
    ("many", many),
    ("tour", tour),
    ("trouble", trouble),
]


def scenario_for(text: str) -> Scenario:
    lower = text.casefold()
    return next((scenario for word, scenario in WORDS if word in lower), plain)
