"""The one way to look something up in the help centre."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from time import perf_counter
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db import connection

from dsupport.contract.errors import InvalidInput
from dsupport.contract.principal import Principal
from dsupport.lib.redaction import mask
from knowledge.embedding import embed_query, get_embedder
from knowledge.errors import EmbeddingRefused, InternalNeedsStaff, TraceNotFound
from knowledge.models import Audience, Calibration, KnowledgeIndex, RetrievalTrace
from knowledge.ranking import Hit, Pool, Scope, rank
from knowledge.rules.queries import clean_query, needs_history, with_history
from knowledge.rules.scoring import ANSWER_FROM, Band, answer_from, band_of, passes

MOST_HITS = 20
_TRACED = 10  # candidates kept in a trace, those below the cut-off among them
_SAME = 0.001  # scores of one model differ by less from one processor to another


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a search found. `ranked` are the best articles whether or not they reach the cut-off."""

    hits: tuple[Hit, ...]
    cutoff: float
    high: float
    band: Band
    trace_id: str
    ranked: tuple[Hit, ...] = ()
    query: str = ""


@dataclass(frozen=True, slots=True)
class Replay:
    """A search run again on the index it saw: whether it finds the same, and what it finds."""

    equal: bool
    hits: tuple[Hit, ...]
    band: Band
    differences: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Ground:
    """What a search stands on: one index version, its model and its measured lines."""

    scope: Scope
    embedder_id: str
    cutoff: float
    high: float


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question in the two forms in which it is tried: alone, and behind what was said before."""

    alone: str
    followed: str = ""


def search(
    *,
    principal: Principal,
    query: str,
    k: int = 5,
    audience: Sequence[str] = (Audience.PUBLIC.value,),
    language: str | None = None,
    now: datetime,
    history: Sequence[str] = (),
    run_id: str = "",
) -> SearchResult:
    """Return the articles that may answer a question, and how sure that is; leave a trace.

    Who asks, the audience, the language and the dates narrow what is searched before anything
    is ranked. `history` are the customer's earlier messages, oldest first; they count only for
    a follow-up that is not understood alone. E-mail addresses and other personal data are
    masked before the question is compared or kept.
    """
    began = perf_counter()
    asked = _ask(query, history)
    ground = _ground(principal.tenant_id, _checked_audience(principal, audience), language, now)
    pool = Pool.for_principal(principal, ground.scope)
    ranked, band = _run(pool, asked, ground)
    kept = tuple(ranked[: max(1, min(k, MOST_HITS))])
    enough = band is not Band.NOTHING
    hits = tuple(hit for hit in kept if enough and passes(hit.score, ground.cutoff))
    trace = RetrievalTrace.objects.create(
        tenant_id=principal.tenant_id,
        at=now,
        principal_kind=principal.proof.value,
        run_id=run_id,
        query=asked.alone,
        filters=_filters(ground.scope, asked, k),
        hits=[_traced(hit, hit in hits) for hit in ranked[:_TRACED]],
        cutoff=ground.cutoff,
        high=ground.high,
        band=band.value,
        index_version=ground.scope.index_version,
        set_id=ground.scope.set_id or None,
        embedder_id=ground.embedder_id,
        milliseconds=round((perf_counter() - began) * 1000),
    )
    return SearchResult(hits, ground.cutoff, ground.high, band, str(trace.pk), kept, asked.alone)


def replay(trace_id: str | UUID, *, principal: Principal) -> Replay:
    """Run a traced search again on the index version it saw, for the staff of its shop.

    What was published since changes nothing; an article that was deleted does.
    """
    trace = _get_trace(trace_id, principal)
    filters = trace.filters
    scope = Scope(
        set_id=trace.set_id or 0,
        index_version=trace.index_version,
        day=datetime.fromisoformat(filters["day"]).date(),
        audience=tuple(filters["audience"]),
        language=filters["language"],
    )
    pool = Pool.for_tenant(trace.tenant_id, scope)
    asked = _Asked(trace.query, filters["followed"])
    ground = _Ground(scope, trace.embedder_id, trace.cutoff, trace.high)
    ranked, band = _run(pool, asked, ground)
    found = ranked[:_TRACED]
    differences = _differences(trace, found, band)
    return Replay(not differences, tuple(found), band, differences)


# One statement, since it stands in the transaction that posts an answer.
_MARK_CITED = """
UPDATE knowledge_retrievaltrace SET hits = (
    SELECT COALESCE(jsonb_agg(hit || jsonb_build_object('cited',
        (hit ->> 'shown')::boolean AND EXISTS (
            SELECT 1 FROM jsonb_array_elements(%(cited)s::jsonb) AS cited
            WHERE cited ->> 0 = hit ->> 'doc_id' AND cited ->> 1 = hit ->> 'heading'))
        ORDER BY place), '[]')
    FROM jsonb_array_elements(hits) WITH ORDINALITY AS item (hit, place))
WHERE tenant_id = %(tenant)s AND run_id = %(run)s AND run_id <> ''
"""


def mark_cited(*, principal: Principal, run_id: str, cited: Sequence[tuple[str, str]]) -> int:
    """Note on a run's traces which `(doc_id, heading)` its answer cited; return how many traces."""
    if not run_id:
        return 0
    parameters: dict[str, Any] = {
        "tenant": principal.tenant_id,
        "run": run_id,
        "cited": json.dumps(list(cited)),
    }
    with connection.cursor() as cursor:
        cursor.execute(_MARK_CITED, parameters)
        return int(cursor.rowcount)


