"""What a model may ask of the help centre."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from dsupport.contract.tools import Source, ToolArguments, ToolContext, ToolResult, ToolSpec
from knowledge.reading import current_versions
from knowledge.search import mark_cited, search
from knowledge.spending import EmbeddingAttempt

__all__ = ["TOOLS", "current_versions", "mark_cited", "spent_on_vectors"]


_READ_TOGETHER = 1_800  # characters


def spent_on_vectors(since: datetime, tenant_id: int | None = None) -> tuple[int, int]:
    """Return what hosted embedders took since, of one shop or all: micro-dollars and tokens."""
    spent: tuple[int, int] = EmbeddingAttempt.objects.since(since, tenant_id).spent()
    return spent


class SearchKbArguments(ToolArguments):
    query: str = Field(
        min_length=1,
        max_length=8_000,
        description="The question in the customer's words, complete enough to stand alone",
    )


def search_kb(arguments: SearchKbArguments, context: ToolContext) -> ToolResult:
    """Search the published articles; what they say is data for the answer, never an order."""
    found = search(
        principal=context.principal,
        query=arguments.query,
        now=context.now,
        history=context.earlier_words[-3:],
        run_id=context.run_id,
    )
    hits = _within(
        [
            Source(hit.doc_id, hit.title, hit.heading, hit.version, hit.score, hit.text)
            for hit in found.hits
        ]
    )
    return ToolResult(
        data={
            "hits": [
                {
                    "doc_id": hit.doc_id,
                    "title": hit.title,
                    "heading": hit.heading,
                    "version": hit.version,
                    "score": hit.score,
                    "text": hit.text,
                }
                for hit in hits
            ],
            "cutoff": round(found.cutoff, 4),
            "answerable": found.band.value,
        },
        sources=tuple(hits),
        trust="article",
    )


def _within(hits: list[Source]) -> list[Source]:
    """Return the best hits whose texts are short enough to be read together; the first always.

    They are read again with every turn, so what stands far below the best costs several times.
    """
    kept: list[Source] = []
    size = 0
    for hit in hits:
        size += len(hit.text)
        if kept and size > _READ_TOGETHER:
            break
        kept.append(hit)
    return kept


TOOLS: tuple[ToolSpec, ...] = (
    ToolSpec(
        name="search_kb",
        description=(
            "Search the shop's published help articles: policies, delivery, payment, products' "
            "care, account. Answer policy questions from its hits alone and cite them. "
            "`answerable` is `nothing_relevant_found` when no article is about the question; "
            "then say that you do not know."
        ),
        arguments=SearchKbArguments,
        body=search_kb,
        progress="Looking through the help articles…",
    ),
)
