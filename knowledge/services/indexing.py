"""Measuring the cut-off, and changing the model of a shop's vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction

from knowledge.embedding import (
    configured_embedder,
    embed_documents,
    off_topic_questions,
    off_topic_vectors,
)
from knowledge.models import Audience, Calibration, Chunk, Embedding, EmbeddingSet, KnowledgeIndex
from knowledge.ports import Embedder
from knowledge.ranking import Pool, Scope
from knowledge.rules.scoring import answer_from, noise_floor
from knowledge.search import best_score
from knowledge.services.index import advance, lock_index

_BATCH = 32


def calibrate(*, tenant_id: int, now: datetime) -> Calibration | None:
    """Measure how well off-topic questions match a shop's articles, and keep the cut-off.

    Return None when there is nothing to measure yet.
    """
    index = KnowledgeIndex.objects.select_related("active_set", "tenant").filter(
        tenant_id=tenant_id
    ).first()  # fmt: skip
    if index is None or index.active_set is None:
        return None
    scope = Scope(
        set_id=index.active_set.pk,
        index_version=index.version,
        day=now.astimezone(index.tenant.zone).date(),
        audience=tuple(Audience.values),
        language=None,
    )
    pool = Pool.for_tenant(tenant_id, scope)
    if not pool.chunks.exists():
        return None
    questions = off_topic_questions()
    vectors = off_topic_vectors(index.active_set.embedder_id, tenant_id=tenant_id)
    scores = [
        (*best_score(pool, question, vector), question)
        for question, vector in zip(questions, vectors, strict=True)
    ]
    floor = round(noise_floor([score for score, _, _ in scores]), 4)
    return Calibration.objects.create(
        tenant_id=tenant_id,
        set=index.active_set,
        embedder_id=index.active_set.embedder_id,
        index_version=index.version,
        floor=floor,
        high=answer_from(floor),
        null_scores=[
            {"question": question, "score": score, "doc_id": doc_id}
            for score, doc_id, question in sorted(scores, reverse=True)
        ],
        at=now,
    )


def is_measured(tenant_id: int) -> bool:
    """Tell whether the cut-off was measured on the articles as they are now."""
    index = KnowledgeIndex.objects.filter(tenant_id=tenant_id).first()
    return index is None or (
        Calibration.objects.filter(set_id=index.active_set_id, index_version=index.version).exists()
    )


def rebuild_index(
    tenant_id: int,
    *,
    now: datetime,
    embedder: Embedder | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> bool:
    """Embed a shop's live articles with another model and change over in one step.

    The new vectors grow beside the old ones, which searches use until the last one is there.
    Return False when the vectors in force are of this model already. `on_progress` is told how
    many chunks are done and how many there are.
    """
    model = embedder or configured_embedder()
    index, _ = KnowledgeIndex.objects.select_related("active_set").get_or_create(
        tenant_id=tenant_id
    )
    if index.active_set is not None and index.active_set.embedder_id == model.id:
        return False
    target = _set_of(tenant_id, model, now)
    done = 0
    while True:
        missing = _missing(tenant_id, target)
        total = done + len(missing)
        for start in range(0, len(missing), _BATCH):
            batch = missing[start : start + _BATCH]
            _embed_chunks(target, model, batch)
            done += len(batch)
            if on_progress:
                on_progress(done, total)
        if _change_over(tenant_id, target):
            break
    calibrate(tenant_id=tenant_id, now=now)
    return True


def _set_of(tenant_id: int, model: Embedder, now: datetime) -> EmbeddingSet:
    """Return the set to fill: one that an earlier attempt or model left, or a fresh one."""
    kept = EmbeddingSet.objects.filter(
        tenant_id=tenant_id, embedder_id=model.id, dims=model.dims
    ).order_by("-pk")
    return kept.first() or EmbeddingSet.objects.create(
        tenant_id=tenant_id, embedder_id=model.id, dims=model.dims, created_at=now
    )


def _missing(tenant_id: int, target: EmbeddingSet) -> list[Any]:
    """Return the live chunks that have no vector in a set yet."""
    return list(
        Chunk.objects.for_tenant(tenant_id)
        .live()
        .exclude(embeddings__set=target)
        .order_by("pk")
        .values_list("pk", "indexed_text")
    )


def _embed_chunks(target: EmbeddingSet, model: Embedder, chunks: Sequence[Any]) -> None:
    vectors = embed_documents(model, [text for _, text in chunks], tenant_id=target.tenant_id)
    rows = (
        Embedding(
            tenant_id=target.tenant_id, set=target, chunk_id=key, dims=target.dims, vector=vector
        )
        for (key, _), vector in zip(chunks, vectors, strict=True)
    )
    # A second rebuild of the same shop makes the same vectors; whoever is first stores them.
    Embedding.objects.bulk_create(rows, ignore_conflicts=True)


def _change_over(tenant_id: int, target: EmbeddingSet) -> bool:
    """Put a complete set in force; return False when something was published meanwhile."""
    with transaction.atomic():
        index = lock_index(tenant_id)
        if _missing(tenant_id, target):
            return False
        index.active_set = target
        index.save(update_fields=["active_set"])
        advance(index)
    return True
