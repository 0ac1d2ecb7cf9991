"""The truth of an answer, checked by code against the evidence of its run."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from agents.answer import AnswerForm
from agents.claims import Claim, collect_facts, find_claims
from agents.evidence import Evidence

_TICKET = re.compile(r"\bTKT-\d+\b")


@dataclass(frozen=True, slots=True)
class Problem:
    """One reason why a draft may not leave: a stable code, and words the model can act on."""

    code: str
    text: str


def check_answer(form: AnswerForm, evidence: Evidence, intents: Collection[str]) -> list[Problem]:
    """Return every problem of a draft; an empty list means that it may go to the reviewer."""
    return [
        *_check_intent(form, intents),
        *_check_sources(form, evidence),
        *_check_tickets(form, evidence),
        *_check_claims(form, evidence),
    ]


def _check_intent(form: AnswerForm, intents: Collection[str]) -> list[Problem]:
    if form.intent in intents:
        return []
    return [Problem("unknown_intent", f"'{form.intent}' is not in the list of intents.")]


def _check_sources(form: AnswerForm, evidence: Evidence) -> list[Problem]:
    retrieved = {source.doc_id for source in evidence.sources}
    return [
        Problem(
            "unknown_source", f"'{cited.doc_id}' was not retrieved in this run; cite only hits."
        )
        for cited in form.sources
        if cited.doc_id not in retrieved
    ]


def _check_tickets(form: AnswerForm, evidence: Evidence) -> list[Problem]:
    opened = evidence.tickets
    known = {*opened, *evidence.known_tickets}
    words = " ".join([*evidence.earlier_words, *evidence.words])
    invented = {
        number
        for number in _TICKET.findall(form.answer)
        if number not in known and number not in words
    }
    if form.ticket_id and form.ticket_id not in known:
        invented.add(form.ticket_id)
    problems = [
        Problem("unknown_ticket", f"No ticket {number} was opened in this run.")
        for number in sorted(invented)
    ]
    if form.escalated and not known and form.hand_over is None:
        problems.append(
            Problem("not_escalated", "Nothing was handed over; open a ticket or do not say so.")
        )
    if opened and not (form.escalated and form.ticket_id in opened):
        problems.append(
            Problem(
                "ticket_not_told", f"Set escalated and ticket_id: ticket {opened[0]} was opened."
            )
        )
    if opened and not any(number in form.answer for number in opened):
        problems.append(
            Problem("ticket_not_told", f"Tell the customer the ticket number {opened[0]}.")
        )
    return problems


def _check_claims(form: AnswerForm, evidence: Evidence) -> list[Problem]:
    everything = evidence.facts()
    without_articles = evidence.facts(articles=False)
    cited = {(source.doc_id) for source in form.sources}
    from_cited = collect_facts(
        f"{source.title}\n{source.heading}\n{source.text}"
        for source in evidence.sources
        if source.doc_id in cited
    )
    problems = []
    for claim in find_claims(form.answer):
        if _TICKET.fullmatch(claim.said):
            continue  # judged with the tickets
        if not everything.supports(claim):
            problems.append(_unsupported(claim))
        elif not without_articles.supports(claim) and not from_cited.supports(claim):
            problems.append(
                Problem(
                    "uncited_claim", f"'{claim.said}' comes from an article; cite that article."
                )
            )
    return list(dict.fromkeys(problems))


def _unsupported(claim: Claim) -> Problem:
    return Problem(
        f"unsupported_{claim.kind}",
        f"'{claim.said}' appears neither in a tool result nor in the customer's words; "
        "leave it out.",
    )
