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
    join_units,
    plain,
    sentences,
    stem,
    units,
)
from agents.understanding import load_catalogue
from agents.understanding.regression import times

Embed = Callable[[list[str]], Any]

_WHOLE = 80  # words up to which a passage is quoted whole
_WINDOW = 70  # words of an excerpt
_PASSAGES = 3
_LIST = 110  # words up to which a list or a table is kept whole
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


def best_quote(search: Search, question: str, embed: Embed, *, topic: str = "") -> Quote | None:
    """Return the sentences that come nearest to the question, from the best passages.

    The order of the passages is the search's; a later one is preferred only when it is clearly
    better by its sentences, or its article bears the topic of the question in its title.
    """
    passages = [hit for hit in search.hits[:_PASSAGES] if hit.text]
    if not passages:
        return None
    split = [units(plain(hit.text)) for hit in passages]
    flat = [sentence for part in split for sentence in part][:_SENTENCES]
    near = _nearness(question, flat, embed)
    astray = _is_astray(passages[0], topic)
    best_hit, best_worth, start = 0, -1.0, 0
    offsets = []
    for index, part in enumerate(split):
        scores = near[start : start + len(part)]
        offsets.append(scores)
        start += len(part)
        worth = passages[index].score + 0.15 * max(scores, default=0.0)
        worth += 0.3 * (astray and stem(topic) in content_stems(passages[index].title))
        if worth > best_worth + (0.02 if index else 0.0):
            best_hit, best_worth = index, worth
    text = _excerpt(split[best_hit], offsets[best_hit])
    hit = passages[best_hit]
    return Quote(hit.doc_id, hit.heading, hit.title, text)


def _is_astray(first: Hit, topic: str) -> bool:
    """Tell whether the first passage is of an article on another topic than the question's.

    Refunds and returns, for example, are told apart by intent better than by their words.
    """
    title = content_stems(first.title)
    topics = {stem(intent.topic) for intent in load_catalogue().intents}
    return bool(topic) and stem(topic) not in title and bool(title & topics)


def quote_hit(hit: Hit) -> Quote:
    """Return a passage's beginning, as much as an excerpt holds."""
    parts = units(plain(hit.text))
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
    """Return whole pieces around the nearest one, in their order."""
    if not parts:
        return ""
    if _words(parts) <= _WHOLE:
        return join_units(list(parts))
    best = max(range(len(parts)), key=lambda i: (near[i] if i < len(near) else -1.0, -i))
    first, last = _whole_list(parts, best)
    while first > 0 and _LEANS.match(parts[first]):
        first -= 1  # "It also …" says nothing without the sentence before
    while True:
        room = _WINDOW - _words(parts[first : last + 1])
        if last + 1 < len(parts) and count_words(parts[last + 1]) <= room:
            last += 1
        elif first > 0 and count_words(parts[first - 1]) <= room:
            first -= 1
        else:
            first, last = _whole_lists(parts, first, last)
            return join_units(list(parts[first : last + 1]))


def _whole_lists(parts: Sequence[str], first: int, last: int) -> tuple[int, int]:
    """Take in the rest of a list that was cut, or leave the cut piece out when it is too long."""
    begin, end = _whole_list(parts, first)[0], _whole_list(parts, last)[1]
    if _words(parts[begin : end + 1]) <= _LIST:
        return begin, end
    while first < last and _is_item(parts, first) and _is_item(parts, first - 1):
        first += 1
    return first, last


def _whole_list(parts: Sequence[str], best: int) -> tuple[int, int]:
    """Return the span of a list around one of its items, with the line that leads to it."""
    first = last = best
    while _is_item(parts, best) and first > 0 and _is_item(parts, first - 1):
        first -= 1
    while _is_item(parts, best) and _is_item(parts, last + 1):
        last += 1
    if first > 0 and _is_item(parts, best) and parts[first - 1].endswith(":"):
        first -= 1
    return (first, last) if _words(parts[first : last + 1]) <= _LIST else (best, best)


def _is_item(parts: Sequence[str], index: int) -> bool:
    return 0 <= index < len(parts) and parts[index].startswith("- ")


def _words(parts: Sequence[str]) -> int:
    return sum(map(count_words, parts))
