"""What is happening in a run, said once, under the span it belongs to."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from threading import Lock
from typing import Any
from uuid import UUID

from agents.store import NewEvent


@dataclass(frozen=True, slots=True)
class Span:
    """Where in the tree something happens. The id follows from the place, also after a resume."""

    id: str
    parent: str
    agent: str


RUN_PLACE = "run"  # the root of every run's tree
_current: ContextVar[Span | None] = ContextVar("current_span", default=None)


def span_id(run_id: UUID, place: str) -> str:
    return hashlib.sha256(f"{run_id}/{place}".encode()).hexdigest()[:16]


class Tracer:
    """Collects events until somebody takes them to write them down.

    `known` are the keys of events that have been said already.
    """

    def __init__(
        self,
        run_id: UUID,
        *,
        clock: Callable[[], datetime],
        known: Collection[str] = (),
    ) -> None:
        self._run_id = run_id
        self._clock = clock
        self._said = set(known)
        self._waiting: list[NewEvent] = []
        self._lock = Lock()

    @contextmanager
    def span(self, place: str, agent: str) -> Iterator[None]:
        parent = _current.get()
        span = Span(span_id(self._run_id, place), parent.id if parent else "", agent)
        token = _current.set(span)
        try:
            yield
        finally:
            _current.reset(token)

    def emit(self, type: str, data: Mapping[str, Any], *, place: str) -> None:
        """Say something, unless this run has said it before."""
        event = self._new(type, data, place)
        if event is not None:
            with self._lock:
                self._waiting.append(event)

    def take(self) -> list[NewEvent]:
        """Return what is waiting to be said and forget it."""
        with self._lock:
            waiting, self._waiting = self._waiting, []
        return waiting

    def _new(self, type: str, data: Mapping[str, Any], place: str) -> NewEvent | None:
        key = f"{place}|{type}"
        with self._lock:
            if key in self._said:
                return None
            self._said.add(key)
        span = _current.get()
        return NewEvent(
            type=type,
            data=dict(data),
            at=self._clock(),
            key=key,
            span=span.id if span else "",
            parent=span.parent if span else "",
            agent=span.agent if span else "",
        )


@dataclass(frozen=True)
class Node:
    """One span of a run's tree, with what was said in it and its children."""

    span: str
    agent: str
    events: tuple[dict[str, Any], ...]
    children: tuple[Node, ...]


def build_tree(events: list[dict[str, Any]]) -> tuple[Node, ...]:
    """Rebuild who called whom from the events alone; children in the order they appeared.

    Each event is a mapping with at least `span`, `parent`, `agent`. A span whose parent said
    nothing hangs under the nearest ancestor that did, or at the root.
    """
    by_span: dict[str, list[dict[str, Any]]] = {}
    for event in events:
        by_span.setdefault(event["span"], []).append(event)
    children: dict[str, list[str]] = {}
    for span, said in by_span.items():
        if span:
            parent = said[0]["parent"]
            children.setdefault(parent if parent in by_span else "", []).append(span)

    def grow(span: str) -> Node:
        said = by_span[span]
        below = tuple(grow(child) for child in children.get(span, []))
        return Node(span, said[0]["agent"], tuple(said), below)

    root = [grow(span) for span in children.get("", [])]
    if "" in by_span:
        root.insert(0, Node("", "", tuple(by_span[""]), ()))
    return tuple(root)
