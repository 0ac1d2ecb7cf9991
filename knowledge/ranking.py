"""Finding the passages of a pool that are nearest to a question, and ordering their articles."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property, reduce
from operator import or_
from typing import Any, Self

from django.contrib.postgres.search import (
    SearchQuery,
    SearchRank,
    SearchVectorExact,
    SearchVectorField,
)
from django.db.models import Count, F, Q
from pgvector.django import CosineDistance

from dsupport.contract.principal import Principal
from knowledge.models import Chunk, Embedding
from knowledge.rules import scoring
from knowledge.rules.words import find_terms, is_number, lone_identifiers

NEAREST = 50
_TEXT_SEARCH_FROM = 5_000  # chunks; in a smaller pool the nearest 50 hold all that matters

# `search @@ query`; Django registers it only for projects that install django.contrib.postgres.
SearchVectorField.register_lookup(SearchVectorExact)


@dataclass(frozen=True, slots=True)
class Scope:
    """What a search may see besides who asks: all of it applies before anything is ranked."""

    set_id: int
    index_version: int
    day: date
    audience: tuple[str, ...]
    language: str | None


@dataclass(frozen=True, slots=True)
class Hit:
    """An article that matches, by its best passage."""

    doc_id: str
    title: str
    heading: str
    anchor: str
    version: int
    score: float
    text: str
    chunk: int
    distance: float
    coverage: float
    exact: bool = False

    @property
    def snippet(self) -> str:
        """Return the beginning of the passage, cut at a word."""
        line = " ".join(self.text.split())
        return line if len(line) <= 240 else line[:240].rsplit(" ", 1)[0] + " …"


@dataclass(frozen=True)
class Pool:
    """The chunks and vectors that one search may see; it is made for an asker or for a shop."""

    tenant_id: int
    chunks: Any
    vectors: Any

    @cached_property
    def size(self) -> int:
        """Return how many chunks there are, counted once."""
        count: int = self.chunks.count()
        return count

    @classmethod
    def for_principal(cls, principal: Principal, scope: Scope) -> Self:
        return cls._within(
            principal.tenant_id,
            Chunk.objects.for_principal(principal),
            Embedding.objects.for_principal(principal),
            scope,
        )

    @classmethod
    def for_tenant(cls, tenant_id: int, scope: Scope) -> Self:
        """Return a shop's pool for measuring and replaying, which have no asker of their own."""
        return cls._within(
            tenant_id,
            Chunk.objects.for_tenant(tenant_id),
            Embedding.objects.for_tenant(tenant_id),
            scope,
        )

    @classmethod
    def _within(cls, tenant_id: int, chunks: Any, vectors: Any, scope: Scope) -> Self:
        narrowed = [
            rows.live_at(scope.index_version)
            .in_audience(scope.audience)
            .in_language(scope.language)
            .effective_on(scope.day)
            for rows in (chunks, vectors)
        ]
        return cls(tenant_id, narrowed[0], narrowed[1].filter(set_id=scope.set_id))


def rank(pool: Pool, query: str, vector: Sequence[float]) -> list[Hit]:
    """Return the articles of a pool, best first: cosine plus weighted coverage of the words.

    An article scores as its best passage or sample question does, and is shown by its best
    passage. A question that is one number finds the passages that hold the number and no other:
    to a model of language, one number looks much like the next.
    """
    if not pool.size:
        return []
    rows = _candidates(pool, query, vector)
    measure = _measure(pool, query, {row["chunk__version__language"] for row in rows})
    numbers = set(lone_identifiers(query))
    articles: dict[int, list[tuple[Any, Hit]]] = {}
    for row in rows:
        hit = _hit(row, measure(row), numbers)
        articles.setdefault(row["chunk__version_id"], []).append((row, hit))
    hits = [hit for hit in map(_best, articles.values()) if hit]
    if is_number(query):
        hits = [hit for hit in hits if hit.exact]
    return sorted(hits, key=lambda hit: (-hit.score, hit.doc_id))


_COLUMNS = (
    "distance", "chunk_id", "chunk__kind", "chunk__heading", "chunk__anchor", "chunk__text",
    "chunk__stems", "chunk__identifiers", "chunk__version_id", "chunk__version__number",
    "chunk__version__title", "chunk__version__language", "chunk__version__article__doc_id",
)  # fmt: skip


