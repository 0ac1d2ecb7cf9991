"""What the engine costs beside a bare loop on the vendor's SDK, in one process.

    uv run python -m tests.vendors.engine_bench [--runs 60] [--langgraph]

One run is four model calls and two parallel tools against a fake without latency, which runs in a
process of its own. `bare` streams the same replies and runs the same tools with nothing around
them; it is measured first and last, and the lesser of both counts. `journal` is a waiting run from
its claim to its end in PostgreSQL; `whole` adds the customer's side, a new conversation and its
message. Processor time is this process's, all threads of it. Every figure is the least of three
rounds, as milliseconds a run.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

_LOOK_UP = (("search_kb", {"query": "return"}), ("search_kb", {"query": "send back"}))
_DRAFT = {"intent": "return_policy", "confidence": 0.9, "sources": [{"doc_id": "returns"}]}
_BARS = {"guards": {"cpu": 1.15}, "journal": {"cpu": 1.6, "wall": 2.0}}
_OF_LANGGRAPH = {"cpu": 0.4, "wall": 0.4}
_ROUNDS = 3
_THIS = [sys.executable, "-m", "tests.vendors.engine_bench"]


def reply_to(body: dict[str, Any]) -> Any:
    """Play the vendor: look-ups, a draft that code refuses, a better one, a review."""
    from tests.vendors.script import Says

    if not body.get("tools"):
        return Says('{"approved": true, "problems": []}')
    turns = sum(1 for message in body["messages"] if message["role"] == "assistant")
    if turns == 0:
        return Says(calls=_LOOK_UP)
    days = 500 if turns == 1 else 30
    return Says(json.dumps({**_DRAFT, "answer": f"You have {days} days after delivery."}))


def serve() -> None:
    """Run the fake until its standard input closes."""
    from tests.vendors.claude import FakeClaude

    with FakeClaude([reply_to]) as fake:
        sys.stdout.write(f"{fake.url}\n")
        sys.stdout.flush()
        sys.stdin.read()


@dataclass(frozen=True)
class Cost:
    """Milliseconds of one run."""

    wall: float
    cpu: float


def measure(
    once: Callable[[], None], runs: int, ready: Callable[[int], None] = lambda _runs: None
) -> Cost:
    """Return what one run costs; `ready` is told how many come and is not counted."""
    ready(1)
    once()
    costs = []
    for _ in range(_ROUNDS):
        ready(runs)
        wall, cpu = time.perf_counter(), time.process_time()
        for _ in range(runs):
            once()
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        costs.append(Cost(wall / runs * 1_000, cpu / runs * 1_000))
    return Cost(min(cost.wall for cost in costs), min(cost.cpu for cost in costs))


def _offered() -> list[dict[str, Any]]:
    from tests.agents import engine

    return [
        {
            "name": spec.name,
            "description": spec.description,
            "input_schema": spec.arguments.model_json_schema(),
        }
        for spec in engine.TOOLS.values()
    ]


def bare_loop(url: str) -> Callable[[], None]:
    """Return the loop that anybody writes first: stream, gather, run the tools, ask again."""
    import anthropic

    from tests.agents import engine

    client = anthropic.Anthropic(api_key="key", base_url=url, max_retries=0)
    tools: Any = _offered()
    pool = ThreadPoolExecutor(2)
    system = [{"type": "text", "text": "Answer."}]

    def ask(messages: list[Any], **more: Any) -> Any:
        with client.messages.stream(
            model="model-a", max_tokens=2_000, system=system, messages=messages, **more
        ) as stream:
            return stream.get_final_message()

    def run_tool(block: Any) -> dict[str, Any]:
        spec = engine.TOOLS[block.name]
        data = spec.body(spec.arguments.model_validate(block.input), None).data
        return {"type": "tool_result", "tool_use_id": block.id, "content": json.dumps(data)}

    def once() -> None:
        messages: list[Any] = [{"role": "user", "content": [{"type": "text", "text": "Where?"}]}]
        for _ in range(3):
            message = ask(messages, tools=tools)
            messages.append(message.to_param())
            calls = [block for block in message.content if block.type == "tool_use"]
            results = list(pool.map(run_tool, calls))
            messages.append(
                {"role": "user", "content": results or [{"type": "text", "text": "Mend it."}]}
            )
        ask([{"role": "user", "content": [{"type": "text", "text": str(messages[-1])}]}])

    return once


def _client(url: str, book: Callable[..., None]) -> Any:
    from agents.adapters.vendors.claude import Claude
    from agents.adapters.vendors.house import House, RoleModel
    from agents.metered import Metered, Room
    from agents.providers import POLICY
    from dsupport.lib.gateway import Gateway

    claude = Claude(House("key", url, RoleModel("model-a")))
    return lambda _asking=None: Metered(claude, Gateway(), POLICY, Room(8), book)


def guards_alone(url: str) -> Callable[[], None]:
    """Return a run of the engine with everything but the database."""
    from agents.loop import Agent
    from agents.review import Desk, produce_answer
    from dsupport.contract.llm import ChatMessage
    from tests.agents import engine

    client = _client(url, lambda _booking: None)()
    desk = Desk(engine.make_agent(), Agent("reviewer", "Review."), {"return_policy"})
    question = (ChatMessage.user("How long may I return this?"),)

    def once() -> None:
        produce_answer(desk, question, engine.make_scope(client), "m1/")

    return once


def with_journal(url: str) -> tuple[Callable[[], None], Callable[[int], None]]:
    """Return a run that is claimed, journalled, posted and ended, and what makes some wait."""
    from agents import services
    from agents.loop import Agent
    from agents.review import Desk
    from agents.runner import Surroundings, execute_run, process_surroundings
    from dsupport.contract.principal import Principal
    from dsupport.lib import clock
    from tests.agents import engine
    from tests.conftest import make_tenant

    tenant = make_tenant("bench")
    visitor = Principal(tenant_id=tenant.pk, visitor="bench")
    desk = Desk(engine.make_agent(), Agent("reviewer", "Review."), {"return_policy"})
    around = process_surroundings("bench")
    clients = _client(url, lambda _booking: None)

    def client(asked: Any) -> Any:
        made = clients()
        return type(made)(made.vendor, made.gateway, made.policy, made.room, asked.book)

    waiting: list[UUID] = []

    def submit() -> None:
        talk = services.open_conversation(principal=visitor, now=clock.now())
        sent = services.submit_message(
            principal=visitor,
            conversation_id=talk.pk,
            text="How long may I return this?",
            now=clock.now(),
            wake=False,
        )
        waiting.append(sent.run_id)

    def once() -> None:
        status = execute_run(
            waiting.pop(),
            Surroundings(
                owner="bench",
                crew=around.crew,
                release=around.release,
                client=client,
                desk=lambda _architecture: desk,
            ),
        )
        assert status == "completed", status

    def ready(runs: int) -> None:
        for _ in range(runs):
            submit()

    return once, ready


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument(
        "--langgraph", action="store_true", help="run langgraph beside it; needs uv and PyPI"
    )
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--measure", metavar="URL", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve()
        return 0
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    import django

    django.setup()
    if options.measure:
        costs = _all_costs(options.measure, options.runs)
        sys.stdout.write(json.dumps({name: asdict(cost) for name, cost in costs.items()}))
        return 0
    with _surroundings() as (url, database):
        costs = _in_a_process_of_its_own(url, database, options.runs)
        if options.langgraph:
            costs["langgraph"] = _langgraph(url, database, options.runs)
            costs["langgraph by SDK"] = _langgraph(url, database, options.runs, "--sdk")
    return _report(costs)


@contextmanager
def _surroundings() -> Iterator[tuple[str, str]]:
    """Yield the address of a fake and the name of a database, both for this benchmark alone."""
    from tests import databases

    name = databases.create_database(databases.empty_template())
    try:
        with subprocess.Popen(
            [*_THIS, "--serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as fake:
            assert fake.stdout is not None
            yield fake.stdout.readline().strip(), name
            fake.communicate()
    finally:
        databases.drop_database(name)


def _address(variable: str, database: str) -> str:
    return f"{os.environ[variable].rpartition('/')[0]}/{database}"


def _in_a_process_of_its_own(url: str, database: str, runs: int) -> dict[str, Cost]:
    """Measure as a worker runs: the project's own settings, with its pool of connections."""
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "dsupport.settings",
        "DATABASE_URL": _address("DATABASE_URL", database),
        "DSUPPORT_DB_POOL": "12",
    }
    command = [*_THIS, "--measure", url, "--runs", str(runs)]
    done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE)
    return {name: Cost(**cost) for name, cost in json.loads(done.stdout).items()}


