"""Opening an article in the version that was read."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date, datetime

from dsupport.contract.principal import Principal
from dsupport.models import Tenant
from knowledge.errors import ArticleNotFound
from knowledge.models import Article, ArticleVersion
from knowledge.rendering import render_article


@dataclass(frozen=True, slots=True)
class ArticleView:
    """An article as a reader sees it. `current_version` is None when it was withdrawn."""

    doc_id: str
    title: str
    version: int
    language: str
    audience: str
    html: str
    published_at: datetime
    stale: bool
    current_version: int | None


def read_article(
    *, principal: Principal, doc_id: str, version: int | None = None, now: datetime
) -> ArticleView:
    """Return an article in a version, or in the one that searches see now.

    An old version stays readable, so that a citation resolves to what was read, and is marked
    stale. It does not when the article has since become internal, or is back in draft.
    """
    day = _today(principal, now)
    versions = ArticleVersion.objects.for_principal(principal).readable()
    versions = versions.filter(article__doc_id=doc_id).select_related("article")
    current = versions.live().effective_on(day).first()
    found = current if version is None else versions.filter(number=version).first()
    if found is None or _is_closed(principal, doc_id) or _is_early(found, day):
        raise ArticleNotFound(
            "There is no such article in this help centre. Search for it instead."
        )
    return ArticleView(
        doc_id=doc_id,
        title=found.title,
        version=found.number,
        language=found.language,
        audience=found.audience,
        html=render_article(found.body),
        published_at=found.published_at,
        stale=current is None or current.pk != found.pk,
        current_version=current.number if current else None,
    )


def current_versions(
    *, principal: Principal, doc_ids: Collection[str], now: datetime
) -> dict[str, int]:
    """Return the version that searches see now of each article; a withdrawn one is missing."""
    if not doc_ids:
        return {}
    live = ArticleVersion.objects.for_principal(principal).readable().live()
    found = live.effective_on(_today(principal, now)).filter(article__doc_id__in=doc_ids)
    return dict(found.values_list("article__doc_id", "number"))


def _today(principal: Principal, now: datetime) -> date:
    """Return the day on the shop's calendar."""
    return now.astimezone(Tenant.objects.get(pk=principal.tenant_id).zone).date()


def _is_closed(principal: Principal, doc_id: str) -> bool:
    """Tell whether the article as it is now is kept from this reader."""
    return not Article.objects.for_principal(principal).filter(doc_id=doc_id).exists()


def _is_early(version: ArticleVersion, day: date) -> bool:
    first: date | None = version.effective_from
    return first is not None and first > day