def best_score(pool: Pool, query: str, vector: Sequence[float]) -> tuple[float, str]:
    """Return the best score that a question reaches in a pool, and the article that gives it."""
    ranked = rank(pool, query, vector)
    return (ranked[0].score, ranked[0].doc_id) if ranked else (0.0, "")


def _ask(query: str, history: Sequence[str]) -> _Asked:
    alone = mask(clean_query(query))
    if not history or not needs_history(alone):
        return _Asked(alone)
    followed = mask(with_history(query, history))
    return _Asked(alone, followed if followed != alone else "")


def _checked_audience(principal: Principal, audience: Sequence[str]) -> tuple[str, ...]:
    wanted = tuple(sorted(set(audience)))
    if not wanted or not set(wanted) <= set(Audience.values):
        raise InvalidInput(f"audience holds {' and '.join(Audience.values)} only")
    if Audience.INTERNAL in wanted and principal.staff_id is None:
        raise InternalNeedsStaff("Internal articles are for the shop's staff. Sign in as staff.")
    return wanted


def _ground(
    tenant_id: int, audience: tuple[str, ...], language: str | None, now: datetime
) -> _Ground:
    """Read once what the whole search goes by, so that publications meanwhile do not touch it."""
    index = (
        KnowledgeIndex.objects.select_related("active_set", "tenant")
        .filter(tenant_id=tenant_id)
        .first()
    )
    zone = index.tenant.zone if index else ZoneInfo("UTC")
    active = index.active_set if index else None
    scope = Scope(
        set_id=active.pk if active else 0,
        index_version=index.version if index else 0,
        day=now.astimezone(zone).date(),
        audience=audience,
        language=language,
    )
    return _Ground(scope, active.embedder_id if active else "", *_cutoff(scope))


def _cutoff(scope: Scope) -> tuple[float, float]:
    """Return the cut-off and the upper line; a help centre not yet measured gets strict ones."""
    measured = (
        Calibration.objects.filter(set_id=scope.set_id, index_version__lte=scope.index_version)
        .order_by("-index_version", "-pk")
        .values_list("floor", "high")
        .first()
    )
    return measured or (ANSWER_FROM, answer_from(ANSWER_FROM))


def _run(pool: Pool, asked: _Asked, ground: _Ground) -> tuple[list[Hit], Band]:
    ranked = _rank(pool, asked.alone, ground.embedder_id)
    best = ranked[0].score if ranked else None
    band = band_of(best, ground.cutoff, ground.high)
    if not asked.followed or band is Band.ANSWER:
        return ranked, band
    with_past = _rank(pool, asked.followed, ground.embedder_id)
    if not with_past or with_past[0].score <= (best or 0.0):
        return ranked, band
    # What was said before led here, not the question alone, so the hit is not offered as an answer.
    return with_past, band_of(with_past[0].score, ground.cutoff, float("inf"))


def _rank(pool: Pool, query: str, embedder_id: str) -> list[Hit]:
    if not embedder_id:
        return []
    try:
        vector = embed_query(get_embedder(embedder_id), query, tenant_id=pool.tenant_id)
    except EmbeddingRefused:
        return []  # a question without a meaning is near to nothing
    return rank(pool, query, vector)


def _filters(scope: Scope, asked: _Asked, k: int) -> dict[str, Any]:
    return {
        "audience": list(scope.audience),
        "language": scope.language,
        "day": scope.day.isoformat(),
        "k": k,
        "followed": asked.followed,
    }


def _traced(hit: Hit, shown: bool) -> dict[str, Any]:
    return {
        "doc_id": hit.doc_id,
        "title": hit.title,
        "heading": hit.heading,
        "version": hit.version,
        "chunk": hit.chunk,
        "score": hit.score,
        "distance": hit.distance,
        "coverage": hit.coverage,
        "exact": hit.exact,
        "shown": shown,
        "cited": False,
    }


def _get_trace(trace_id: str | UUID, principal: Principal) -> RetrievalTrace:
    try:
        key = trace_id if isinstance(trace_id, UUID) else UUID(trace_id)
    except ValueError:
        key = UUID(int=0)
    trace: RetrievalTrace | None = (
        RetrievalTrace.objects.for_principal(principal).filter(pk=key).first()
    )
    if trace is None:
        raise TraceNotFound(
            "There is no such search in this shop. Open it from the list of searches."
        )
    return trace


def _differences(trace: RetrievalTrace, found: Sequence[Hit], band: Band) -> tuple[str, ...]:
    """Name what differs from the trace, place by place."""
    differences = [] if band.value == trace.band else [f"band: {trace.band}, now {band.value}"]
    before: list[Mapping[str, Any]] = trace.hits
    for place in range(max(len(before), len(found))):
        old = before[place] if place < len(before) else None
        new = found[place] if place < len(found) else None
        if old is None or new is None or not _same(old, new):
            differences.append(f"place {place + 1}: {_named(old)}, now {_named(new)}")
    return tuple(differences)


def _same(old: Mapping[str, Any], new: Hit) -> bool:
    same_passage = (old["doc_id"], old["version"], old["chunk"]) == (
        new.doc_id, new.version, new.chunk,
    )  # fmt: skip
    return same_passage and abs(old["score"] - new.score) <= _SAME


def _named(hit: Mapping[str, Any] | Hit | None) -> str:
    if hit is None:
        return "nothing"
    row = _traced(hit, False) if isinstance(hit, Hit) else hit
    return f"{row['doc_id']} version {row['version']} ({row['score']:.3f})"
