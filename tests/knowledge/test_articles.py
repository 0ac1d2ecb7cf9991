"""Files of articles: what is read, and what is said about a broken one."""

from __future__ import annotations

import json
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge.errors import ArticleRefused
from knowledge.rules.articles import ArticleSource, build_article, read_json_line, read_markdown

FULL = """---
id: returns
title: Returns
topic: return
language: en-GB
audience: internal
status: draft
effective_from: 2026-01-01
effective_to: "2026-12-31"
sample_questions:
- may I bring it back?
- may I bring it back?
- how long?
---

## Window

Thirty days.
"""


def test_markdown_every_field_is_read():
    assert read_markdown(FULL, doc_id="file") == ArticleSource(
        doc_id="returns",
        title="Returns",
        body="## Window\n\nThirty days.",
        topic="return",
        language="en-GB",
        audience="internal",
        status="draft",
        effective_from=date(2026, 1, 1),
        effective_until=date(2026, 12, 31),
        sample_questions=("may I bring it back?", "how long?"),
    )


def test_markdown_without_front_matter_takes_heading_and_file_name():
    article = read_markdown("\ufeff# Returns #\r\n\r\nThirty days.", doc_id="folder/returns")
    assert (article.doc_id, article.title, article.audience) == (
        "folder/returns",
        "Returns",
        "public",
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("---\ntitle: A\n", "no closing --- line"),
        ("---\ntitle: A\naudence: internal\n---\nx", "unknown field 'audence'"),
        ("---\ntitle: A\n  bad: [\n---\nx", "line 3, column"),
        ("---\n- a\n---\nx", "must hold fields"),
        ("---\ntitle: A\naudience: everyone\n---\nx", "audience must be one of public, internal"),
        ("---\ntitle: A\nstatus: live\n---\nx", "status must be one of"),
        ("---\ntitle: A\n---\n \n", "text is empty"),
        ("no title here", "title is missing"),
        ("---\ntitle: [A]\n---\nx", "title must be text, not list"),
        ("---\ntitle: A\neffective_from: soon\n---\nx", "effective_from must be a date"),
        (
            "---\ntitle: A\neffective_from: 2026-02-02\neffective_to: 2026-02-01\n---\nx",
            "effective_to is before effective_from",
        ),
        ("---\ntitle: A\nlanguage: English\n---\nx", "language must be a code"),
        ("---\ntitle: A\nsample_questions: why?\n---\nx", "must be a list of questions"),
        (
            "---\ntitle: A\nsample_questions: [1]\n---\nx",
            "sample_questions, number 1, must be text",
        ),
        ("---\ntitle: A\nid: /a\n---\nx", "must not start or end with a slash"),
        ("---\ntitle: A\n---\nx\x00y", "text contains control characters"),
        (f"---\ntitle: {'A' * 201}\n---\nx", "title is longer than 200 characters"),
        (
            "---\nx: !!python/object/apply:os.system [ls]\n---\nx",
            "could not determine a constructor",
        ),
    ],
)
def test_markdown_broken_file_is_refused_with_its_reason(text, reason):
    with pytest.raises(ArticleRefused) as caught:
        read_markdown(text, doc_id="file")
    assert reason in caught.value.message.replace("number 1 must", "number 1, must")


def test_json_line_text_or_content_is_the_body():
    for name in ("text", "content"):
        row = {"id": 7, "title": "A", name: "words", "type": "article", "url": "https://x.example"}
        article = read_json_line(json.dumps(row))
        assert (article.doc_id, article.body, article.audience) == ("7", "words", "public")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "not a JSON object"),
        ("[1]", "not a JSON object"),
        ('{"id": "a", "title": "A"}', "neither text nor content"),
        ('{"title": "A", "text": "x"}', "id is missing"),
        ('{"id": "a", "title": "A", "text": "x", "audience": "all"}', "audience must be one of"),
        ('{"id": true, "title": null, "text": "x"}', "title is missing"),
        ("[" * 100_000, "not a JSON object"),
    ],
)
def test_json_line_broken_row_is_refused_with_its_reason(line, reason):
    with pytest.raises(ArticleRefused) as caught:
        read_json_line(line)
    assert reason in caught.value.message


@pytest.mark.parametrize(
    ("title", "said", "audience"),
    [
        ("Internal: fraud checks", {}, "internal"),
        ("INTERNAL: fraud checks", {}, "internal"),
        ("Internal: a film", {"audience": "public"}, "public"),
        ("Internal mail", {}, "public"),
    ],
)
def test_article_title_that_says_internal_stays_inside(title, said, audience):
    article = build_article({"doc_id": "a", "title": title, "body": "x", **said})
    assert article.audience == audience


@settings(deadline=None)
@given(st.text(max_size=300))
def test_markdown_any_text_is_read_or_refused(text):
    try:
        article = read_markdown(f"---\n{text}\n---\nbody", doc_id="file")
    except ArticleRefused:
        return
    assert article.title
