"""Publishing: everything is computed first, then the version changes in one step."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import F, Q

from dsupport.lib.queue import enqueue
from knowledge.errors import VersionNotWaiting
from knowledge.models import Article, ArticleVersion
from knowledge.rules.articles import ArticleSource, check_article
from knowledge.rules.states import before
from knowledge.services.index import (
    advance,
    embedder_in_force,
    end_live,
    lock_index,
    next_number,
    set_in_force,
)
from knowledge.services.indexing import calibrate as measure
from knowledge.services.passages import (
    Prepared,
    hash_article,
    prepare,
    source_of,
    store_chunks,
)

MOST_ATTEMPTS = 3
_WAIT_BEFORE_SWEEP = timedelta(seconds=60)
_MOST_SWITCHES = 3  # times that the model may be switched under one publication


@dataclass(frozen=True, slots=True)
class PublishOutcome:
    """What became of an article: `created`, `updated`, `unchanged`, `queued` or `superseded`."""

    status: str
    doc_id: str
    version: int


def publish_article(
    *,
    tenant_id: int,
    article: ArticleSource,
    actor: str,
    now: datetime,
    calibrate: bool = True,
) -> PublishOutcome:
    """Publish an article, or do nothing when it already says exactly this.

    Passages and vectors are computed before the transaction; then chunks, version and index
    change together, so a search sees the old article or the new one. `calibrate=False` leaves
    measuring the cut-off to the caller, who publishes many.
    """
    check_article(article)
    if unchanged := find_unchanged(tenant_id, article):
        return PublishOutcome("unchanged", article.doc_id, unchanged.number)
    for _ in range(_MOST_SWITCHES):
        prepared = prepare(article, embedder_in_force(tenant_id), tenant_id=tenant_id)
        outcome = _publish(tenant_id, article, prepared, actor, now)
        if outcome is not None:
            if calibrate:
                measure(tenant_id=tenant_id, now=now)
            return outcome
    raise VersionNotWaiting("The embedding model keeps changing. Publish again when it is settled.")


def edit_article(
    *, tenant_id: int, article: ArticleSource, actor: str, now: datetime
) -> PublishOutcome:
    """Store a new version and let a worker publish it; the old one is searched until then."""
    check_article(article)
    if unchanged := find_unchanged(tenant_id, article):
        return PublishOutcome("unchanged", article.doc_id, unchanged.number)
    with transaction.atomic():
        lock_index(tenant_id)
        row, _ = Article.objects.get_or_create(tenant_id=tenant_id, doc_id=article.doc_id)
        version = new_version(row, article, ArticleVersion.State.QUEUED, actor, now)
        enqueue("knowledge.index_article", version_id=version.pk)
    return PublishOutcome("queued", article.doc_id, version.number)


def index_version(*, version_id: int, now: datetime) -> PublishOutcome:
    """Publish a waiting version. Doing it twice, or in two workers at once, publishes it once."""
    version = ArticleVersion.objects.select_related("article").get(pk=version_id)
    if version.state != ArticleVersion.State.QUEUED:
        return PublishOutcome(version.state, version.article.doc_id, version.number)
    article = source_of(version, version.article.doc_id)
    for _ in range(_MOST_SWITCHES):
        prepared = prepare(
            article, embedder_in_force(version.tenant_id), tenant_id=version.tenant_id
        )
        with transaction.atomic():
            index = lock_index(version.tenant_id)
            version.refresh_from_db()
            outcome = _publish_waiting(index, version, prepared, now)
        if outcome is not None:
            measure(tenant_id=version.tenant_id, now=now)
            return outcome
    raise VersionNotWaiting("The embedding model keeps changing. Publish again when it is settled.")


def note_failure(*, version_id: int, error: str, now: datetime) -> bool:
    """Count a failed attempt to index a version; return whether it is given up for now."""
    waiting = ArticleVersion.objects.filter(pk=version_id, state=ArticleVersion.State.QUEUED)
    waiting.update(attempts=F("attempts") + 1, attempted_at=now, error=error[:500])
    spent = waiting.filter(attempts__gte=MOST_ATTEMPTS)
    return bool(spent.update(state=ArticleVersion.State.FAILED))


def sweep_waiting(*, now: datetime) -> int:
    """Send again the versions that have waited for a minute; return how many."""
    late = now - _WAIT_BEFORE_SWEEP
    waiting = ArticleVersion.objects.filter(
        Q(attempted_at__lt=late) | Q(attempted_at=None, created_at__lt=late),
        state=ArticleVersion.State.QUEUED,
    )
    found = list(waiting.order_by("pk").values_list("pk", flat=True)[:100])
    ArticleVersion.objects.filter(pk__in=found).update(attempted_at=now)
    for version_id in found:
        enqueue("knowledge.index_article", version_id=version_id)
    return len(found)


def find_unchanged(tenant_id: int, article: ArticleSource) -> ArticleVersion | None:
    """Return the newest version when the article already stands like this, else None."""
    row = Article.objects.filter(tenant_id=tenant_id, doc_id=article.doc_id).first()
    if row is None or row.status != article.status:
        return None
    newest: ArticleVersion | None = row.versions.order_by("-number").first()
    if newest is None or newest.content_hash != hash_article(article):
        return None
    return None if newest.state == ArticleVersion.State.FAILED else newest


def new_version(
    row: Article, article: ArticleSource, state: str, actor: str, now: datetime, **fields: Any
) -> ArticleVersion:
    """Store the next version of an article; older ones that still wait are overtaken by it."""
    row.versions.filter(state__in=before("superseded")).update(
        state=ArticleVersion.State.SUPERSEDED
    )
    version: ArticleVersion = ArticleVersion.objects.create(
        tenant_id=row.tenant_id,
        article=row,
        number=next_number(row),
        state=state,
        title=article.title,
        body=article.body,
        topic=article.topic,
        language=article.language,
        audience=article.audience,
        effective_from=article.effective_from,
        effective_until=article.effective_until,
        sample_questions=list(article.sample_questions),
        content_hash=hash_article(article),
        created_by=actor,
        created_at=now,
        **fields,
    )
    return version


def _publish(
    tenant_id: int, article: ArticleSource, prepared: Prepared, actor: str, now: datetime
) -> PublishOutcome | None:
    """Store and publish in one transaction; return None when the model was switched meanwhile."""
    with transaction.atomic():
        index = lock_index(tenant_id)
        target = set_in_force(index, prepared.embedder_id, prepared.dims, now)
        if target is None:
            return None
        row, created = Article.objects.get_or_create(tenant_id=tenant_id, doc_id=article.doc_id)
        version = new_version(row, article, ArticleVersion.State.QUEUED, actor, now)
        store_chunks(version, prepared, target)
        _make_live(advance(index), row, version, prepared, actor, now)
    return PublishOutcome("created" if created else "updated", article.doc_id, version.number)


def _publish_waiting(
    index: Any, version: ArticleVersion, prepared: Prepared, now: datetime
) -> PublishOutcome | None:
    doc_id = version.article.doc_id
    if version.state != ArticleVersion.State.QUEUED:  # another worker was faster
        return PublishOutcome(version.state, doc_id, version.number)
    target = set_in_force(index, prepared.embedder_id, prepared.dims, now)
    if target is None:
        return None
    store_chunks(version, prepared, target)
    created = version.article.current_id is None
    _make_live(advance(index), version.article, version, prepared, version.created_by, now)
    return PublishOutcome("created" if created else "updated", doc_id, version.number)


def _make_live(
    at: int, row: Article, version: ArticleVersion, prepared: Prepared, actor: str, now: datetime
) -> None:
    """Let searches see a version from an index version on, in place of the one before."""
    end_live(row, at, actor, now)
    ArticleVersion.objects.filter(pk=version.pk, state=ArticleVersion.State.QUEUED).update(
        state=ArticleVersion.State.PUBLISHED,
        live_from=at,
        published_by=actor,
        published_at=now,
        embedder_id=prepared.embedder_id,
        passages=len(prepared.pieces),
        attempts=F("attempts") + 1,
        error="",
    )
    Article.objects.filter(pk=row.pk).update(status=Article.Status.PUBLISHED, current_id=version.pk)
