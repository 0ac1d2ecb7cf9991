# /// script
# requires-python = ">=3.11"
# dependencies = [
#     "langchain-anthropic>=1.0",
#     "langgraph>=1.0",
#     "langgraph-checkpoint-postgres>=3.0",
#     "psycopg[binary,pool]>=3.2",
# ]
# ///
"""The same run as in `evals.engine`, by langgraph with its PostgreSQL checkpointer.

Started by `manage.py bench engine --langgraph` in an environment of its own. The nodes stream by
langchain's model class, as langgraph's documentation has it, or with `--sdk` through the vendor's
SDK, which costs less. Every step is on record before the next one begins, as in ours. Prints one
JSON object with milliseconds a run: `wall_ms` and `cpu_ms`, the least of three rounds.
"""

from __future__ import annotations

import argparse
import json
import operator
import sys
import time
import uuid
from typing import Annotated, Any, Protocol, TypedDict

import anthropic
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Send
from psycopg.rows import dict_row
from psycopg_pool import ConnectionPool

_ROUNDS = 3
_KEPT = ("type", "text", "id", "name", "input")


class Ask(Protocol):
    def __call__(self, messages: list[Any], *, offer: bool = False) -> list[Any]: ...


class State(TypedDict):
    messages: Annotated[list[Any], operator.add]
    results: Annotated[list[Any], operator.add]
    drafts: int


def ask_by_sdk(url: str, tools: list[Any]) -> Ask:
    client = anthropic.Anthropic(api_key="key", base_url=url, max_retries=0)
    system = [{"type": "text", "text": "Answer."}]

    def ask(messages: list[Any], *, offer: bool = False) -> list[Any]:
        with client.messages.stream(
            model="model-a",
            max_tokens=2_000,
            system=system,
            messages=messages,
            **({"tools": tools} if offer else {}),
        ) as stream:
            return stream.get_final_message().to_dict()["content"]

    return ask


def ask_by_langchain(url: str, tools: list[Any]) -> Ask:
    from langchain_anthropic import ChatAnthropic

    plain = ChatAnthropic(
        model="model-a", api_key="key", base_url=url, max_retries=0, max_tokens=2_000,
        streaming=True,
    )  # fmt: skip
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
        hit = {"doc_id": "returns", "title": "Returns policy"}
        content = json.dumps({"hits": [{**hit, "text": "You have 30 days after delivery."}]})
        result = {"type": "tool_result", "tool_use_id": call["id"], "content": content}
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
    parser.add_argument("--sdk", action="store_true", help="without langchain's model class")
    parser.add_argument("--runs", type=int, default=60)
    options = parser.parse_args()
    make = ask_by_sdk if options.sdk else ask_by_langchain
    ask = make(options.fake, json.loads(options.tools))
    settings = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
    with ConnectionPool(options.database, max_size=12, kwargs=settings) as pool:
        saver = PostgresSaver(pool)
        saver.setup()
        graph = make_graph(ask, saver)
        sys.stdout.write(json.dumps(measure(graph, options.runs)) + "\n")


def measure(graph: Any, runs: int) -> dict[str, float]:
    def once() -> None:
        question = {"role": "user", "content": [{"type": "text", "text": "How long?"}]}
        ended = graph.invoke(
            {"messages": [question]},
            {"configurable": {"thread_id": str(uuid.uuid4())}},
            durability="sync",
        )
        if ended["drafts"] != 1:
            raise RuntimeError(f"the run ended otherwise: {ended}")

    once()
    costs = []
    for _ in range(_ROUNDS):
        wall, cpu = time.perf_counter(), time.process_time()
        for _ in range(runs):
            once()
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        costs.append((wall / runs * 1_000, cpu / runs * 1_000))
    return {"wall_ms": min(c[0] for c in costs), "cpu_ms": min(c[1] for c in costs)}


if __name__ == "__main__":
    main()
