"""From an article in Markdown to passages that are embedded, searched and cited."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from markdown_it import MarkdownIt
from markdown_it.token import Token

from knowledge.rules.words import fold

SMALL_SECTION = 40  # words; below it a section joins its neighbour
LARGEST_PASSAGE = 180  # words

_SENTENCE = re.compile(r"(?<=[.!?。！？])\s+")


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of an article under one heading. `text` is plain; `anchor` is the heading's id."""

    ordinal: int
    heading: str
    anchor: str
    text: str


@dataclass(frozen=True, slots=True)
class _Section:
    heading: str
    anchor: str
    blocks: tuple[str, ...]

    @property
    def words(self) -> int:
        return sum(count_words(block) for block in self.blocks)


def markdown_parser() -> MarkdownIt:
    """Return the one reader of articles: CommonMark with tables, and HTML as plain text."""
    return MarkdownIt("commonmark", {"html": False}).enable("table")


def split_article(title: str, body: str) -> list[Passage]:
    """Split an article by its headings.

    Sections below 40 words join the next one, sections above 180 words are cut at paragraphs
    or sentences into even parts; nothing overlaps.
    """
    pieces = [
        replace(section, blocks=(part,))
        for section in _joined(_sections(title, body))
        for part in _parts(section.blocks)
    ]
    return [
        Passage(ordinal, piece.heading, piece.anchor, piece.blocks[0])
        for ordinal, piece in enumerate(pieces)
    ]


def with_context(title: str, heading: str, text: str) -> str:
    """Return a passage as it is embedded and searched: behind its title and heading."""
    lead = [part for part in (title, heading) if part]
    return "".join(f"{part.rstrip('.')}. " for part in lead) + text


def heading_anchors(tokens: Sequence[Token]) -> dict[int, str]:
    """Return the id of every top-level heading, by the index of its opening token."""
    anchors: dict[int, str] = {}
    taken: set[str] = set()
    for index, token in enumerate(tokens):
        if token.type == "heading_open" and token.level == 0:
            base = re.sub(r"[^\w]+", "-", fold(_inline_text(tokens[index + 1]))).strip("-_")
            anchor = base = base or "section"
            number = 1
            while anchor in taken:
                number += 1
                anchor = f"{base}-{number}"
            taken.add(anchor)
            anchors[index] = anchor
    return anchors


def count_words(text: str) -> int:
    """Count words; ten characters without a space count as one (scripts that write none)."""
    return max(len(text.split()), len(text) // 10)


def _sections(title: str, body: str) -> list[_Section]:
    tokens = markdown_parser().parse(body)
    anchors = heading_anchors(tokens)
    sections: list[_Section] = []
    heading = anchor = ""
    blocks: list[str] = []
    for start, block in _blocks(tokens):
        if start not in anchors:
            blocks.append(block)
            continue
        if blocks:
            sections.append(_Section(heading, anchor, tuple(blocks)))
        # A heading right above another one has no text of its own; its words go on with it.
        blocks = [heading] if heading and not blocks else []
        # A heading that repeats the title is the article's own name, not a section.
        heading = "" if fold(block) == fold(title) else block
        anchor = anchors[start]
    if blocks:
        sections.append(_Section(heading, anchor, tuple(blocks)))
    return sections


def _blocks(tokens: Sequence[Token]) -> Iterator[tuple[int, str]]:
    """Yield the top-level blocks as plain text, with the index of the token that opens each."""
    start = 0
    lines: list[str] = []
    markers: list[str] = []
    for index, token in enumerate(tokens):
        if token.level == 0 and token.nesting >= 0:
            start, lines, markers = index, [], []
        if token.type == "list_item_open":
            markers.append(f"{token.info}. " if token.info else "- ")
        elif token.type in {"fence", "code_block"}:
            lines.append(token.content.strip())
        elif token.type == "inline" and tokens[index - 1].type in {"th_open", "td_open"}:
            _add_cell(lines, _inline_text(token), first=tokens[index - 2].type == "tr_open")
        elif token.type == "inline":
            lines.append((markers.pop() if markers else "") + _inline_text(token))
        text = "\n".join(line for line in lines if line.strip())
        if token.level == 0 and token.nesting <= 0 and text:
            yield start, text


def _add_cell(lines: list[str], text: str, *, first: bool) -> None:
    """Put a table's cell on the line of its row."""
    if first:
        lines.append(text)
    else:
        lines[-1] += f" | {text}"


def _inline_text(token: Token) -> str:
    parts: list[str] = []
    for child in token.children or []:
        if child.type in {"softbreak", "hardbreak"}:
            parts.append(" ")
        elif child.type in {"text", "text_special", "code_inline", "html_inline", "image"}:
            parts.append(child.content)
    return " ".join("".join(parts).split())


def _joined(sections: Sequence[_Section]) -> list[_Section]:
    done: list[_Section] = []
    for section in sections:
        if done and done[-1].words < SMALL_SECTION and _fit(done[-1], section):
            done[-1] = _merge(done[-1], section)
        else:
            done.append(section)
    if len(done) > 1 and done[-1].words < SMALL_SECTION and _fit(done[-2], done[-1]):
        done[-2:] = [_merge(done[-2], done[-1])]
    return done


def _fit(first: _Section, second: _Section) -> bool:
    return first.words + second.words <= LARGEST_PASSAGE


def _merge(first: _Section, second: _Section) -> _Section:
    """Join two sections under the first heading; a later heading stays as a line of its text."""
    if not first.heading:
        return _Section(second.heading, second.anchor, first.blocks + second.blocks)
    named = (second.heading,) if second.heading else ()
    return _Section(first.heading, first.anchor, first.blocks + named + second.blocks)


def _parts(blocks: Sequence[str]) -> list[str]:
    """Cut blocks of text into the fewest even parts of at most 180 words."""
    total = sum(count_words(block) for block in blocks)
    if total <= LARGEST_PASSAGE:
        return ["\n".join(blocks)]
    target = -(-total // -(-total // LARGEST_PASSAGE))
    parts: list[list[str]] = [[]]
    size = 0
    for piece in (piece for block in blocks for piece in _fitting(block)):
        words = count_words(piece)
        if parts[-1] and (size + words > LARGEST_PASSAGE or size >= target):
            parts.append([])
            size = 0
        parts[-1].append(piece)
        size += words
    return ["\n".join(part) for part in parts]


def _fitting(block: str) -> list[str]:
    """Return a block whole when it fits, else its lines, sentences or runs of words."""
    if count_words(block) <= LARGEST_PASSAGE:
        return [block]
    lines = block.split("\n")
    pieces = lines if len(lines) > 1 else _SENTENCE.split(block)
    if len(pieces) > 1:
        return [part for piece in pieces for part in _fitting(piece)]
    words = block.split()
    if len(words) > 1:
        half = len(words) // 2
        return _fitting(" ".join(words[:half])) + _fitting(" ".join(words[half:]))
    half = len(block) // 2
    return _fitting(block[:half]) + _fitting(block[half:])
