"""The offline rules behind the port of a language model.

They see what a model would see, the request, and answer as a model would: with calls of the tools
that are offered, or with a final text. The same request gives the same reply.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from functools import lru_cache
from typing import Any

import numpy as np

from agents.adapters.offline import phrases, specialists
from agents.adapters.offline.asks import Ask
from agents.adapters.offline.behaviour import Kind
from agents.adapters.offline.composing import compose, compose_reports
from agents.adapters.offline.handover import ticket_arguments
from agents.adapters.offline.reviewing import judge_case, review_case
from agents.adapters.offline.served import Served
from agents.adapters.offline.serving import serve
from agents.adapters.offline.transcript import Turn, read_request
from agents.adapters.offline.wishes import understand
from agents.adapters.offline.workbench import Workbench
from agents.understanding import Reading, guess_language, read
from dsupport.contract.errors import DomainError, PortError
from dsupport.contract.llm import CallPart, ModelReply, ModelRequest, StopReason, Text, Usage
from dsupport.contract.tools import ToolCall

MODEL = "offline-rules/1"
_SPECIALISTS = frozenset({"knowledge", "orders", "escalation"})
_REMEMBERED = 512  # readings and vectors kept, so that the turns of one run cost one reading


class OfflineRules:
    """A deterministic stand-in for a language model. The embedder is loaded on first use."""

    def __init__(self, embedder: Any = None) -> None:
        self._embedder = embedder
        self._read = lru_cache(maxsize=_REMEMBERED)(self._read_fresh)
        self._vector = lru_cache(maxsize=_REMEMBERED)(self._embed_fresh)

    def next(self, request: ModelRequest) -> ModelReply:
        """Return the calls that are still needed, or the final text."""
        try:
            return self._next(request)
        except DomainError as error:  # the embedder's own refusal: to the caller, a port's trouble
            raise PortError(error.message, code=error.code) from error

    def _next(self, request: ModelRequest) -> ModelReply:
        turn = read_request(request)
        bench = Workbench(turn, self._embed)
        if not turn.words:
            return _say(_final(request, phrases.GREETING.format(name=""), "greeting"))
        if request.role in _SPECIALISTS:
            return self._work(request.role, bench)
        return self._answer(request, bench)

    def structured(self, request: ModelRequest) -> ModelReply:
        """Review a draft, or judge whether passages answer, by rules; no other form."""
        if request.role == "answerability" and request.messages:
            return _say(json.dumps(judge_case(request.messages[-1].text), ensure_ascii=False))
        if request.role != "reviewer" or not request.messages:
            raise PortError("The offline rules fill no form but these two.", code="unsupported")
        approved, problems = review_case(request.messages[-1].text, request.context)
        return _say(json.dumps({"approved": approved, "problems": problems}, ensure_ascii=False))

    def _work(self, role: str, bench: Workbench) -> ModelReply:
        specialists.work(role, bench, self._read)
        calls = bench.calls()
        return _call(calls) if calls else _say(specialists.report(bench.turn))

    def _answer(self, request: ModelRequest, bench: Workbench) -> ModelReply:
        turn = bench.turn
        asks = understand(turn, self._read)
        language = guess_language(turn.text)
        if language != "en":
            asks = _without_words(asks, turn)
            if not asks:
                return _say(_final(request, _foreign(language)))
        served = [serve(ask, bench) for ask in asks]
        if not bench.wanted and not turn.refusals:
            _want_ticket(asks, served, bench)
        calls = [] if turn.refusals else bench.calls()
        if calls:
            return _call(calls)
        if turn.reports and not turn.results:
            return _say(_dump(request, compose_reports(asks, bench)))
        form = compose(asks, served, bench, language)
        if language != "en" and asks[0].intent != "human_agent":
            form["answer"] = f"{_in_english(language)}\n\n{form['answer']}"
        return _say(_dump(request, form))

    def _embed(self, texts: list[str]) -> np.ndarray[Any, np.dtype[np.float32]]:
        return np.stack([self._vector(text) for text in texts])

    def _embed_fresh(self, text: str) -> np.ndarray[Any, np.dtype[np.float32]]:
        return np.asarray(self._load().embed_queries([text if text.strip() else "?"]), np.float32)[
            0
        ]

    def _read_fresh(self, text: str, today: date) -> Reading:
        return read(text, embedder=self._load(), today=today)

    def _load(self) -> Any:
        if self._embedder is None:
            from dsupport.lib.wiring import load

            self._embedder = load("DSUPPORT_EMBEDDER")
        return self._embedder


def _want_ticket(asks: Sequence[Ask], served: Sequence[Served], bench: Workbench) -> None:
    """Open one ticket for all that needs a person, once everything else is known."""
    needs = [need for one in served for need in one.needs]
    if needs and bench.findings.ticket() is None and not bench.findings.ticket_failed():
        # A "yes" means the question before it, and that is what a person has to read.
        before = [ask.query for ask in asks if ask.agreed]
        words = " / ".join(dict.fromkeys([*before, *bench.turn.words]))
        bench.open_ticket(ticket_arguments(needs, bench.turn, words))


def _without_words(asks: list[Ask], turn: Turn) -> list[Ask]:
    """Return what of a foreign message can be served: a wish for a person, or an order's number."""
    first = asks[0]
    if first.intent == "human_agent":
        return asks[:1]
    if not (first.said_order and turn.is_known):
        return []
    return [first if first.behaviour.kind is Kind.ORDER else replace(first, intent="order_status")]


def _foreign(language: str) -> str:
    known = phrases.ENGLISH_ONLY.get(language)
    return known or f"{phrases.ENGLISH_ONLY_ELSE} {phrases.OFFER_PERSON}"


def _in_english(language: str) -> str:
    known = phrases.ENGLISH_ONLY.get(language, phrases.ENGLISH_ONLY_ELSE)
    return known.partition(". ")[0].rstrip(".") + "."


def _final(request: ModelRequest, text: str, intent: str = "other") -> str:
    form = {
        "answer": text,
        "intent": intent,
        "sources": [],
        "confidence": 0.3,
        "escalated": False,
        "ticket_id": None,
    }
    return _dump(request, form)


def _dump(request: ModelRequest, form: dict[str, Any]) -> str:
    """Return a form as JSON, or its words alone where no form was asked for."""
    return json.dumps(form, ensure_ascii=False) if request.schema else str(form["answer"])


def _call(calls: Sequence[ToolCall]) -> ModelReply:
    parts = tuple(CallPart(call) for call in calls)
    return ModelReply(parts, StopReason.TOOL_USE, Usage(model_calls=1), MODEL)


def _say(text: str) -> ModelReply:
    return ModelReply((Text(text),), StopReason.END_TURN, Usage(model_calls=1), MODEL)
