"""How passages are scored, and from which score on they count."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum

from knowledge.errors import EmbeddingRefused

COVERAGE_WEIGHT = 0.3
EXACT_IDENTIFIER = 1.0  # a question that is one number, and a passage that holds it
ANSWER_FROM = 0.50
BAND_WIDTH = 0.05
LOWEST_FLOOR = 0.20
NOISE_PERCENTILE = 0.95


class Band(StrEnum):
    """What may be said on the strength of the best hit."""

    ANSWER = "answer"
    MAY_HELP = "may_help"
    NOTHING = "nothing_relevant_found"


def idf(passages: int, holding: int) -> float:
    """Return how telling a word is that `holding` of `passages` passages contain."""
    return math.log(1 + (passages - holding + 0.5) / (holding + 0.5))


def coverage(
    terms: Sequence[tuple[str, ...]],
    weights: Mapping[tuple[str, ...], float],
    stems: Collection[str],
) -> float:
    """Return the share (by weight) of the question's words that a passage contains."""
    total = sum(weights[term] for term in terms)
    if total <= 0:
        return 0.0
    found = sum(weights[term] for term in terms if any(form in stems for form in term))
    return found / total


def score(distance: float, covered: float) -> float:
    """Return cosine similarity plus weighted coverage; a distance that is no number scores 0."""
    similarity = 1 - distance if distance < 2 else 0.0
    return max(similarity, 0.0) + COVERAGE_WEIGHT * covered


def noise_floor(best_scores: Sequence[float]) -> float:
    """Return the score that only one in twenty off-topic questions reaches here.

    `best_scores` are the best scores of questions that no help centre answers, asked of this
    one. Between two measured scores the floor is interpolated.
    """
    ordered = sorted(best_scores)
    if not ordered:
        return ANSWER_FROM
    position = NOISE_PERCENTILE * (len(ordered) - 1)
    below = math.floor(position)
    above = min(below + 1, len(ordered) - 1)
    floor = ordered[below] + (ordered[above] - ordered[below]) * (position - below)
    return max(floor, LOWEST_FLOOR)


def answer_from(floor: float) -> float:
    """Return the score from which a hit is strong enough to answer with."""
    return max(ANSWER_FROM, floor + BAND_WIDTH)


def passes(value: float, cutoff: float) -> bool:
    """Tell whether a score reaches the cut-off. What is not a number never does."""
    return value >= cutoff


def band_of(best: float | None, cutoff: float, high: float) -> Band:
    """Return the band of the best score; None means that there was no candidate at all."""
    if best is None or not passes(best, cutoff):
        return Band.NOTHING
    return Band.ANSWER if passes(best, high) else Band.MAY_HELP


def check_vectors(vectors: Sequence[Sequence[float]], *, count: int, dims: int) -> None:
    """Raise `EmbeddingRefused` unless there are `count` unit vectors of `dims` numbers."""
    if len(vectors) != count:
        raise EmbeddingRefused(f"{count} texts gave {len(vectors)} vectors; none is used")
    for vector in vectors:
        if len(vector) != dims:
            raise EmbeddingRefused(f"a vector has {len(vector)} numbers where {dims} are expected")
        length = math.sqrt(sum(number * number for number in vector))
        # Written so that NaN fails it: every comparison with NaN is false.
        if not 0.99 < length < 1.01:
            raise EmbeddingRefused(
                "a vector is zero, infinite, not a number or not of unit length; "
                "the text cannot be compared with others"
            )
