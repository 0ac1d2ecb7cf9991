"""The review of a draft by rules: is every statement borne out by what the run has seen?

It reads the case as any reviewer does, as data: the question, the draft, the evidence. It cannot
judge style; what it can judge it judges strictly.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agents.adapters.offline.words import content_stems, plain, sentences
from agents.claims import Facts, collect_facts, find_claims

_DONE = re.compile(
    r"\b(?:i|we)(?: have|'ve)? (?:already |just )?(?:refunded|cancelled|canceled|exchanged|changed"
    r"|deleted|credited|reimbursed|replaced|updated|sent you)\b"
    r"|\byour (?:refund|order|account) has been (?:refunded|cancelled|canceled|processed|deleted"
    r"|changed|approved)\b",
    re.IGNORECASE,
)
_PROMISE = re.compile(
    r"\b(?:i|we) (?:will|shall|'ll|promise to|guarantee(?: that)?) (?:refund|pay|credit|reimburse"
    r"|cancel|send you|give you|compensate|replace|deliver)\b"
    r"|\byou will (?:definitely|certainly) (?:get|receive)\b",
    re.IGNORECASE,
)
# Words that a shop's rules are about: a sentence without one states no rule.
_RULE = re.compile(
    r"\b(?:free|costs?|fees?|charges?|refund(?:s|ed|able)?|return(?:s|ed|able)?|exchange(?:s|d)?"
    r"|warranty|guarantee|deliver(?:y|ies|ed|s)|shipping|cancel(?:led|s|lation)?|policy|accept(?:s|ed)?"
    r"|discount|voucher|reimburse(?:d|ment)?|compensation)\b",
    re.IGNORECASE,
)
_NEGATION = re.compile(
    r"\b(?:not|no|never|cannot|can't|don't|isn't|won't|without)\b", re.IGNORECASE
)
_TICKET = re.compile(r"\bTKT-\d+\b")
_SUPPORTED = 0.5  # share of a sentence's content words that some passage or result must hold
_SAME = 0.8
_SHORT = 4
_LEAST = 3  # words of content in a sentence that can be held against another


@dataclass(frozen=True)
class Case:
    """What is under review."""

    question: str
    answer: str
    sources: tuple[str, ...]
    escalated: bool
    handing: bool  # code opens the ticket once the draft has passed
    ticket: str
    confidence: float
    evidence: tuple[Mapping[str, Any], ...]
    passages: tuple[tuple[str, str], ...] = ()  # article id and text
    words: frozenset[str] = field(default_factory=frozenset)  # stems of everything that was seen


def review_case(text: str, context: Mapping[str, Any]) -> tuple[bool, list[str]]:
    """Return whether a draft may leave, and what is wrong with it else."""
    case = read_case(text, context)
    if case is None:
        return False, ["The case for review cannot be read; hand the draft in again."]
    problems = [
        *_check_form(case),
        *_check_deeds(case),
        *_check_figures(case, context),
        *_check_sources(case),
        *_check_rules(case),
    ]
    unique = list(dict.fromkeys(problems))
    return not unique, unique[:8]


def read_case(text: str, context: Mapping[str, Any]) -> Case | None:
    """Read the JSON of a case; None when it is none."""
    try:
        raw = json.loads(text)
    except ValueError:
        return None
    draft = raw.get("draft") if isinstance(raw, Mapping) else None
    if not isinstance(draft, Mapping) or not isinstance(draft.get("answer"), str):
        return None
    evidence = tuple(item for item in raw.get("evidence") or () if isinstance(item, Mapping))
    passages = tuple(_passages(evidence))
    seen = " ".join([str(raw.get("question", "")), *_strings([e.get("data") for e in evidence])])
    return Case(
        question=str(raw.get("question", "")),
        answer=draft["answer"],
        sources=tuple(str(s.get("doc_id", "")) for s in draft.get("sources") or ()),
        escalated=bool(draft.get("escalated")),
        handing=bool(draft.get("hand_over")),
        ticket=str(draft.get("ticket_id") or ""),
        confidence=float(draft.get("confidence") or 0.0),
        evidence=evidence,
        passages=passages,
        words=content_stems(" ".join([seen, *_strings(dict(context))])),
    )


def _passages(evidence: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    found = []
    for item in evidence:
        data = item.get("data")
        hits = data.get("hits") if isinstance(data, Mapping) else None
        for hit in hits or ():
            if isinstance(hit, Mapping):
                parts = (str(hit.get(key, "")) for key in ("title", "heading", "text"))
                found.append((str(hit.get("doc_id", "")), ". ".join(parts)))
    return found


def _strings(value: Any) -> list[str]:
    if isinstance(value, Mapping):
        return [text for item in value.values() for text in _strings(item)]
    if isinstance(value, list | tuple):
        return [text for item in value for text in _strings(item)]
    return [str(value)] if value is not None else []


def _check_form(case: Case) -> list[str]:
    problems = []
    if not content_stems(case.answer) and len(case.answer.split()) < _SHORT:
        problems.append("The answer says nothing.")
    opened = {
        number for item in case.evidence for number in _TICKET.findall(json.dumps(item.get("data")))
    }
    if case.escalated and not (opened or case.ticket or case.handing):
        problems.append("It says that somebody took over, but no ticket was opened.")
    if case.ticket and case.ticket not in case.answer:
        problems.append(f"Tell the customer the ticket number {case.ticket}.")
    return problems


def _check_deeds(case: Case) -> list[str]:
    """Refuse deeds that nobody did and promises that nobody may give."""
    problems = []
    for sentence in sentences(plain(case.answer)):
        if _quoted(sentence, case):
            continue
        if _DONE.search(sentence):
            problems.append(
                f"Leave out '{_clip(sentence)}': nothing of the kind was done in this run."
            )
        elif _PROMISE.search(sentence):
            problems.append(
                f"Leave out '{_clip(sentence)}': a person decides that, it cannot be promised."
            )
    return problems


def _check_figures(case: Case, context: Mapping[str, Any]) -> list[str]:
    data = [item.get("data") for item in case.evidence]
    facts: Facts = collect_facts([case.question], [*data, dict(context)])
    known_tickets = set(_TICKET.findall(case.answer)) & {case.ticket}
    return [
        f"'{claim.said}' is not in the evidence; leave it out."
        for claim in find_claims(case.answer)
        if not facts.supports(claim) and claim.said not in known_tickets
    ]


def _check_sources(case: Case) -> list[str]:
    texts = dict.fromkeys(doc_id for doc_id, _ in case.passages)
    problems = [
        f"'{doc}' was not read in this run; do not cite it."
        for doc in case.sources
        if doc not in texts
    ]
    said = content_stems(case.answer)
    for doc in dict.fromkeys(case.sources):
        read = frozenset().union(*(content_stems(t) for d, t in case.passages if d == doc))
        if read and len(said & read) < 2:
            problems.append(f"The answer uses nothing of '{doc}'; do not cite it.")
    return problems


def _check_rules(case: Case) -> list[str]:
    """Refuse a rule that no passage states, and one that a passage states the other way round."""
    problems = []
    for sentence in sentences(plain(case.answer)):
        stems = content_stems(sentence)
        if len(stems) < _LEAST or not _RULE.search(sentence) or sentence.endswith("?"):
            continue
        if _quoted(sentence, case):
            continue
        share = len(stems & case.words) / len(stems)
        if case.passages and len(stems) >= _SHORT and share < _SUPPORTED:
            problems.append(f"Nothing that was read supports '{_clip(sentence)}'.")
        elif _contradicts(sentence, stems, case):
            problems.append(f"'{_clip(sentence)}' says the opposite of what was read.")
    return problems


def _contradicts(sentence: str, stems: frozenset[str], case: Case) -> bool:
    """Tell whether the passage's sentence that is most like this one differs in a "not"."""
    best, other = 0.0, ""
    for _, text in case.passages:
        for candidate in sentences(plain(text)):
            found = content_stems(candidate)
            share = len(stems & found) / max(1, len(stems | found))
            if share > best:
                best, other = share, candidate
    return best >= _SAME and bool(_NEGATION.search(sentence)) != bool(_NEGATION.search(other))


def _quoted(sentence: str, case: Case) -> bool:
    words = " ".join(sentence.split()).rstrip(".!?")
    return any(words in " ".join(plain(text).split()) for _, text in case.passages)


def _clip(sentence: str) -> str:
    text = " ".join(sentence.split()).replace("'", "’")
    return text if len(text) <= 90 else f"{text[:89]}…"


def judge_case(text: str) -> dict[str, Any]:
    """Return whether one of the passages answers the question, and with which sentence.

    The search's own bands have decided already; rules can only name the sentence that shares most
    words of content with the question. None does that shares nothing.
    """
    none = {"answers": False, "doc_id": "", "quote": ""}
    try:
        raw = json.loads(text)
        asked = content_stems(str(raw["question"]))
        passages = [(str(p["doc_id"]), str(p["text"])) for p in raw["passages"]]
    except (ValueError, KeyError, TypeError):
        return none
    best, quote, doc_id = 0.0, "", ""
    for doc, passage in passages:
        for sentence in sentences(passage):
            share = len(asked & content_stems(sentence)) / max(1, len(asked))
            if share > best:
                best, quote, doc_id = share, sentence, doc
    return {"answers": True, "doc_id": doc_id, "quote": quote} if best > 0 else none
