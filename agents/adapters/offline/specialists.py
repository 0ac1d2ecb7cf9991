"""What a specialist of the team does, and what it hands back.

A report is JSON: a few words for people and for models, and the findings themselves, so that the
orchestrator works with the same facts as an agent that had looked them up alone.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

from agents.adapters.offline.asks import Ask, Reader
from agents.adapters.offline.behaviour import Kind, behaviour_of
from agents.adapters.offline.choosing import State, choose_order
from agents.adapters.offline.findings import facts_of
from agents.adapters.offline.transcript import FINDINGS, Result, Turn
from agents.adapters.offline.wishes import understand
from agents.adapters.offline.workbench import Workbench, split_questions

_REPORT_BYTES = 9_000
_HITS = 4
_TEXT = 1_600
_REASON = re.compile(r"^Reason:\s*(?P<reason>[^\n]+)\n?", re.IGNORECASE)
_ORDER = re.compile(r"^Order:\s*(?P<order>\S+)\s*$", re.IGNORECASE | re.MULTILINE)
_REASONS = (
    "customer_request", "no_answer", "unsupported_request", "policy_restriction", "tool_failure",
    "limit_reached", "checks_failed", "complaint", "action_needed",
)  # fmt: skip


def work(role: str, bench: Workbench, read: Reader) -> None:
    """Note the calls that a specialist's task still needs."""
    if role == "knowledge":
        _look_for_rules(bench, read)
    elif role == "orders":
        for ask in understand(bench.turn, read):
            _look_at_orders(ask, bench)
    elif not any(result.tool == "create_ticket" for result in bench.turn.results):
        bench.open_ticket(ticket_of(bench.turn))


def _look_for_rules(bench: Workbench, read: Reader) -> None:
    for question in split_questions(bench.turn.text):
        bench.search(question)
        wishes = read(question, bench.turn.today).wishes
        if any(behaviour_of(wish.intent).kind is Kind.PRODUCT for wish in wishes):
            bench.products(question)


def _look_at_orders(ask: Ask, bench: Workbench) -> None:
    """Look an order up whatever the task calls the matter; without a number, list them first."""
    if not ask.order and ask.entities.numbers:
        ask = replace(ask, order=ask.entities.numbers[0])
    turn = bench.turn
    # The desk's guardrail decides who may look; a specialist does not know the asker's talk.
    if not turn.is_known:
        return
    choice = choose_order(ask, turn, bench.findings)
    if choice.state is State.LIST:
        bench.list_orders(choice.day, ask)
    elif choice.state is State.FOUND:
        bench.order(choice.number, ask)
        bench.tracking(choice.number, ask)


def ticket_of(turn: Turn) -> dict[str, str | None]:
    """Return the ticket that a task asks for, with a reason from the closed list."""
    text = turn.text
    found = _REASON.match(text)
    reason = found["reason"].strip().casefold().replace(" ", "_") if found else ""
    order = _ORDER.search(text)
    summary = _ORDER.sub("", _REASON.sub("", text)).strip()
    return {
        "reason": reason if reason in _REASONS else "customer_request",
        "summary": (summary or text)[:2_000],
        "order_number": order["order"] if order else None,
    }


def report(turn: Turn) -> str:
    """Return the report of a specialist whose work is done."""
    findings = [_finding(result) for result in turn.results]
    text = json.dumps({"report": _in_words(turn), FINDINGS: findings}, ensure_ascii=False)
    while len(text.encode()) > _REPORT_BYTES and _drop_passage(findings):
        text = json.dumps({"report": _in_words(turn), FINDINGS: findings}, ensure_ascii=False)
    return text


def _in_words(turn: Turn) -> str:
    lines = [_line(result) for result in turn.results]
    return " ".join(lines) or "Nothing could be looked up."


def _line(result: Result) -> str:
    if result.is_error:
        return f"{result.tool}: {result.error or 'failed'}."
    facts = facts_of(result) or {}
    if result.tool == "search_kb":
        headings = [
            f"{hit.get('title')} / {hit.get('heading')} ({hit.get('doc_id')})"
            for hit in facts.get("hits") or ()
        ]
        return f"Articles, {facts.get('answerable')}: {'; '.join(headings) or 'none'}."
    if result.tool == "get_order":
        return f"Order {facts.get('number')}: {facts.get('status_text')}."
    if result.tool == "create_ticket":
        return f"Ticket {facts.get('ticket')}."
    return f"{result.tool}: done."


def _finding(result: Result) -> dict[str, Any]:
    data = result.data
    if result.tool == "search_kb" and isinstance(data, dict):
        hits = [
            {**hit, "text": str(hit.get("text", ""))[:_TEXT]}
            for hit in (data.get("hits") or [])[:_HITS]
        ]
        data = {**data, "hits": hits}
    return {
        "tool": result.tool,
        "arguments": dict(result.arguments),
        "data": data,
        "is_error": result.is_error,
    }


def _drop_passage(findings: list[dict[str, Any]]) -> bool:
    """Drop the last passage of the longest list of hits; tell whether there was one."""
    lists = [
        f["data"]["hits"] for f in findings if isinstance(f["data"], dict) and f["data"].get("hits")
    ]
    longest: list[Any] = max(lists, key=len, default=[])
    if len(longest) < 2:
        return False
    longest.pop()
    return True
