"""Measuring a running desk from outside: how soon it answers, and what it takes."""

from __future__ import annotations

import time
from collections.abc import Callable

import httpx2

from dsupport.demo.check import choose_question
from dsupport.demo.conversation import time_question
from dsupport.demo.desk import Desk
from dsupport.demo.memory import pss_of
from evals.figures import Figure

_SECONDS = 30.0
FIRST_EVENT_BAR, ANSWER_BAR, MEMORY_BAR = 300.0, 1_500.0, 800.0


def measure_latency(desk: Desk, *, runs: int, progress: Callable[[int], None]) -> list[Figure]:
    """Ask about an order `runs` times, one after the other, each in a conversation of its own.

    Times are from sending the message to receiving the event on the socket. One question before
    them is not counted.
    """
    question = choose_question(desk.tenant)
    first: list[float] = []
    whole: list[float] = []
    for number in range(runs + 1):
        timing = time_question(desk.url, desk.tenant.slug, question, seconds=_SECONDS)
        if number:
            first.append(timing.first_event * 1000)
            whole.append(timing.answer * 1000)
        progress(number)
    return [
        Figure("first event", "ms", tuple(first), FIRST_EVENT_BAR),
        Figure("answer", "ms", tuple(whole), ANSWER_BAR),
    ]


def measure_memory(desk: Desk) -> list[Figure]:
    """Have web and worker search once each, then add up what web, worker and beat take (PSS)."""
    question = choose_question(desk.tenant)
    time_question(desk.url, desk.tenant.slug, question, seconds=_SECONDS)
    with httpx2.Client(base_url=desk.url, trust_env=False, timeout=30) as http:
        http.get(
            "/api/knowledge/search",
            params={"q": "how long do refunds take", "shop": desk.tenant.slug},
        ).raise_for_status()
    time.sleep(1.0)
    pids = desk.supervisor.pids
    parts = {name: pss_of([pid]) / 1_000_000 for name, pid in pids.items()}
    figures = [Figure(f"{name}", "MB", (size,), MEMORY_BAR) for name, size in parts.items()]
    return [*figures, Figure("together", "MB", (sum(parts.values()),), MEMORY_BAR)]
