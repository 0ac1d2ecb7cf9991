# /// script
# requires-python = ">=3.11"
# dependencies = [
#     "langchain>=1.0",
#     "langchain-anthropic>=1.0",
#     "langgraph>=1.0",
#     "langgraph-checkpoint-postgres>=3.0",
#     "psycopg[binary,pool]>=3.2",
# ]
# ///
"""The same run as in `evals.engine`, by langgraph with its PostgreSQL checkpointer.

Started by `manage.py bench engine --langgraph` in an environment of its own. `prebuilt` is its own
agent, `create_agent`, asked again on the same thread to mend its draft, and a second one that
reviews. `graph` is a graph by hand that does no more than it must, which costs less. Both stream by
langchain's model class, and every step is on record before the next one begins, as in ours. Prints
one JSON object with milliseconds a run: `wall_ms` and `cpu_ms`, the least of three rounds.
"""

from __future__ import annotations

import argparse
import json
import operator
import sys
import time
import uuid
from collections.abc import Callable
from typing import Annotated, Any, Protocol, TypedDict

from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Send
from psycopg.rows import dict_row
from psycopg_pool import ConnectionPool

_ROUNDS = 3
_DRAFTING_CALLS = 3  # and one more that reviews
_KEPT = ("type", "text", "id", "name", "input")


Run = Callable[[], int]  # returns how many answers of the model the drafting took


class Ask(Protocol):
    def __call__(self, messages: list[Any], *, offer: bool = False) -> list[Any]: ...


class State(TypedDict):
    messages: Annotated[list[Any], operator.add]
    results: Annotated[list[Any], operator.add]
    drafts: int


def make_model(url: str) -> ChatAnthropic:
    return ChatAnthropic(
        model="model-a",
        api_key="key",
        base_url=url,
        max_retries=0,
        max_tokens=2_000,
        streaming=True,
    )


def found(**_query: Any) -> str:
    """Answer a look-up, as the tool of the measured run does."""
    hit = {"doc_id": "returns", "title": "Returns policy"}
    return json.dumps({"hits": [{**hit, "text": "You have 30 days after delivery."}]})


# --- its own agent --------------------------------------------------------------------------


def prebuilt_run(plain: ChatAnthropic, tools: list[Any], saver: PostgresSaver) -> Run:
    offered = [
        StructuredTool.from_function(
            found,
            name=tool["name"],
            description=tool["description"],
            args_schema=tool["input_schema"],
        )
        for tool in tools
    ]
    worker = create_agent(plain, offered, system_prompt="Answer.", checkpointer=saver)
    reviewer = create_agent(plain, [], system_prompt="Review.", checkpointer=saver)

    def once() -> int:
        thread = _thread()
        worker.invoke({"messages": [("user", "How long?")]}, thread, durability="sync")
        drafted = worker.invoke({"messages": [("user", "Mend it.")]}, thread, durability="sync")
        case = str(drafted["messages"][-1].content)
        reviewer.invoke({"messages": [("user", case)]}, _thread(), durability="sync")
        return sum(message.type == "ai" for message in drafted["messages"])

    return once


# --- a graph by hand ------------------------------------------------------------------------


def graph_run(plain: ChatAnthropic, tools: list[Any], saver: PostgresSaver) -> Run:
    graph = make_graph(make_ask(plain, tools), saver)
    question = {"role": "user", "content": [{"type": "text", "text": "How long?"}]}

    def once() -> int:
        ended = graph.invoke({"messages": [question]}, _thread(), durability="sync")
        return sum(message["role"] == "assistant" for message in ended["messages"])

    return once


def make_ask(plain: ChatAnthropic, tools: list[Any]) -> Ask:
    offering = plain.bind_tools(tools)

    def ask(messages: list[Any], *, offer: bool = False) -> list[Any]:
        said = (offering if offer else plain).invoke([("system", "Answer."), *messages])
        text = said.content if isinstance(said.content, str) else ""
        blocks = [{"type": "text", "text": text}] if text else list(said.content)
        return [{key: block[key] for key in _KEPT if key in block} for block in blocks]

    return ask


def make_graph(ask: Ask, saver: PostgresSaver) -> Any:
    def model(state: State) -> dict[str, Any]:
        done = state.get("results") or []
        heard = [{"role": "user", "content": done}] if done and not state.get("drafts") else []
        content = ask([*state["messages"], *heard], offer=True)
        said = [*heard, {"role": "assistant", "content": content}]
        return {"messages": said}

    def calls_of(state: State) -> list[Any]:
        return [b for b in state["messages"][-1]["content"] if b["type"] == "tool_use"]

    def after_model(state: State) -> Any:
        calls = calls_of(state)
        if calls:
            return [Send("tool", {"call": call}) for call in calls]
        return "review" if state.get("drafts") else "mend"

    def tool(state: dict[str, Any]) -> dict[str, Any]:
        call = state["call"]
        result = {"type": "tool_result", "tool_use_id": call["id"], "content": found()}
        return {"results": [result]}

    def mend(state: State) -> dict[str, Any]:
        words = {"role": "user", "content": [{"type": "text", "text": "Mend it."}]}
        return {"messages": [words], "drafts": state.get("drafts", 0) + 1}

    def review(state: State) -> dict[str, Any]:
        case = json.dumps(state["messages"][-1])
        ask([{"role": "user", "content": [{"type": "text", "text": case}]}])
        return {}

    graph = StateGraph(State)
    for node in (model, tool, mend, review):
        graph.add_node(node.__name__, node)
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", after_model, ["tool", "mend", "review"])
    graph.add_edge("tool", "model")
    graph.add_edge("mend", "model")
    graph.add_edge("review", END)
    return graph.compile(checkpointer=saver)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fake", required=True)
    parser.add_argument("--database", required=True)
    parser.add_argument("--tools", required=True)
    parser.add_argument("--kind", choices=["prebuilt", "graph"], default="prebuilt")
    parser.add_argument("--runs", type=int, default=60)
    options = parser.parse_args()
    make = prebuilt_run if options.kind == "prebuilt" else graph_run
    settings = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
    with ConnectionPool(options.database, max_size=12, kwargs=settings) as pool:
        saver = PostgresSaver(pool)
        saver.setup()
        once = make(make_model(options.fake), json.loads(options.tools), saver)
        sys.stdout.write(json.dumps(measure(once, options.runs)) + "\n")


def measure(once: Run, runs: int) -> dict[str, float]:
    if once() != _DRAFTING_CALLS:
        raise RuntimeError("the run went another way than ours")
    costs = []
    for _ in range(_ROUNDS):
        wall, cpu = time.perf_counter(), time.process_time()
        for _ in range(runs):
            once()
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        costs.append((wall / runs * 1_000, cpu / runs * 1_000))
    return {"wall_ms": min(c[0] for c in costs), "cpu_ms": min(c[1] for c in costs)}


def _thread() -> Any:
    return {"configurable": {"thread_id": str(uuid.uuid4())}}


if __name__ == "__main__":
    main()
