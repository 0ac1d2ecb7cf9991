"""The tokeniser of uncased BERT models, in the standard library."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from pathlib import Path

_MAX_WORD = 100  # characters; a longer run is one unknown token
_CJK = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F), (0x2B820, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip


class WordPiece:
    """Turn text into the token ids of a vocabulary file, one token a line."""

    def __init__(self, vocabulary: Path) -> None:
        lines = vocabulary.read_text(encoding="utf-8").split("\n")
        self._ids = {token: number for number, token in enumerate(lines) if token}
        self._unknown = self._ids["[UNK]"]
        self._start, self._end = self._ids["[CLS]"], self._ids["[SEP]"]

    def encode(self, text: str, *, limit: int) -> list[int]:
        """Return at most `limit` ids, the start and end marks among them."""
        ids = [self._start]
        for word in _words(text):
            ids.extend(self._pieces(word))
            if len(ids) >= limit:
                break
        return [*ids[: limit - 1], self._end]

    def _pieces(self, word: str) -> list[int]:
        """Cut a word into the longest known pieces from the left; all or nothing."""
        if len(word) > _MAX_WORD:
            return [self._unknown]
        pieces: list[int] = []
        start = 0
        while start < len(word):
            prefix = "##" if start else ""
            for end in range(len(word), start, -1):
                number = self._ids.get(prefix + word[start:end])
                if number is not None:
                    pieces.append(number)
                    start = end
                    break
            else:
                return [self._unknown]
        return pieces


def _words(text: str) -> Iterator[str]:
    """Yield lower-case words without accents; every punctuation mark is a word of its own."""
    for chunk in _clean(text).split():
        word = ""
        # Letter by letter: the model never saw the sigma that ends a Greek word.
        lower = "".join(char.lower() for char in chunk)
        for char in unicodedata.normalize("NFD", lower):
            if unicodedata.category(char) == "Mn":
                continue
            if _is_punctuation(char):
                if word:
                    yield word
                word = ""
                yield char
            else:
                word += char
        if word:
            yield word


def _clean(text: str) -> str:
    """Drop control characters, make all white space blanks, put blanks around ideographs."""
    parts: list[str] = []
    for char in text:
        if char in "\t\n\r" or unicodedata.category(char) == "Zs":
            parts.append(" ")
        elif char in "\0\ufffd" or unicodedata.category(char).startswith("C"):
            continue
        elif any(first <= ord(char) <= last for first, last in _CJK):
            parts.append(f" {char} ")
        else:
            parts.append(char)
    return "".join(parts)


def _is_punctuation(char: str) -> bool:
    code = ord(char)
    ascii_mark = 33 <= code <= 47 or 58 <= code <= 64 or 91 <= code <= 96 or 123 <= code <= 126
    return ascii_mark or unicodedata.category(char).startswith("P")
