"""Measuring the engine beside a bare loop, in one process: bare first and last, least of three.

Processor time is this process's, all threads of it.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dsupport.models import Tenant
from evals.engine.bare import bare_client, bare_loop
from evals.engine.cases import Journalled, WholeRuns, claude_at, guards_alone
from evals.engine.world import offered

ROUNDS = 3
BARS: Mapping[tuple[str, str], float] = {
    ("guards", "cpu"): 1.15,
    ("journal", "cpu"): 1.6,
    ("journal", "wall"): 2.0,
    ("langgraph", "cpu"): 0.4,
}


@dataclass(frozen=True, slots=True)
class Cost:
    """Milliseconds of one run."""

    wall_ms: float
    cpu_ms: float


@dataclass(frozen=True, slots=True)
class Ratio:
    """Our cost by another's. `bar` is the most it may be, None where there is none."""

    name: str
    kind: str
    value: float
    bar: float | None

    @property
    def passed(self) -> bool:
        return self.bar is None or self.value <= self.bar


@dataclass(frozen=True)
class Kind:
    """One way to do the run; `ready` is told how many come and is not counted."""

    once: Callable[[], None]
    ready: Callable[[int], None] = lambda _runs: None

    def cost_of(self, runs: int) -> Cost:
        self.ready(runs)
        wall, cpu = time.perf_counter(), time.process_time()
        for _ in range(runs):
            self.once()
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        return Cost(wall / runs * 1_000, cpu / runs * 1_000)


def least(kinds: Mapping[str, Kind], runs: int) -> dict[str, Cost]:
    """Return the least that each kind took in any round. In a round each kind has its turn, the
    first one at the end once more, so that a slow minute of the machine is everybody's.
    """
    for kind in kinds.values():
        kind.cost_of(1)
    costs: dict[str, list[Cost]] = {name: [] for name in kinds}
    for _ in range(ROUNDS):
        for name in (*kinds, next(iter(kinds))):
            costs[name].append(kinds[name].cost_of(runs))
    return {
        name: Cost(min(c.wall_ms for c in found), min(c.cpu_ms for c in found))
        for name, found in costs.items()
    }


def measure_engine(url: str, tenant: Tenant, runs: int) -> dict[str, Cost]:
    """Return what a run costs: bare, with the guards, with its journal, as a worker carries it
    out from the claim to the posted answer, and with its message.
    """
    with bare_client(url) as client, claude_at(url) as claude:
        journalled, whole = Journalled(claude, tenant), WholeRuns(claude, tenant)
        kinds = {
            "bare": Kind(bare_loop(client)),
            "guards": Kind(guards_alone(claude)),
            "journal": Kind(journalled.once, journalled.claim),
            "run": Kind(whole.carry_out, whole.submit),
            "whole": Kind(whole.both),
        }
        return least(kinds, runs)


def measure_langgraph(url: str, database_url: str, runs: int) -> dict[str, Cost]:
    """Return what the same run costs by langgraph, in an environment of its own made by uv.

    Its own agent is what has a bar; the graph by hand shows what a specialist can save.
    """
    return {
        "langgraph": _langgraph("prebuilt", url, database_url, runs),
        "lean graph": _langgraph("graph", url, database_url, runs),
    }


def _langgraph(kind: str, url: str, database_url: str, runs: int) -> Cost:
    script = Path(__file__).with_name("langgraph_peer.py")
    command = ["uv", "run", "--no-project", "--script", str(script), "--fake", url]
    command += ["--database", database_url, "--tools", json.dumps(offered()), "--kind", kind]
    done = subprocess.run(
        [*command, "--runs", str(runs)], check=True, stdout=subprocess.PIPE, text=True
    )
    return Cost(**json.loads(done.stdout))


def ratios_of(costs: Mapping[str, Cost]) -> list[Ratio]:
    """Return the figures that have bars, and their neighbours."""
    found = [
        _ratio(name, kind, costs[name], costs["bare"])
        for name in ("guards", "journal", "run")
        if name in costs
        for kind in ("cpu", "wall")
    ]
    for name in ("langgraph", "lean graph"):
        if name in costs:
            found += [_ratio(name, k, costs["journal"], costs[name]) for k in ("cpu", "wall")]
    return found


def _ratio(name: str, kind: str, ours: Cost, other: Cost) -> Ratio:
    value: Any = getattr(ours, f"{kind}_ms") / getattr(other, f"{kind}_ms")
    return Ratio(name, kind, float(value), BARS.get((name, kind)))


@contextmanager
def model_server() -> Iterator[str]:
    """Run the model without latency for the block; yield its address."""
    command = [sys.executable, "-m", "evals.engine.server"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        yield server.stdout.readline().strip() if server.stdout else ""
        server.communicate()