def _candidates(pool: Pool, query: str, vector: Sequence[float]) -> list[dict[str, Any]]:
    rows = pool.vectors.annotate(distance=CosineDistance("vector", vector)).values(*_COLUMNS)
    # A distance that is not a number is not below anything, so it never gets in.
    found = {
        row["chunk_id"]: row
        for row in rows.filter(distance__lt=1).order_by("distance", "chunk_id")[:NEAREST]
    }
    numbers = lone_identifiers(query)
    if numbers:
        exact = rows.filter(chunk__identifiers__overlap=numbers).order_by("chunk_id")
        found |= {row["chunk_id"]: row for row in exact[:NEAREST]}
    words = [form for term in find_terms(query) for form in term]
    if pool.size > _TEXT_SEARCH_FROM and words:
        wanted = reduce(or_, (SearchQuery(word, config="english") for word in words))
        by_text = rows.filter(chunk__search=wanted).annotate(
            rank=SearchRank(F("chunk__search"), wanted, cover_density=True)
        )
        found |= {row["chunk_id"]: row for row in by_text.order_by("-rank", "chunk_id")[:NEAREST]}
    shown = {r["chunk__version_id"] for r in found.values() if r["chunk__kind"] == "passage"}
    bare = {row["chunk__version_id"] for row in found.values()} - shown
    if bare:  # found by a sample question alone: there must be a passage to show
        passages = rows.filter(chunk__version_id__in=bare, chunk__kind=Chunk.Kind.PASSAGE)
        found |= {row["chunk_id"]: row for row in passages}
    return list(found.values())


def _measure(pool: Pool, query: str, languages: Iterable[str]) -> Callable[[dict[str, Any]], float]:
    """Return what tells a row's coverage of the question, with words weighted by rarity."""
    terms = {language: find_terms(query, language) for language in languages}
    forms = sorted({form for groups in terms.values() for group in groups for form in group})
    held = _holding(pool, forms)
    weights = {
        group: scoring.idf(pool.size, max(held.get(form, 0) for form in group))
        for groups in terms.values()
        for group in groups
    }
    return lambda row: scoring.coverage(
        terms[row["chunk__version__language"]], weights, frozenset(row["chunk__stems"])
    )


def _holding(pool: Pool, forms: Sequence[str]) -> dict[str, int]:
    """Return how many chunks of the pool hold each word."""
    if not forms:
        return {}
    counts = pool.chunks.filter(stems__overlap=list(forms)).aggregate(
        **{
            f"n{number}": Count("pk", filter=Q(stems__contains=[form]))
            for number, form in enumerate(forms)
        }
    )
    return {form: counts[f"n{number}"] for number, form in enumerate(forms)}


def _hit(row: dict[str, Any], covered: float, numbers: set[str]) -> Hit:
    distance = float(row["distance"])
    exact = not numbers.isdisjoint(row["chunk__identifiers"])
    value = scoring.score(distance, covered)
    return Hit(
        doc_id=row["chunk__version__article__doc_id"],
        title=row["chunk__version__title"],
        heading=row["chunk__heading"],
        anchor=row["chunk__anchor"],
        version=row["chunk__version__number"],
        score=round(max(value, scoring.EXACT_IDENTIFIER) if exact else value, 4),
        text=row["chunk__text"],
        chunk=row["chunk_id"],
        distance=round(distance, 4),
        coverage=round(covered, 4),
        exact=exact,
    )


def _best(found: Sequence[tuple[dict[str, Any], Hit]]) -> Hit | None:
    """Return an article's best passage, at the score of its best passage or sample question.

    A sample question brings its closeness; the words must be found in the article all the same,
    because two short questions that share one rare word would otherwise look alike.
    """
    passages = [hit for row, hit in found if row["chunk__kind"] == Chunk.Kind.PASSAGE]
    if not passages:
        return None
    covered = max(hit.coverage for hit in passages)
    by_question = [
        round(scoring.score(hit.distance, covered), 4)
        for row, hit in found
        if row["chunk__kind"] == Chunk.Kind.QUESTION
    ]
    shown = max(passages, key=lambda hit: (hit.score, -hit.chunk))
    return replace(shown, score=max([shown.score, *by_question]))
