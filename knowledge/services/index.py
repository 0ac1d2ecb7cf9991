"""The row that publications of a shop take in turn, and what they do with it."""

from __future__ import annotations

from datetime import datetime

from django.db.models import F

from knowledge.embedding import configured_embedder, get_embedder
from knowledge.models import Article, ArticleVersion, EmbeddingSet, KnowledgeIndex
from knowledge.ports import Embedder


def embedder_in_force(tenant_id: int) -> Embedder:
    """Return the model whose vectors searches compare now; for a new shop, the configured one."""
    index = KnowledgeIndex.objects.filter(tenant_id=tenant_id).select_related("active_set").first()
    if index is None or index.active_set is None:
        return configured_embedder()
    return get_embedder(index.active_set.embedder_id)


def lock_index(tenant_id: int) -> KnowledgeIndex:
    """Return a shop's index row, locked until the transaction ends."""
    KnowledgeIndex.objects.get_or_create(tenant_id=tenant_id)
    return KnowledgeIndex.objects.select_for_update().get(tenant_id=tenant_id)


def set_in_force(
    index: KnowledgeIndex, embedder_id: str, dims: int, now: datetime
) -> EmbeddingSet | None:
    """Return the active set when it is of this model, made when there is none; else None."""
    if index.active_set is None:
        index.active_set = EmbeddingSet.objects.create(
            tenant_id=index.tenant_id, embedder_id=embedder_id, dims=dims, created_at=now
        )
        index.save(update_fields=["active_set"])
    return index.active_set if index.active_set.embedder_id == embedder_id else None


def advance(index: KnowledgeIndex) -> int:
    """Count one change of what searches see and return the new index version."""
    index.version += 1
    KnowledgeIndex.objects.filter(pk=index.pk).update(version=F("version") + 1)
    return index.version


def end_live(article: Article, at: int, actor: str, now: datetime) -> None:
    """Take an article's live version out of sight from an index version on."""
    ArticleVersion.objects.filter(article=article, live_from__isnull=False, live_until=None).update(
        live_until=at, withdrawn_by=actor, withdrawn_at=now
    )


def next_number(article: Article) -> int:
    newest = article.versions.order_by("-number").values_list("number", flat=True).first()
    return (newest or 0) + 1
