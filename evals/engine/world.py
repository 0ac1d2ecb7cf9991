"""The small world of the measured run: one tool without a table, a producer and a reviewer."""

from __future__ import annotations

from agents.answer import AnswerForm
from agents.loop import Agent
from agents.review import Desk
from dsupport.contract.tools import Source, ToolArguments, ToolContext, ToolResult, ToolSpec

QUESTION = "How long may I return this?"
_PASSAGE = Source("returns", "Returns policy", "Time", 3, 0.8, "You have 30 days after delivery.")


class Query(ToolArguments):
    query: str


def search_kb(_arguments: Query, _context: ToolContext | None) -> ToolResult:
    hit = {"doc_id": _PASSAGE.doc_id, "title": _PASSAGE.title, "text": _PASSAGE.text}
    return ToolResult(data={"hits": [hit]}, sources=(_PASSAGE,), trust="article")


SEARCH = ToolSpec("search_kb", "Search the help articles.", Query, search_kb)
DESK = Desk(
    Agent("solo", "Answer.", {SEARCH.name: SEARCH}, schema=AnswerForm),
    Agent("reviewer", "Review."),
    {"return_policy"},
)


def offered() -> list[dict[str, object]]:
    """Return the tool as the vendor's SDK takes it."""
    return [
        {
            "name": SEARCH.name,
            "description": SEARCH.description,
            "input_schema": SEARCH.arguments.model_json_schema(),
        }
    ]
