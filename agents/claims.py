"""What a text states that can be true or false: numbers, amounts, dates, spans of time.

A claim is a normalised tuple, so that `€49.90` in an answer equals `49.90 EUR` in a result.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan", "february feb", "march mar", "april apr", "may", "june jun",
            "july jul", "august aug", "september sep sept", "october oct", "november nov",
            "december dec",
        ),
        start=1,
    )
    for name in names.split()
}  # fmt: skip
_NUMBERS = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
fifteen sixteen seventeen eighteen nineteen twenty"""
_WORDS = {word: number for number, word in enumerate(_NUMBERS.split())}
_WORDS |= {"thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "ninety": 90, "hundred": 100}
_UNITS = ["minute", "hour", "day", "week", "month", "year", "percent"]

_CURRENCY = {"$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "us$": "USD"}
_CURRENCY |= {"dollar": "USD", "dollars": "USD", "euro": "EUR", "euros": "EUR", "yen": "JPY"}
_CURRENCY |= {"pound": "GBP", "pounds": "GBP"}
_CODE = r"USD|EUR|GBP|JPY|KWD|CHF|SEK|dollars?|euros?|yen|pounds?"
_NUMBER = r"\d[\d,. ]*\d|\d"
_AMOUNT = re.compile(
    rf"(?P<sign>US\$|[$€£¥])\s?(?P<a>{_NUMBER})"
    rf"|(?P<b>{_NUMBER})\s?(?P<code>[$€£¥]|(?:{_CODE})\b)",
    re.IGNORECASE,
)
_ISO = re.compile(r"\b(\d{4})-(\d{2})-(\d{2})(?!\d)")
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_DAY_MONTH = re.compile(
    rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?:\s+of)?\s+({_MONTH})\b\.?,?(?:\s+(\d{{4}}))?", re.IGNORECASE
)
_MONTH_DAY = re.compile(
    rf"\b({_MONTH})\b\.?\s+(\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s+(\d{{4}}))?", re.IGNORECASE
)
_QUANTITY = rf"\d+(?:\.\d+)?|{'|'.join(sorted(_WORDS, key=len, reverse=True))}"
_SPAN = re.compile(
    rf"\b({_QUANTITY})(?:\s*(?:-|–|to|or|and)\s*({_QUANTITY}))?[\s-]*"
    rf"(?:(?:full|more|business|working|calendar)\s+)*"
    rf"(minute|hour|day|week|month|year|percent|%)s?",
    re.IGNORECASE,
)
_IDENTIFIER = re.compile(
    r"#\s?[A-Za-z]{0,4}-?\d{2,}"  # #1042, #W2611340
    r"|\b[A-Z]{2,5}-(?:[A-Z0-9]+-)*\d{2,}\b"  # TKT-1001, INV-2026-17
    r"|\b[A-Z]{1,3}\d{5,}[A-Z0-9]*\b"  # W2611340, carrier numbers
    r"|\b[Oo][Rr][Dd][Ee][Rr][Ss]?(?: no\.?| number)? (\d{2,})\b"
    r"|(?<![\w.,-])\d{4,}(?!\w)",  # what is no amount, date or span, and so long, names something
)


@dataclass(frozen=True, slots=True, order=True)
class Claim:
    """One checkable statement. `kind` is amount, date, span or identifier."""

    kind: str
    value: str
    said: str = ""

    @property
    def key(self) -> tuple[str, str]:
        return (self.kind, self.value)


def find_claims(text: str) -> list[Claim]:
    """Return the claims of a text, each as it was said."""
    claims = [*_amounts(text), *_dates(text), *_spans(text)]
    rest = text
    for other in (_ISO, _DAY_MONTH, _MONTH_DAY, _AMOUNT, _SPAN):
        rest = other.sub(" ", rest)
    claims += [
        Claim("identifier", fold_identifier(match[1] or match[0]), match[0])
        for match in _IDENTIFIER.finditer(rest)
    ]
    return claims


def fold_identifier(text: str) -> str:
    """Return an order, ticket or tracking number without case, spaces and punctuation."""
    return re.sub(r"[^0-9a-z]", "", text.casefold())


class Facts:
    """The claims and the identifiers that a set of texts and results supports."""

    def __init__(self) -> None:
        self._claims: set[tuple[str, str]] = set()
        self._tokens: set[str] = set()

    @classmethod
    def union(cls, parts: Iterable[Facts]) -> Facts:
        """Return what any of the parts supports."""
        whole = cls()
        for part in parts:
            whole._claims |= part._claims
            whole._tokens |= part._tokens
        return whole

    def add_text(self, text: str) -> None:
        """Support everything that this text states."""
        for claim in find_claims(text):
            self._claims.add(claim.key)
            if claim.kind == "date":
                self._claims.add(("date", claim.value[-5:]))  # the day without its year
        for token in re.findall(r"[\w#-]+", text):
            self._tokens.add(fold_identifier(token))

    def add_data(self, data: Any, name: str = "") -> None:
        """Support every text and number inside a JSON-shaped value.

        A number under a key such as `days_late` supports a span of that unit.
        """
        if isinstance(data, Mapping):
            for key, value in data.items():
                self.add_data(value, str(key))
        elif isinstance(data, list | tuple):
            for value in data:
                self.add_data(value, name)
        elif isinstance(data, bool) or data is None:
            return
        elif isinstance(data, int | float | Decimal):
            self._add_number(data, name)
        else:
            self.add_text(str(data))

    def supports(self, claim: Claim) -> bool:
        """Tell whether these facts contain what the claim states."""
        if claim.kind == "identifier":
            return claim.value in self._tokens or claim.key in self._claims
        return claim.key in self._claims

    def _add_number(self, number: int | float | Decimal, name: str) -> None:
        self._tokens.add(fold_identifier(str(number)))
        for unit in _UNITS:
            if unit in name.casefold():
                self._claims.add(("span", f"{_plain(Decimal(str(abs(number))))} {unit}"))


def collect_facts(texts: Iterable[str], data: Iterable[Any] = ()) -> Facts:
    """Return the facts that some texts and JSON-shaped values support."""
    facts = Facts()
    for text in texts:
        facts.add_text(text)
    for value in data:
        facts.add_data(value)
    return facts


def _amounts(text: str) -> list[Claim]:
    claims = []
    for match in _AMOUNT.finditer(text):
        raw = match["a"] or match["b"]
        sign = (match["sign"] or match["code"]).casefold()
        currency = _CURRENCY.get(sign, sign.upper())
        value = parse_number(raw)
        if value is not None:
            claims.append(Claim("amount", f"{_plain(value)} {currency}", match.group().strip()))
    return claims


def parse_number(raw: str) -> Decimal | None:
    """Read a number in the English or the continental way of writing; None when it is neither.

    The last separator followed by one or two digits (or any number of digits other than three)
    is the decimal mark; all others group thousands.
    """
    text = raw.replace(" ", "").rstrip(".,")
    mark = max(text.rfind("."), text.rfind(","))
    if mark >= 0:
        tail = text[mark + 1 :]
        single = text.count(text[mark]) == 1
        if len(tail) != 3 or (single and text[0] == "0"):
            text = re.sub(r"[.,]", "", text[:mark]) + "." + tail
        else:
            text = re.sub(r"[.,]", "", text)
    try:
        return Decimal(text)
    except InvalidOperation:
        return None


def _plain(value: Decimal) -> str:
    return format(value.normalize(), "f")


def _dates(text: str) -> list[Claim]:
    claims = [
        Claim("date", f"{m[1]}-{m[2]}-{m[3]}", m.group())
        for m in _ISO.finditer(text)
        if 1 <= int(m[2]) <= 12
    ]
    claims += [
        _date(m[3], _MONTHS[m[2].casefold()], m[1], m.group()) for m in _DAY_MONTH.finditer(text)
    ]
    claims += [
        _date(m[3], _MONTHS[m[1].casefold()], m[2], m.group()) for m in _MONTH_DAY.finditer(text)
    ]
    return claims


def _date(year: str | None, month: int, day: str, said: str) -> Claim:
    short = f"{month:02d}-{int(day):02d}"
    return Claim("date", f"{year}-{short}" if year else short, said.strip())


def _spans(text: str) -> list[Claim]:
    claims = []
    for match in _SPAN.finditer(text):
        unit = match[3].casefold().replace("%", "percent")
        for quantity in (match[1], match[2]):
            if quantity:
                number = _WORDS.get(quantity.casefold(), quantity)
                value = _plain(Decimal(str(number)))
                claims.append(Claim("span", f"{value} {unit}", match.group()))
    return claims
