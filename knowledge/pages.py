"""The page behind a source: the article, in the version that was read."""

from __future__ import annotations

from urllib.parse import quote, urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from dsupport.access import principal_of, shop_of
from dsupport.contract.errors import DomainError
from dsupport.lib import clock
from knowledge.errors import ArticleNotFound
from knowledge.reading import read_article

_TEMPLATE = "knowledge/article.html"


@require_safe
def article_page(request: HttpRequest, doc_id: str) -> HttpResponse:
    """Show an article (`?shop=&version=`), or say in the shop's own page that there is none."""
    try:
        tenant = shop_of(request)
    except DomainError as error:
        return render(request, _TEMPLATE, {"problem": error.message}, status=error.status)
    try:
        article = read_article(
            principal=principal_of(request, tenant),
            doc_id=doc_id,
            version=_version(request),
            now=clock.now(),
        )
    except DomainError as error:
        problem = {"shop": tenant, "problem": error.message}
        return render(request, _TEMPLATE, problem, status=error.status)
    newest = f"/help/{quote(doc_id)}?{urlencode({'shop': tenant.slug})}"
    context = {"shop": tenant, "article": article, "newest": newest}
    return render(request, _TEMPLATE, context)


def _version(request: HttpRequest) -> int | None:
    text = request.GET.get("version", "")
    if not text:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise ArticleNotFound("There is no such version of this article.")
    return int(text)
