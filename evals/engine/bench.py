"""Measuring the engine beside a bare loop, in one process: bare first and last, least of three.

Processor time is this process's, all threads of it. The lesser of both bare measurements counts.
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
from evals.engine.bare import bare_loop
from evals.engine.cases import WholeRuns, guards_alone
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


def measure(
    once: Callable[[], None], runs: int, ready: Callable[[int], None] = lambda _runs: None
) -> Cost:
    """Return what one run costs; `ready` is told how many come and is not counted."""
    ready(1)
    once()
    costs = []
    for _ in range(ROUNDS):
        ready(runs)
        wall, cpu = time.perf_counter(), time.process_time()
        for _ in range(runs):
            once()
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        costs.append(Cost(wall / runs * 1_000, cpu / runs * 1_000))
    return Cost(min(c.wall_ms for c in costs), min(c.cpu_ms for c in costs))


def measure_engine(url: str, tenant: Tenant, runs: int) -> dict[str, Cost]:
    """Return what a run costs bare, with the guards, with the journal, and with its message."""
    whole = WholeRuns(url, tenant)
    first = measure(bare_loop(url), runs)
    costs = {
        "guards": measure(guards_alone(url), runs),
        "journal": measure(whole.carry_out, runs, whole.submit),
        "whole": measure(whole.both, runs),
    }
    last = measure(bare_loop(url), runs)
    bare = Cost(min(first.wall_ms, last.wall_ms), min(first.cpu_ms, last.cpu_ms))
    return {"bare": bare, **costs}


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
        for name in ("guards", "journal")
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