def _langgraph(url: str, database: str, runs: int, *more: str) -> Cost:
    """Measure langgraph with packages of its own, as the owner of the same database."""
    script = Path(__file__).with_name("langgraph_bench.py")
    command = ["uv", "run", "--no-project", "--script", str(script), "--fake", url]
    command += ["--database", _address("DATABASE_OWNER_URL", database)]
    command += ["--tools", json.dumps(_offered()), "--runs", str(runs), *more]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    return Cost(**json.loads(done.stdout))


def _all_costs(url: str, runs: int) -> dict[str, Cost]:
    first = measure(bare_loop(url), runs)
    once, ready = with_journal(url)
    costs = {
        "guards": measure(guards_alone(url), runs),
        "journal": measure(once, runs, ready),
        "whole": measure(lambda: (ready(1), once())[1], runs),
    }
    last = measure(bare_loop(url), runs)
    bare = Cost(min(first.wall, last.wall), min(first.cpu, last.cpu))
    return {"bare": bare, **costs}


def _report(costs: dict[str, Cost]) -> int:
    """Print the table and return 1 when a bar is missed."""
    bare, missed = costs["bare"], False
    for name, cost in costs.items():
        ratios = {"cpu": cost.cpu / bare.cpu, "wall": cost.wall / bare.wall}
        missed = _row(name, cost, ratios, _BARS.get(name, {})) or missed
    if "langgraph" in costs:
        ours, theirs = costs["journal"], costs["langgraph"]
        ratios = {"cpu": ours.cpu / theirs.cpu, "wall": ours.wall / theirs.wall}
        missed = _row("ours of langgraph's", ours, ratios, _OF_LANGGRAPH) or missed
    return 1 if missed else 0


def _row(name: str, cost: Cost, ratios: dict[str, float], bars: dict[str, float]) -> bool:
    over = [kind for kind, bar in bars.items() if ratios[kind] > bar]
    wanted = ", ".join(f"{kind} at most {bar}" for kind, bar in bars.items())
    verdict = f"  {'MISSED' if over else 'pass'} ({wanted})" if bars else ""
    sys.stdout.write(
        f"{name:<19} wall {cost.wall:7.2f} ms ({ratios['wall']:.2f})  "
        f"cpu {cost.cpu:7.2f} ms ({ratios['cpu']:.2f}){verdict}\n"
    )
    return bool(over)


if __name__ == "__main__":
    sys.exit(main())
