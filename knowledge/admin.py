"""The help centre in the console: what it says, what was searched, and why that was found."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from unfold.decorators import display

from dsupport.contract.principal import Principal, Proof
from dsupport.lib.readonly_admin import ReadOnlyAdmin, pretty_json, record_link
from knowledge.models import (
    Article,
    ArticleVersion,
    Calibration,
    Chunk,
    EmbeddingAttempt,
    KnowledgeIndex,
    RetrievalTrace,
)
from knowledge.rendering import render_article
from knowledge.search import replay

_BANDS = {
    "answer": ("Answer", "success"),
    "may_help": ("May help", "warning"),
    "nothing_relevant_found": ("Nothing relevant", "danger"),
}
_AUDIENCES = {"internal": "warning", "public": "info"}
_STATES = {
    "published": "success",
    "queued": "warning",
    "failed": "danger",
    "archived": "danger",
    "draft": "info",
}


@admin.register(Article)
class ArticleAdmin(ReadOnlyAdmin):
    list_display = ("title", "doc_id", "audience", "language", "status_label", "number", "tenant")
    list_filter = ("status", "current__audience", "current__topic", "tenant")
    list_select_related = ("current", "tenant")
    search_fields = ("doc_id", "current__title", "current__body")
    ordering = ("doc_id",)
    fields = ("doc_id", "tenant", "status_label", "audience", "page", "text", "versions_table")
    readonly_fields = fields

    @admin.display(description="Title")
    def title(self, article: Article) -> str:
        newest = article.current or article.versions.order_by("-number").first()
        return newest.title if newest else article.doc_id

    @display(description="Audience", label=_AUDIENCES)
    def audience(self, article: Article) -> str:
        return article.current.audience if article.current else "–"

    @admin.display(description="Language")
    def language(self, article: Article) -> str:
        return article.current.language if article.current else "–"

    @admin.display(description="Version")
    def number(self, article: Article) -> str:
        return str(article.current.number) if article.current else "–"

    @display(description="Status", label=_STATES)
    def status_label(self, article: Article) -> str:
        return article.status

    @admin.display(description="As customers see it")
    def page(self, article: Article) -> str:
        if article.current is None or article.current.audience != "public":
            return "Not shown to customers"
        address = f"/help/{article.doc_id}?shop={article.tenant.slug}"
        return format_html(
            '<a class="text-primary-600 underline" href="{}">{}</a>', address, address
        )

    @admin.display(description="Text")
    def text(self, article: Article) -> str:
        return _prose(article.current) if article.current else "Never published"

    @admin.display(description="Versions")
    def versions_table(self, article: Article) -> str:
        rows = [
            (
                record_link("knowledge_articleversion", version.pk, str(version.number)),
                version.title,
                version.get_state_display(),
                version.published_by or version.created_by,
                _moment(version.published_at or version.created_at),
            )
            for version in article.versions.order_by("-number")
        ]
        return _table(("Version", "Title", "State", "By", "At"), rows)


@admin.register(ArticleVersion)
class ArticleVersionAdmin(ReadOnlyAdmin):
    list_display = ("title", "number", "state_label", "audience", "published_at", "tenant")
    list_filter = ("state", "audience", "tenant")
    list_select_related = ("tenant",)
    search_fields = ("title", "article__doc_id")
    ordering = ("-created_at", "-pk")
    fields = (
        "article", "number", "state_label", "title", "topic", "language", "audience",
        "effective_from", "effective_until", "text", "chunks_table", "content_hash", "embedder_id",
        "created_by", "created_at", "published_by", "published_at", "live_from", "live_until",
        "withdrawn_by", "withdrawn_at", "attempts", "error",
    )  # fmt: skip
    readonly_fields = fields

    @display(description="State", label=_STATES)
    def state_label(self, version: ArticleVersion) -> str:
        return version.state

    @admin.display(description="Text")
    def text(self, version: ArticleVersion) -> str:
        return _prose(version)

    @admin.display(description="What searches compare with")
    def chunks_table(self, version: ArticleVersion) -> str:
        chunks = Chunk.objects.for_tenant(version.tenant_id).filter(version=version)
        rows = [
            (chunk.get_kind_display(), chunk.heading, chunk.text, ", ".join(chunk.identifiers))
            for chunk in chunks.order_by("kind", "ordinal")
        ]
        return _table(("Kind", "Heading", "Text", "Numbers in it"), rows)


@admin.register(RetrievalTrace)
class RetrievalTraceAdmin(ReadOnlyAdmin):
    list_display = ("query", "band_label", "best", "cutoff_text", "principal_kind", "at", "tenant")
    list_filter = ("band", "principal_kind", "tenant")
    list_select_related = ("tenant",)
    search_fields = ("query", "run_id")
    ordering = ("-at",)
    fields = (
        "query", "band_label", "hits_table", "again", "filters_text", "principal_kind", "run_id",
        "at", "milliseconds", "index_version", "embedder_id", "tenant",
    )  # fmt: skip
    readonly_fields = fields

    def get_urls(self) -> list[URLPattern]:
        own = path(
            "<uuid:trace_id>/replay/",
            self.admin_site.admin_view(self.replay_view),
            name="knowledge_retrievaltrace_replay",
        )
        return [own, *super().get_urls()]

    def replay_view(self, request: HttpRequest, trace_id: Any) -> HttpResponse:
        """Run a search again and compare. It reads only, so a plain link may lead here."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        trace: RetrievalTrace = get_object_or_404(self.get_queryset(request), pk=trace_id)
        user_id = request.user.pk or 0
        staff = Principal(tenant_id=trace.tenant_id, proof=Proof.STAFF, staff_id=user_id)
        context = {
            **self.admin_site.each_context(request),
            "title": "The same search again",
            "trace": trace,
            "replay": replay(trace.pk, principal=staff),
        }
        return TemplateResponse(request, "knowledge/replay.html", context)

    @display(description="Result", label=dict(_BANDS.values()))
    def band_label(self, trace: RetrievalTrace) -> str:
        return _BANDS.get(trace.band, (trace.band, ""))[0]

    @admin.display(description="Best score")
    def best(self, trace: RetrievalTrace) -> str:
        return f"{trace.hits[0]['score']:.3f}" if trace.hits else "–"

    @admin.display(description="Cut-off")
    def cutoff_text(self, trace: RetrievalTrace) -> str:
        return f"{trace.cutoff:.3f} / {trace.high:.3f}"

    @admin.display(description="Candidates, best first")
    def hits_table(self, trace: RetrievalTrace) -> str:
        rows = [
            (
                f"{hit['score']:.3f}",
                f"{hit['title']} · {hit['heading']}" if hit["heading"] else hit["title"],
                f"{hit['doc_id']} v{hit['version']}",
                f"{1 - hit['distance']:.3f}",
                f"{hit['coverage']:.2f}",
                "yes" if hit["shown"] else "no",
                "yes" if hit["cited"] else "no",
            )
            for hit in trace.hits
        ]
        lines = f"Cut-off {trace.cutoff:.3f}; strong enough to answer from {trace.high:.3f}."
        heads = ("Score", "Passage", "Article", "Closeness", "Words", "Given to the asker", "Cited")
        return format_html("<p>{}</p>{}", lines, _table(heads, rows))

    @admin.display(description="Replay")
    def again(self, trace: RetrievalTrace) -> str:
        address = reverse("admin:knowledge_retrievaltrace_replay", args=[trace.pk])
        text = "Run it again on the articles as they were"
        return format_html('<a class="text-primary-600 underline" href="{}">{}</a>', address, text)

    @admin.display(description="Filters")
    def filters_text(self, trace: RetrievalTrace) -> str:
        return pretty_json(trace.filters)


