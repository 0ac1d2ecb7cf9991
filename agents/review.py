"""Producer and reviewer: code checks a draft first, a reviewer reads what passed, twice at most."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from agents.answer import AnswerForm, ReviewForm, parse_form
from agents.answerability import check_answerable
from agents.errors import RunStopped, StopCause
from agents.guardrails import Deny, Modify
from agents.handing import check_hand_over, with_ticket
from agents.loop import Agent, Draft, run_agent
from agents.scope import RunScope
from agents.truth import Problem, check_answer
from dsupport.contract.llm import ChatMessage, ModelRequest, StopReason
from dsupport.contract.tools import ToolResult, ToolSpec

MAX_REVISIONS = 2
REFUSED = "Your draft was refused:"


@dataclass(frozen=True)
class Desk:
    """Who produces, judges and reviews. Without the last two the checks of code stand alone."""

    producer: Agent
    reviewer: Agent | None
    intents: Collection[str]
    judge: Agent | None = None  # says whether the cited articles answer the question
    ticket: ToolSpec | None = None  # opens the ticket of an answer that asks for a person


def produce_answer(
    desk: Desk, messages: tuple[ChatMessage, ...], scope: RunScope, place: str
) -> AnswerForm:
    """Return an answer that passed every check and the reviewer.

    Raises `RunStopped(CHECKS_FAILED)` after two revisions that did not help.
    """
    history = messages
    problems: list[str] = []
    for revision in range(MAX_REVISIONS + 1):
        here = f"{place}{revision}/{desk.producer.role}"
        with scope.trace.span(here, desk.producer.role):
            draft = run_agent(desk.producer, history, scope, here)
            form, problems = _judge(desk, draft, scope, here, revision)
            if form is not None:
                return with_ticket(form, desk.ticket, scope, here)
        refusal = f"{REFUSED}\n" + "\n".join(f"- {problem}" for problem in problems)
        history = (*draft.history, ChatMessage.user(refusal))
    raise RunStopped(StopCause.CHECKS_FAILED, "; ".join(problems))


def _judge(
    desk: Desk, draft: Draft, scope: RunScope, place: str, revision: int
) -> tuple[AnswerForm | None, list[str]]:
    """Return the accepted form, or None and why not. The verdict goes into the trace."""
    form, unreadable = parse_form(AnswerForm, draft.text)
    if form is None:
        problems = [Problem("not_a_form", f"The answer does not fill the form: {unreadable}")]
    else:
        form, problems = _guard(form, scope, place)
        problems = problems or [
            *check_answer(form, scope.evidence, desk.intents),
            *check_hand_over(form, desk.ticket),
        ]
        problems = problems or check_answerable(desk.judge, form, scope, place)
    by = "code"
    texts = [problem.text for problem in problems]
    if form is not None and not problems and desk.reviewer is not None:
        by = "reviewer"
        texts = _review(desk.reviewer, form, scope, f"{place}/review")
    verdict = {
        "by": by,
        "approved": not texts,
        "round": revision,
        "codes": [problem.code for problem in problems],
        "problems": texts,
        "draft": form.model_dump(mode="json") if form is not None else {"text": draft.text[:2_000]},
    }
    scope.trace.emit("review.finished", verdict, place=place)
    return (None if texts else form), texts


def _guard(form: AnswerForm, scope: RunScope, place: str) -> tuple[AnswerForm, list[Problem]]:
    for guardrail in scope.guardrails:
        verdict = guardrail.before_final(form, scope.situation)
        data = {"point": "before_final", "guardrail": guardrail.name}
        if isinstance(verdict, Deny):
            scope.trace.emit("guardrail.denied", {**data, "reason": verdict.code}, place=place)
            return form, [Problem(verdict.code, verdict.instruction)]
        if isinstance(verdict, Modify):
            where = f"{place}:{guardrail.name}"
            scope.trace.emit("guardrail.modified", {**data, "reason": verdict.why}, place=where)
            form = verdict.value
    return form, []


def _review(reviewer: Agent, form: AnswerForm, scope: RunScope, place: str) -> list[str]:
    """Ask the reviewer; return its problems. A review that cannot be read is a problem itself."""
    scope.check()
    request = ModelRequest(
        role=reviewer.role,
        system=reviewer.prompt,
        messages=(ChatMessage.user(_case(form, scope)),),
        context=scope.context,
        schema=ReviewForm,
        max_output_tokens=reviewer.max_output_tokens,
        deadline=scope.time_left,
    )
    with scope.trace.span(place, reviewer.role):
        reply = scope.ask(scope.client.structured, request, place)
    if reply.stop is not StopReason.END_TURN:
        return [f"The review ended with {reply.stop.value}."]
    review, unreadable = parse_form(ReviewForm, reply.text)
    if review is None:
        return [f"The review could not be read: {unreadable}"]
    if review.approved:
        return []
    return list(review.problems) or ["The reviewer refused the draft without saying why."]


def _case(form: AnswerForm, scope: RunScope) -> str:
    """Return what the reviewer sees: the question, the draft and the evidence, as JSON data.

    Of the articles only those that are cited: the draft may stand on no others.
    """
    cited = {source.doc_id for source in form.sources}
    evidence = [
        {"tool": seen.tool, "trust": seen.result.trust, "data": _seen_data(seen.result, cited)}
        for seen in scope.evidence.seen
        if seen.result.trust != "specialist"
    ]
    case = {
        "question": "\n".join(scope.evidence.words),
        "draft": form.model_dump(mode="json"),
        "evidence": evidence,
    }
    return json.dumps(case, ensure_ascii=False, sort_keys=True, default=str, separators=(",", ":"))


def _seen_data(result: ToolResult, cited: Collection[str]) -> Any:
    hits = result.data.get("hits") if isinstance(result.data, Mapping) else None
    if result.trust != "article" or not isinstance(hits, list):
        return result.data
    return {"hits": [hit for hit in hits if hit["doc_id"] in cited]}
