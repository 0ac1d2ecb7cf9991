"""The trace of a run on a terminal: indented by who called whom, times at the right."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, TextIO

from rich.console import Console
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from agents.follow import Outcome

_STYLE = {
    "guardrail.denied": "yellow",
    "guardrail.modified": "yellow",
    "escalated": "magenta",
    "error": "red",
}


class TraceView:
    """Prints events as they come. Colour is off when the stream is no terminal."""

    def __init__(self, stream: TextIO) -> None:
        self._console = Console(file=stream, highlight=False)
        self._depth: dict[str, int] = {"": 0}
        self._start: datetime | None = None

    def show(self, event: dict[str, Any]) -> None:
        line = _describe(event)
        at = datetime.fromisoformat(event["at"])
        self._start = self._start or at
        depth = self._indent(event)
        if not line:
            return
        elapsed = f"{(at - self._start).total_seconds() * 1000:,.0f} ms"
        row = Table.grid(expand=True)
        row.add_column(ratio=1)
        row.add_column(justify="right", style="dim")
        row.add_row(Text("  " * depth + line, style=_STYLE.get(event["type"], "")), elapsed)
        self._console.print(row)

    def finish(self, outcome: Outcome) -> None:
        """Print the answer in a box, and under it the sources, proposals and what it took."""
        answer = outcome.answer
        text = answer["answer"] if answer else outcome.closing
        title = "AI assistant" if answer and not outcome.closing else "DSupport"
        self._console.print(Panel(escape(text), title=title, title_align="left", padding=(1, 2)))
        for source in (answer or {}).get("sources", []):
            heading = f" › {source['heading']}" if source["heading"] else ""
            version = f"version {source['version']}"
            self._console.print(f"  source   {escape(source['title'] + heading)}  ({version})")
        document = outcome.document()
        for proposal in document["proposals"]:
            line = f"{proposal['action']}  {proposal['tier']}  {proposal['status']}"
            self._console.print(f"  proposal {escape(line)}")
        if answer and answer.get("ticket_id"):
            self._console.print(f"  ticket   {answer['ticket_id']}")
        usage = document["usage"]
        self._console.print(
            f"  {outcome.status.replace('_', ' ')} · {usage['model_calls']} model calls · "
            f"${usage['cost_usd']:.4f}",
            style="dim",
        )

    def _indent(self, event: dict[str, Any]) -> int:
        span, parent = event["span"], event["parent"]
        if span not in self._depth:
            self._depth[span] = self._depth.get(parent, 0) + 1
        return max(self._depth[span] - 1, 0)


def _describe(event: dict[str, Any]) -> str:
    """Return one line in plain words, or nothing for what needs no line."""
    describe = _LINES.get(event["type"])
    return describe(event["data"], event["agent"]) if describe else ""


def _message(data: dict[str, Any], _agent: str) -> str:
    return f"{data['author']}: {data['text']}" if data["author"] == "customer" else ""


def _model(data: dict[str, Any], agent: str) -> str:
    does = "asks " + ", ".join(data["tools"]) if data.get("tools") else "writes"
    notice = f" · {data['notice']}" if data.get("notice") else ""
    return f"{agent} · {data['model']} · {does}{notice}"


def _tool_end(data: dict[str, Any], _agent: str) -> str:
    return f"{data['tool']} {'done' if data['ok'] else 'failed'}  {data['summary']}".rstrip()


def _review(data: dict[str, Any], _agent: str) -> str:
    draft = f"draft {data['round'] + 1}"
    if data["approved"]:
        return f"{draft} passed ({data['by']})"
    return f"{draft} refused by {data['by']}: {'; '.join(data['problems'])}"


def _answerability(data: dict[str, Any], _agent: str) -> str:
    return f"the articles answer ({data['doc_id']})" if data["proven"] else "no article answers"


def _guardrail(data: dict[str, Any], _agent: str) -> str:
    return f"{data['guardrail']} ({data['point']}): {data['reason']}"


_LINES: dict[str, Callable[[dict[str, Any], str], str]] = {
    "message": _message,
    "run.started": lambda data, _agent: str(data["text"]),
    "model.called": _model,
    "model.failed": lambda data, _agent: f"{data['provider']} did not answer: {data['code']}",
    "run.waiting": lambda data, _agent: str(data["text"]),
    "tool.called": lambda data, _agent: f"{data['tool']}  {data['text']}",
    "tool.finished": _tool_end,
    "review.finished": _review,
    "answerability.finished": _answerability,
    "guardrail.denied": _guardrail,
    "guardrail.modified": _guardrail,
    "escalated": lambda data, _agent: f"handed over: {data['ticket']}",
}
