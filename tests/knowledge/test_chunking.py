"""Articles are cut by heading into passages that lose nothing and stay small."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge.rules.chunking import (
    LARGEST_PASSAGE,
    SMALL_SECTION,
    count_words,
    split_article,
    with_context,
)


def words(count: int, word: str = "word") -> str:
    return " ".join([word] * count)


def shape(body: str, title: str = "Title") -> list[tuple[str, str, int]]:
    return [
        (passage.heading, passage.anchor, count_words(passage.text))
        for passage in split_article(title, body)
    ]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (words(50), [("", "", 50)]),
        (f"## A\n\n{words(60)}\n\n## B\n\n{words(70)}", [("A", "a", 60), ("B", "b", 70)]),
        # Below 40 words a section joins the next one, whose heading stays as a line.
        (f"## A\n\n{words(10)}\n\n## B\n\n{words(70)}", [("A", "a", 81)]),
        # The introduction takes the heading it joins.
        (f"{words(10)}\n\n## B\n\n{words(70)}", [("B", "b", 80)]),
        # The last small section joins the one before.
        (f"## A\n\n{words(60)}\n\n## B\n\n{words(5)}", [("A", "a", 66)]),
        # Not when the two would be too large together.
        (f"## A\n\n{words(10)}\n\n## B\n\n{words(175)}", [("A", "a", 10), ("B", "b", 175)]),
        # A heading that repeats the title is no section of its own.
        (f"# Title\n\n{words(50)}", [("", "title", 50)]),
        # A heading right above another one leaves its words.
        (f"## A\n\n### B\n\n{words(50)}", [("B", "b", 51)]),
        # Equal headings get different anchors.
        (f"## A\n\n{words(50)}\n\n## A\n\n{words(50)}", [("A", "a", 50), ("A", "a-2", 50)]),
        # A hash inside a code block is no heading.
        (f"```\n# not one\n{words(50)}\n```", [("", "", 53)]),
    ],
)
def test_split_sections_follow_headings(body, expected):
    assert shape(body) == expected


def test_split_long_section_gives_even_parts():
    body = "## A\n\n" + "\n\n".join(words(60) for _ in range(5))
    assert [count for _, _, count in shape(body)] == [180, 120]
    assert {heading for heading, _, _ in shape(body)} == {"A"}


def test_split_long_paragraph_is_cut_at_sentences():
    sentence = words(29) + " end."
    parts = split_article("T", " ".join([sentence] * 10))
    assert all(part.text.endswith("end.") for part in parts)
    assert sum(count_words(part.text) for part in parts) == 300


def test_split_text_without_blanks_is_cut_all_the_same():
    parts = split_article("T", "返" * 5_000)
    assert all(count_words(part.text) <= LARGEST_PASSAGE for part in parts)
    assert "".join(part.text.replace("\n", "") for part in parts) == "返" * 5_000


def test_split_markup_becomes_plain_text():
    body = (
        "Read [our rules](https://example.com/x) **now**, press `Save`.\n\n"
        "- first\n- second\n  1. inner\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n<b>raw</b>"
    )
    assert split_article("T", body)[0].text.split("\n") == [
        "Read our rules now, press Save.",
        "- first",
        "- second",
        "1. inner",
        "a | b",
        "1 | 2",
        "<b>raw</b>",
    ]


def test_split_nothing_to_read_gives_no_passage():
    assert split_article("T", "---\n\n***") == []


@pytest.mark.parametrize(
    ("title", "heading", "expected"),
    [
        ("Returns", "Window", "Returns. Window. text"),
        ("Returns.", "", "Returns. text"),
        ("Why?", "How", "Why?. How. text"),
    ],
)
def test_context_stands_before_the_text(title, heading, expected):
    assert with_context(title, heading, "text") == expected


_blocks = st.lists(
    st.tuples(st.sampled_from(["", "# ", "## ", "### ", "- "]), st.integers(1, 260)),
    min_size=1,
    max_size=12,
)


@settings(deadline=None)
@given(_blocks)
def test_split_any_article_keeps_every_word_in_small_passages(blocks):
    body = "\n\n".join(
        mark + " ".join(f"w{number}x{n}" for n in range(min(count, 6) if "#" in mark else count))
        for number, (mark, count) in enumerate(blocks)
    )
    passages = split_article("Some title", body)
    assert [passage.ordinal for passage in passages] == list(range(len(passages)))
    assert all(count_words(passage.text) <= LARGEST_PASSAGE + 12 for passage in passages)
    kept = " ".join(f"{passage.heading} {passage.text}" for passage in passages).split()
    written = {word for word in body.split() if word.startswith("w")}
    last_is_heading = "#" in blocks[-1][0]
    if not last_is_heading:
        assert written <= set(kept)
    lonely = [p for p in passages if count_words(p.text) < SMALL_SECTION]
    # A small passage stands alone only where joining it would make too large a one.
    assert len(lonely) <= len(passages) // 2 + 1
