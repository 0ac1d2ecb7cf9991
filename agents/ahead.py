"""Look-ups that code makes before a model is first asked: any reading of the words needs them.

A customer who is known and names one order gets it looked up at once, with its parcels and what
the help says to the words. The results stand behind the customer's words as text of the desk, so
a model that needs nothing else answers with its first call.
"""

from __future__ import annotations

from datetime import date

from agents.context import LOOKED_UP
from agents.loop import Agent
from agents.scope import RunScope
from agents.toolbox import as_part, prepare_call
from agents.understanding.entities import find_entities
from dsupport.contract.llm import Text
from dsupport.contract.tools import ToolCall

_QUERY = 1_000  # characters


def look_ahead(agent: Agent, scope: RunScope, place: str, *, today: date) -> tuple[Text, ...]:
    """Make the look-ups and return them as parts for the model; none when they are not plain."""
    calls = [call for call in _plan(scope, today) if call.name in agent.tools]
    if len(calls) < 2:
        return ()
    work = [
        prepare_call(agent.tools[call.name], call, scope, f"{place}.{index}")
        for index, call in enumerate(calls)
    ]
    scope.check(settle=False)
    results = scope.parallel(work)
    return tuple(
        _shown(as_part(call, result).content) for call, result in zip(calls, results, strict=True)
    )


def _plan(scope: RunScope, today: date) -> list[ToolCall]:
    words = "\n".join(scope.evidence.words)
    named = find_entities(words, today=today).orders
    if scope.principal.is_anonymous or len(named) != 1:
        return []
    order = {"order_number": named[0]}
    return [
        ToolCall("ahead_0", "get_order", order),
        ToolCall("ahead_1", "track_shipment", order),
        ToolCall("ahead_2", "search_kb", {"query": words[:_QUERY]}),
    ]


def _shown(content: str) -> Text:
    """Return a result as text of the desk. Nothing in it can end the block it stands in."""
    inside = content.replace("<", "\\u003c")
    return Text(f"{LOOKED_UP}{inside}</looked-up>")
