"""Taking articles out of sight, and keeping drafts."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from knowledge.errors import ArticleNotFound
from knowledge.models import Article, ArticleVersion
from knowledge.rules.articles import ArticleSource, check_article
from knowledge.services.index import advance, end_live, lock_index
from knowledge.services.publishing import PublishOutcome, find_unchanged, new_version


def archive_article(*, tenant_id: int, doc_id: str, actor: str, now: datetime) -> None:
    """Take an article out of every search at once. What was cited stays readable, marked stale."""
    with transaction.atomic():
        index = lock_index(tenant_id)
        article = Article.objects.filter(tenant_id=tenant_id, doc_id=doc_id).first()
        if article is None:
            raise ArticleNotFound(f"This shop has no article {doc_id!r}. Check its id.")
        _withdraw(article, Article.Status.ARCHIVED, advance(index), actor, now)


def store_draft(
    *, tenant_id: int, article: ArticleSource, actor: str, now: datetime
) -> PublishOutcome:
    """Keep an article that says of itself that it is a draft, or archived; nobody can search it.

    An article that was published before is withdrawn by it.
    """
    check_article(article)
    if unchanged := find_unchanged(tenant_id, article):
        return PublishOutcome("unchanged", article.doc_id, unchanged.number)
    with transaction.atomic():
        index = lock_index(tenant_id)
        row, created = Article.objects.get_or_create(tenant_id=tenant_id, doc_id=article.doc_id)
        version = new_version(row, article, ArticleVersion.State.DRAFT, actor, now)
        _withdraw(row, article.status, advance(index), actor, now)
    return PublishOutcome("created" if created else "updated", article.doc_id, version.number)


def _withdraw(article: Article, status: str, at: int, actor: str, now: datetime) -> None:
    end_live(article, at, actor, now)
    Article.objects.filter(pk=article.pk).update(status=status)
