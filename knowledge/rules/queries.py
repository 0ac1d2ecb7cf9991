"""What is asked, before it is searched for."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from knowledge.errors import EmptyQuery
from knowledge.rules.words import find_terms, fold

QUERY_LIMIT = 1_000  # characters; the model reads about as many
_HEAD = 300
_CONTROL = re.compile(r"[\x00-\x1f\x7f\u2028\u2029]+")
_LEADS = ("and ", "but ", "or ", "so ", "then ", "also ", "what about", "how about", "what if")
_POINTERS = frozenset(
    {"it", "its", "that", "this", "these", "those", "they", "them", "one", "ones", "same"}
)
_BARE_QUESTIONS = frozenset(
    {"how", "when", "where", "why", "which", "who", "what", "long", "much", "many", "often", "soon"}
)
_LONGEST_FOLLOW_UP = 9  # words


def clean_query(query: str) -> str:
    """Return a question in one line of at most 1,000 characters; refuse an empty one.

    Of a longer text its beginning (what it is about) and its end (what is asked) remain.
    """
    text = unicodedata.normalize("NFC", query.encode("utf-8", "ignore").decode())
    text = " ".join(_CONTROL.sub(" ", text).split())
    if not text:
        raise EmptyQuery("The question is empty. Say in a few words what you want to know.")
    if len(text) <= QUERY_LIMIT:
        return text
    return f"{text[:_HEAD]} … {text[-(QUERY_LIMIT - _HEAD - 3) :]}"


def needs_history(query: str) -> bool:
    """Tell whether a question is only understood with what was said before.

    "and for jeans?", "how long does it take?" and "why?" are; "pizza?" is short, but complete.
    """
    words = re.findall(r"[^\W_]+", fold(query))
    if not words or len(words) > _LONGEST_FOLLOW_UP:
        return False
    if f"{' '.join(words)} ".startswith(_LEADS) or not _POINTERS.isdisjoint(words):
        return True
    return words[0] in _BARE_QUESTIONS and not _own_terms(query)


def with_history(query: str, history: Sequence[str]) -> str:
    """Return a follow-up behind the last thing the customer said that can stand alone."""
    earlier = [turn for turn in history if turn.strip() and turn.strip() != query.strip()]
    standing = [turn for turn in earlier if find_terms(turn) and not needs_history(turn)]
    chosen = (standing or earlier)[-1:]
    return clean_query(" ".join([*chosen, query]))


def _own_terms(query: str) -> list[tuple[str, ...]]:
    return [term for term in find_terms(query) if _BARE_QUESTIONS.isdisjoint(term)]
