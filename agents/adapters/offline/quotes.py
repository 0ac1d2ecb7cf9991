"""Which sentences of which passage answer a question. They are quoted and never reworded."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from agents.adapters.offline.findings import Hit, Search
from agents.adapters.offline.words import (
    content_stems,
    count_words,
    join_sentences,
    plain,
    sentences,
)
from agents.understanding.regression import times

Embed = Callable[[list[str]], Any]

_WHOLE = 75  # words up to which a passage is quoted whole
_WINDOW = 65  # words of an excerpt
_PASSAGES = 3
_SENTENCES = 24
_LEANS = re.compile(
    r"^(?:it|this|that|these|those|they|them|he|she|both|otherwise|then|there|such|if (?:it|not|so)"
    r"|but|and|also|in that case|each|either)\b",
    re.IGNORECASE,
)
_THRESHOLD = re.compile(
    r"\b(?:after|more than|over|past|at least)\s+(\d{1,3}|\w+)\s+"
    r"(?:full |business |working |calendar )*days?\b",
    re.IGNORECASE,
)
_CHECKS = re.compile(
    r"\b(?:(?:a )?(?:person|colleague|member of staff)|our team|we)\b[^.]{0,60}?\b"
    r"(?:check|checks|ask|asks|contact|contacts|open|opens|start|starts|search|searches|look|looks|trace)\b",
    re.IGNORECASE,
)
_NUMBERS = {"three": 3, "five": 5, "seven": 7, "ten": 10, "fourteen": 14}


@dataclass(frozen=True, slots=True)
class Quote:
    """Words of an article, with where they stand."""

    doc_id: str
    heading: str
    title: str
    text: str


def best_quote(search: Search, question: str, embed: Embed) -> Quote | None:
    """Return the sentences that come nearest to the question, from the best passages.

    The order of the passages is the search's; a later one is preferred only when one of its
    sentences is clearly nearer to the question.
    """
    passages = [hit for hit in search.hits[:_PASSAGES] if hit.text]
    if not passages:
        return None
    split = [sentences(plain(hit.text)) for hit in passages]
    flat = [sentence for part in split for sentence in part][:_SENTENCES]
    near = _nearness(question, flat, embed)
    best_hit, best_worth, start = 0, -1.0, 0
    offsets = []
    for index, part in enumerate(split):
        scores = near[start : start + len(part)]
        offsets.append(scores)
        start += len(part)
        worth = passages[index].score + 0.5 * max(scores, default=0.0)
        if worth > best_worth + (0.05 if index else 0.0):
            best_hit, best_worth = index, worth
    text = _excerpt(split[best_hit], offsets[best_hit])
    hit = passages[best_hit]
    return Quote(hit.doc_id, hit.heading, hit.title, text)


def quote_hit(hit: Hit) -> Quote:
    """Return a passage's beginning, as much as an excerpt holds."""
    parts = sentences(plain(hit.text))
    return Quote(hit.doc_id, hit.heading, hit.title, _excerpt(parts, [1.0] + [0.0] * len(parts)))


def check_after(search: Search) -> tuple[int, Hit] | None:
    """Return after how many days late a person checks, and the passage that says so."""
    for hit in search.hits:
        for sentence in sentences(plain(hit.text)):
            found = _THRESHOLD.search(sentence)
            if found and _CHECKS.search(sentence) and _number(found[1]) is not None:
                return _number(found[1]) or 0, hit
    return None


def _number(word: str) -> int | None:
    return int(word) if word.isdigit() else _NUMBERS.get(word.casefold())


def _nearness(question: str, parts: Sequence[str], embed: Embed) -> list[float]:
    """Return for each sentence how near it is: meaning, and words in common."""
    if not parts:
        return []
    wanted = content_stems(question)
    vectors = np.asarray(embed([question, *parts]), np.float32)
    cosines = times(vectors[1:], vectors[0])
    shared = [len(wanted & content_stems(part)) / max(1, len(wanted)) for part in parts]
    return [float(cosine) + 0.3 * share for cosine, share in zip(cosines, shared, strict=True)]


def _excerpt(parts: Sequence[str], near: Sequence[float]) -> str:
    """Return whole sentences around the nearest one, in their order."""
    if sum(map(count_words, parts)) <= _WHOLE:
        return join_sentences(list(parts))
    best = max(range(len(parts)), key=lambda i: (near[i] if i < len(near) else -1.0, -i))
    first = best
    while first > 0 and _LEANS.match(parts[first]):
        first -= 1  # "It also …" says nothing without the sentence before
    last = best
    while True:
        room = _WINDOW - sum(map(count_words, parts[first : last + 1]))
        if last + 1 < len(parts) and count_words(parts[last + 1]) <= room:
            last += 1
        elif first > 0 and count_words(parts[first - 1]) <= room:
            first -= 1
        else:
            return join_sentences(list(parts[first : last + 1]))
