"""Searching and reading the help centre over HTTP."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from django.http import HttpRequest
from ninja import Query, Router, Schema
from pydantic import Field

from dsupport.access import principal_of, shop_of
from dsupport.lib import clock
from knowledge.reading import ArticleView, read_article
from knowledge.search import search

router = Router(tags=["knowledge"])


class SearchIn(Schema):
    q: str = Field(min_length=1, max_length=8_000)
    k: int = Field(5, ge=1, le=20)
    language: str | None = Field(None, max_length=12)


class VersionIn(Schema):
    version: int | None = Field(None, ge=1, le=2**31 - 1)


class HitOut(Schema):
    doc_id: str
    title: str
    heading: str
    version: int
    score: float
    snippet: str


class SearchOut(Schema):
    hits: list[HitOut]
    cutoff: float
    answerable: Literal["answer", "may_help", "nothing_relevant_found"]


class ArticleOut(Schema):
    doc_id: str
    title: str
    version: int
    language: str
    html: str
    published_at: datetime
    stale: bool
    current_version: int | None


@router.get("/search", response=SearchOut, summary="Search the published articles")
def search_articles(request: HttpRequest, asked: Query[SearchIn]) -> SearchOut:
    tenant = shop_of(request)
    principal = principal_of(request, tenant)
    found = search(
        principal=principal, query=asked.q, k=asked.k, language=asked.language, now=clock.now()
    )
    return SearchOut(
        hits=[HitOut.model_validate(hit, from_attributes=True) for hit in found.hits],
        cutoff=round(found.cutoff, 4),
        answerable=found.band.value,
    )


@router.get(
    "/articles/{path:doc_id}", response=ArticleOut, summary="Read an article in a given version"
)
def get_article(request: HttpRequest, doc_id: str, asked: Query[VersionIn]) -> ArticleView:
    tenant = shop_of(request)
    principal = principal_of(request, tenant)
    return read_article(principal=principal, doc_id=doc_id, version=asked.version, now=clock.now())
