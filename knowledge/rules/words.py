"""Words and identifiers of a text, in the form in which they are compared."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import cache, lru_cache

import snowballstemmer

# Runs of letters and digits, joined by the signs that stand inside order and part numbers.
_TOKEN = re.compile(r"[^\W_]+(?:['’][^\W_]+)*(?:[-/._#]+[^\W_]+)*")
_SPLIT = re.compile(r"[-/._#]+")
_MEASURE = re.compile(r"\d+-[a-z]{3,}")  # "30-day", "2-year": words, not codes
_DIGITS = re.compile(r"\d{3,}")
# Words before a number that say "this is a number" and nothing about which one.
_NUMBER_WORDS = frozenset(
    {"ord", "order", "orders", "no", "nr", "num", "number", "numbers", "ref", "reference"}
)
_ALGORITHMS = {
    "da": "danish", "de": "german", "en": "english", "es": "spanish", "fi": "finnish",
    "fr": "french", "it": "italian", "nl": "dutch", "no": "norwegian", "pt": "portuguese",
    "ru": "russian", "sv": "swedish",
}  # fmt: skip
_FUNCTION_WORDS = """
    a about after all also am an and any are as at be because been before being but by can
    cannot could did do does doing don else for from get got had has have having he hello her here
    hey hi him his how i if in into is it its just let like ll m may me might mine more most must my
    no nor not now of off oh ok okay on one only or our out over own please re s shall she should so
    some such t tell than thank thanks that the their them then there these they this those to too
    up us ve very want was we were what when where which while who whom why will with would yes you
    your yours
"""
_STOPWORDS = frozenset(_FUNCTION_WORDS.split())


def fold(text: str) -> str:
    """Return the text without case and compatibility forms (full-width digits, ligatures)."""
    return unicodedata.normalize("NFKC", text).casefold()


def find_stems(text: str, language: str = "en") -> list[str]:
    """Return the stems of a text's content words and its codes, each once, in order.

    A code keeps its letters and digits together (`AB/12-3` is `ab123`), with its one long run
    of digits beside it, so that `1042` meets `ORD-1042`.
    """
    groups = _groups(text, language, _forms)
    return list(dict.fromkeys(stem for group in groups for stem in group))


def find_terms(text: str, language: str = "en") -> list[tuple[str, ...]]:
    """Return what a question asks for: for each word or code, the forms that would answer it."""
    return list(dict.fromkeys(_groups(text, language, _asked_forms)))


def _groups(text: str, language: str, forms: Callable[[str], list[str]]) -> list[tuple[str, ...]]:
    groups: list[tuple[str, ...]] = []
    for token in _TOKEN.findall(fold(text)):
        if _is_code(token):
            groups.append(tuple(forms(token)))
            continue
        for part in _SPLIT.split(token):
            word = part.replace("’", "'").removesuffix("'s").replace("'", "")
            if word and word not in _STOPWORDS:
                groups.append((_stem(word, language.partition("-")[0]),))
    return groups


def find_identifiers(text: str) -> list[str]:
    """Return the normalised order, part and document numbers of a text.

    `ORD-1042`, `ORD 1042` and `ord1042` give `ord1042` and `1042`; `#1042` gives `1042`;
    `AB/12-3` and `ab12-3` give `ab123`.
    """
    found: list[str] = []
    before = ""
    for token in _TOKEN.findall(fold(text)):
        if _is_code(token) or _DIGITS.fullmatch(token):
            found += _forms(token)
            if before.isalpha() and len(before) <= 8 and token[0].isdigit():
                found.append(before + _compact(token))
        before = token
    return list(dict.fromkeys(found))


def lone_identifiers(query: str) -> list[str]:
    """Return the forms of the one number a query consists of, and nothing for any other query.

    Only a word that means "number" may be dropped: `ORD-1042` is also `1042`, but `TRK 1042`
    is a different number.
    """
    match _TOKEN.findall(fold(query)):
        case [token] if _is_code(token) or _DIGITS.fullmatch(token):
            return _asked_forms(token)
        case [*words, number] if (
            words
            and number[0].isdigit()
            and len(_compact(number)) >= 3
            and (words[-1] in _NUMBER_WORDS or (words[-1].isalpha() and len(words[-1]) <= 4))
            and all(word in _NUMBER_WORDS for word in words[:-1])
        ):
            joined = words[-1] + _compact(number)
            return [joined, _compact(number)] if words[-1] in _NUMBER_WORDS else [joined]
    return []


def is_number(query: str) -> bool:
    """Tell whether a query is one order, part or document number of three digits or more."""
    return bool(lone_identifiers(query)) and sum(char.isdigit() for char in query) >= 3


def _is_code(token: str) -> bool:
    if _MEASURE.fullmatch(token):
        return False
    compact = _compact(token)
    has_digit = any(char.isdigit() for char in compact)
    if not has_digit or len(compact) < 4:
        return False
    joined = compact != token and token.replace("'", "") != compact
    mixed = any(char.isalpha() for char in compact)
    # "1.50", "9-17" and "30.11.2026" are amounts, hours and dates; "2024-0001" is a number.
    return mixed or (joined and "." not in token and len(compact) >= 6)


def _forms(token: str) -> list[str]:
    """Return the whole code and, when it has one run of digits, that run alone.

    People say `1042` for `ORD-1042`; nobody says `1042` for `TRK-77-1042`.
    """
    compact = _compact(token)
    runs = re.findall(r"\d+", token)
    alone = [runs[0]] if len(runs) == 1 and len(runs[0]) >= 3 else []
    return list(dict.fromkeys([compact, *alone]))


def _asked_forms(token: str) -> list[str]:
    """Return the forms that answer a code someone asks for.

    Asked for `TRK-1042`, another thing's 1042 is no answer; `ORD-1042` is plainly number 1042.
    """
    prefix = token.rstrip("0123456789").rstrip("-/._#")
    return _forms(token) if prefix in _NUMBER_WORDS or not prefix else [_compact(token)]


def _compact(token: str) -> str:
    return "".join(char for char in token if char.isalnum())


@lru_cache(maxsize=20_000)
def _stem(word: str, language: str) -> str:
    stemmer = _stemmer(_ALGORITHMS.get(language, "english"))
    return str(stemmer.stemWord(word))


@cache
def _stemmer(algorithm: str) -> snowballstemmer.stemmer:
    return snowballstemmer.stemmer(algorithm)
