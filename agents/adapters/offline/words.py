"""Small helpers about words: what a text is about, its sentences, dates and counts as read."""

from __future__ import annotations

import re
from datetime import date
from functools import lru_cache
from threading import Lock
from typing import Any

import snowballstemmer

_STEMMER = snowballstemmer.stemmer("english")
_stemmer_lock = Lock()  # it keeps the word it works on in itself, and runs come in threads
_WORD = re.compile(r"[^\W\d_]{2,}|\d+")
_SENTENCE = re.compile(r"(?<=[.!?…])[\"”)]?\s+(?=[\"“(]?[A-Z0-9“])|\n+")


def word_set(words: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(words.split())


_STOP = word_set(
    "a about after again all also am an and any anything are as at be been before but by can "
    "cannot could did do does doing done for from get give go got had has have he hello help her "
    "hey hi him his how i if in into is it its just like ll me more my need no not now of off on "
    "one only or other our out over please she should so some something still tell than thank "
    "thanks that the their them then there these they thing this those to too up us ve want was "
    "we were what when where which while who why will with would you your don doesn isn didn "
    "order orders"
)
_MARKUP = (
    (re.compile(r"!\[[^\]]*\]\([^)]*\)"), ""),
    (re.compile(r"\[([^\]]+)\]\([^)]*\)"), r"\1"),
    (re.compile(r"(\*\*|__|`)"), ""),
    (re.compile(r"(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w)"), ""),
    (re.compile(r"^\s{0,3}#{1,6}\s+", re.MULTILINE), ""),
    (re.compile(r"^\s*[-*+]\s+", re.MULTILINE), "- "),
)


@lru_cache(maxsize=4096)
def stem(word: str) -> str:
    with _stemmer_lock:
        return str(_STEMMER.stemWord(word))


def content_stems(text: str) -> frozenset[str]:
    """Return the stems of the words that carry the meaning of a text."""
    found = (word for word in _WORD.findall(text.casefold()) if word not in _STOP)
    return frozenset(stem(word) for word in found)


def plain(text: str) -> str:
    """Return Markdown as plain words."""
    for pattern, replacement in _MARKUP:
        text = pattern.sub(replacement, text)
    return text.strip()


def sentences(text: str) -> list[str]:
    """Return the sentences of a plain text."""
    return [part.strip() for part in _SENTENCE.split(text) if part and part.strip()]


def units(text: str) -> list[str]:
    """Return the quotable pieces of a passage: sentences, items of lists, rows of tables.

    Headings that stand within a passage are dropped. A row says what its columns mean.
    """
    pieces: list[str] = []
    header: list[str] = []
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        cells = [cell.strip() for cell in line.split(" | ")]
        if len(cells) > 1:
            if header:
                pieces.append(_row(header, cells))
            header = header or cells
            continue
        header = []
        if line.startswith("- "):
            pieces.append(line)
        elif not (following and _is_heading(line)):
            pieces += sentences(line)
    return pieces


def _is_heading(line: str) -> bool:
    return line[-1] not in ".!?:;…”)" and len(line.split()) <= 9


def _row(header: list[str], cells: list[str]) -> str:
    named = [f"{name} {cell}" for name, cell in zip(header[1:], cells[1:], strict=False)]
    return f"- {cells[0]}: {', '.join(named)}"


def join_units(pieces: list[str]) -> str:
    """Return pieces as running text; items of lists keep lines of their own."""
    text = ""
    for piece in pieces:
        after_item = text.rpartition("\n")[2].startswith("- ")
        text += ("\n" if piece.startswith("- ") or after_item else " ") + piece
    return text.strip()


def count_words(text: str) -> int:
    return len(text.split())


def say_day(value: Any) -> str:
    """Return an ISO day as people read it, such as 20 November 2026; empty for anything else."""
    try:
        day = date.fromisoformat(str(value))
    except ValueError:
        return ""
    return f"{day.day} {day:%B} {day.year}"


def say_days(number: int) -> str:
    return f"{number} day" if number == 1 else f"{number} days"


def join_and(parts: list[str]) -> str:
    """Return "a, b and c"."""
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def clip(text: str, limit: int) -> str:
    """Return at most `limit` characters, cut at a word."""
    if len(text) <= limit:
        return text
    return f"{text[: limit - 1].rsplit(' ', 1)[0]}…"
