"""Whether the articles that an answer cites answer the question: finding is not answering.

A model judges, apart from the one that wrote the answer, and code checks its word: the sentence
that is said to answer must stand in a passage that this run has read.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from agents.answer import AnswerableForm, AnswerForm, parse_form
from agents.loop import Agent
from agents.scope import RunScope
from agents.truth import Problem
from dsupport.contract.llm import ChatMessage, ModelRequest, StopReason
from dsupport.contract.tools import Source

ROLE = "answerability"
_LEAST_WORDS = 3  # of a sentence that can answer anything
_EARLIER = 3  # what the customer wrote before, for a question that needs it
_NOT_ANSWERED = (
    "The articles you cite do not answer the question. Cite one that does, or cite none, say that "
    "you do not know, and offer a person."
)


def check_answerable(
    judge: Agent | None, form: AnswerForm, scope: RunScope, place: str
) -> list[Problem]:
    """Return what is wrong with answering from the cited passages; the verdict goes into the trace.

    Only an answer that stands on articles is asked about, and one that hands over is not.
    """
    passages = cited_passages(form, scope.evidence.sources)
    if judge is None or not passages or form.escalated or form.hand_over is not None:
        return []
    verdict = _ask(judge, passages, scope, f"{place}/{ROLE}")
    proven = verdict is not None and verdict.answers and stands_in(verdict, passages)
    data = {
        "answers": verdict is not None and verdict.answers,
        "proven": proven,
        "doc_id": verdict.doc_id if verdict else "",
        "quote": verdict.quote[:500] if verdict else "",
    }
    scope.trace.emit("answerability.finished", data, place=place)
    return [] if proven else [Problem("not_answered", _NOT_ANSWERED)]


def cited_passages(form: AnswerForm, sources: Sequence[Source]) -> list[Source]:
    """Return the passages of the cited articles that searches of this run returned."""
    cited = {source.doc_id for source in form.sources}
    return [source for source in sources if source.doc_id in cited]


def stands_in(verdict: AnswerableForm, passages: Sequence[Source]) -> bool:
    """Tell whether the quoted sentence stands in the named article, but for its white space."""
    quote = " ".join(verdict.quote.split())
    if len(quote.split()) < _LEAST_WORDS:
        return False
    return any(
        quote in " ".join(passage.text.split())
        for passage in passages
        if passage.doc_id == verdict.doc_id
    )


def _ask(
    judge: Agent, passages: Sequence[Source], scope: RunScope, place: str
) -> AnswerableForm | None:
    scope.check()
    case = {
        "question": "\n".join(scope.evidence.words),
        "earlier": list(scope.evidence.earlier_words[-_EARLIER:]),
        "passages": [
            {"doc_id": one.doc_id, "title": one.title, "heading": one.heading, "text": one.text}
            for one in passages
        ],
    }
    text = json.dumps(case, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    request = ModelRequest(
        role=judge.role,
        system=judge.prompt,
        messages=(ChatMessage.user(text),),
        context=scope.context,
        schema=AnswerableForm,
        max_output_tokens=judge.max_output_tokens,
        deadline=scope.time_left,
    )
    with scope.trace.span(place, judge.role):
        reply = scope.ask(scope.client.structured, request, place)
    if reply.stop is not StopReason.END_TURN:
        return None
    return parse_form(AnswerableForm, reply.text)[0]