@admin.register(Calibration)
class CalibrationAdmin(ReadOnlyAdmin):
    list_display = ("tenant", "floor", "high", "index_version", "embedder_id", "at")
    list_filter = ("tenant",)
    list_select_related = ("tenant",)
    ordering = ("-at", "-pk")
    fields = ("tenant", "floor", "high", "nearest", "index_version", "embedder_id", "at")
    readonly_fields = fields

    @admin.display(description="Off-topic questions that come closest")
    def nearest(self, calibration: Calibration) -> str:
        rows = [
            (f"{item['score']:.3f}", item["question"], item["doc_id"])
            for item in calibration.null_scores[:12]
        ]
        return _table(("Score", "Question", "Article"), rows)


@admin.register(KnowledgeIndex)
class KnowledgeIndexAdmin(ReadOnlyAdmin):
    list_display = ("tenant", "version", "active_set")
    list_select_related = ("tenant", "active_set")
    fields = ("tenant", "version", "active_set")
    readonly_fields = fields

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).order_by("tenant__slug")


def _prose(version: ArticleVersion) -> SafeString:
    # The HTML was cleaned by the renderer: no script, no image, no attribute but link and id.
    html = mark_safe(render_article(version.body))  # noqa: S308
    return format_html('<div class="prose max-w-3xl">{}</div>', html)


def _moment(at: Any) -> str:
    return f"{at:%-d %B %Y %H:%M} UTC" if at else "–"


def _table(heads: tuple[str, ...], rows: list[tuple[Any, ...]]) -> SafeString:
    """Return a table whose every cell is escaped."""
    head = format_html_join(
        "", '<th class="text-left p-2 align-top">{}</th>', ((h,) for h in heads)
    )
    lines = format_html_join(
        "",
        '<tr class="border-t border-base-200 dark:border-base-800">{}</tr>',
        (
            (format_html_join("", '<td class="p-2 align-top">{}</td>', ((cell,) for cell in row)),)
            for row in rows
        ),
    )
    return format_html(
        '<div class="overflow-x-auto"><table class="w-full text-sm"><thead><tr>{}</tr></thead>'
        "<tbody>{}</tbody></table></div>",
        head,
        lines,
    )


@admin.register(EmbeddingAttempt)
class EmbeddingAttemptAdmin(ReadOnlyAdmin):
    """What hosted embedders were asked, what it cost, and what failed."""

    list_display = ["at", "embedder_id", "purpose", "outcome", "texts", "tokens", "show_cost",
                    "ms", "tenant"]  # fmt: skip
    list_filter = ["tenant", "embedder_id", "purpose", "code"]
    ordering = ["-id"]
    list_select_related = ["tenant"]

    @display(description="outcome", label={"answered": "success"})
    def outcome(self, row: EmbeddingAttempt) -> str:
        return row.code or "answered"

    @display(description="cost", ordering="cost")
    def show_cost(self, row: EmbeddingAttempt) -> str:
        return f"${row.cost / 1_000_000:.4f}"
