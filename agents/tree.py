"""What the page of a run shows, put together from its events alone."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from agents.feed import as_event
from agents.models import Event, Message, Run, Step
from agents.tracing import Node, build_tree
from dsupport.lib.redaction import mask_data


@dataclass(frozen=True)
class Line:
    """One row of the tree: an event, how deep it stands, and its bar on the time line."""

    depth: int
    agent: str
    type: str
    text: str
    ms: int | None
    left: float  # percent of the run's time at which it began
    width: float  # percent of the run's time that it took
    tokens: str = ""
    cost: str = ""
    detail: str = ""
    bad: bool = False


@dataclass
class _Page:
    start: datetime
    length: float
    lines: list[Line] = field(default_factory=list)


def run_page(run: Run) -> dict[str, Any]:
    """Return the context of a run's page. Personal data is masked in inputs and outputs."""
    events = [as_event(event) for event in Event.objects.for_run(run.pk)]
    asked = Message.objects.for_run(run).filter(author="customer")
    answer = Message.objects.for_run(run).exclude(author="customer").last()
    return {
        "run": run,
        "lines": _lines(events),
        "asked": [mask_data(message.text) for message in asked],
        "answer": answer,
        "retrievals": _of_type(events, "retrieval.finished"),
        "reviews": [_review(data) for data in _of_type(events, "review.finished")],
        "denials": [e for e in events if e["type"].startswith("guardrail.")],
        "manifest": json.dumps(run.manifest, indent=2, sort_keys=True),
        "steps": Step.objects.for_run(run.pk).count(),
    }


def _review(data: dict[str, Any]) -> dict[str, Any]:
    draft = data.get("draft", {})
    return {
        "number": data.get("round", 0) + 1,
        "approved": data.get("approved", False),
        "by": data.get("by", ""),
        "problems": data.get("problems", []),
        "text": draft.get("answer") or draft.get("text") or "",
    }


def _of_type(events: list[dict[str, Any]], type: str) -> list[dict[str, Any]]:
    return [mask_data(event["data"]) for event in events if event["type"] == type]


def _lines(events: list[dict[str, Any]]) -> list[Line]:
    if not events:
        return []
    times = [datetime.fromisoformat(event["at"]) for event in events]
    length = max((times[-1] - times[0]).total_seconds(), 0.001)
    page = _Page(times[0], length)
    agents = tuple(node for node in build_tree(events) if node.span)
    # The message, the answer and the end belong to no agent and stand among them.
    said = tuple(event for event in events if not event["span"])
    _walk(Node("", "", said, agents), 0, page)
    return page.lines


def _walk(node: Node, depth: int, page: _Page) -> None:
    """Append what was said here in the order of time, each child whole where it begins."""
    parts: list[tuple[int, dict[str, Any] | Node]] = [
        (event["seq"], event) for event in node.events
    ]
    parts += [(child.events[0]["seq"], child) for child in node.children]
    for _, part in sorted(parts, key=lambda part: part[0]):
        if isinstance(part, Node):
            _walk(part, depth + 1, page)
        else:
            page.lines.append(_line(part, depth, page))


def _line(event: dict[str, Any], depth: int, page: _Page) -> Line:
    data = event["data"]
    end = (datetime.fromisoformat(event["at"]) - page.start).total_seconds()
    begin = max(end - (data.get("ms") or 0) / 1_000, 0.0)
    tokens = data.get("input_tokens")
    return Line(
        depth=depth,
        agent=event["agent"],
        type=event["type"],
        text=_text(event["type"], data),
        ms=data.get("ms"),
        left=_percent(begin, page.length),
        width=_percent(end - begin, page.length),
        tokens=f"{tokens:,} in · {data['output_tokens']:,} out" if tokens is not None else "",
        cost=f"${data['cost'] / 1_000_000:.4f}" if data.get("cost") is not None else "",
        detail=json.dumps(mask_data(data), ensure_ascii=False, indent=2, default=str),
        bad=_is_bad(event["type"], data),
    )


def _is_bad(type: str, data: dict[str, Any]) -> bool:
    failed = type == "model.failed" or "denied" in type
    return failed or data.get("ok") is False or data.get("approved") is False


def _percent(seconds: float, length: float) -> float:
    return round(min(max(seconds / length * 100, 0.0), 100.0), 1)


def _text(type: str, data: dict[str, Any]) -> str:
    if type == "model.called":
        asks = ", ".join(data.get("tools", []))
        return f"{data['model']} → {asks}" if asks else f"{data['model']} → text"
    if type == "model.failed":
        return f"{data['provider']}: {data['code']}"
    for name in ("tool", "text", "reason", "status", "query"):
        if data.get(name):
            return str(data[name])[:160]
    return ""
