"""What a message names: orders, tickets, e-mail addresses, amounts and days. Pure.

An entity is a hint and never an authority: what a customer may see is decided by scoped queries.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

from agents.understanding.dates import DayRange, find_days

MASKED_ORDER = "order 12345"
MASKED_EMAIL = "my email"

_EMAIL = re.compile(r"[\w.%+'-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+")
_TICKET = re.compile(
    r"\b(?:TKT|TICKET)-\d+\b|\bticket\s+(?:no\.?\s*|number\s*|#)?\d+\b", re.IGNORECASE
)
_OTHER_REF = re.compile(
    r"\b(?:INV|RMA|TRK|REF|HL)-[A-Z0-9-]*\d\b|\b1Z[0-9A-Z]{10,}\b", re.IGNORECASE
)
_TRACKING = re.compile(r"\b[A-Z]{2,3}\d{8,}[A-Z]{0,2}\b|\bKS(?:-\d{4}){3}\b")
_NOUN = r"orders?|purchases?|bestellung|commande|pedido|ordine|encomenda"
_REF = r"#?\s?(?:[A-Za-z]{1,4}-?)?\d{1,18}"
_LINK = r"\s*(?:no\.?|nr\.?|num(?:ber)?\.?|id|ref(?:erence)?|is|was|:|#)"
# "order 1042", "order no. 7", "orders 1042, 1043 and 1044"
_AFTER_NOUN = re.compile(
    rf"\b(?:{_NOUN})\b(?P<link>(?:{_LINK})*)\s*(?P<refs>{_REF}(?:\s*(?:,|and|&|or)\s*{_REF})*)(?!\w|\.\d)",
    re.IGNORECASE,
)
_MARKED = re.compile(
    r"(?<!\w)#\s?(?:[A-Za-z]{1,4}-?)?\d{2,18}\b|\bORD(?:ER)?[-_]\d+\b", re.IGNORECASE
)
_LETTERED = re.compile(r"\b[A-Z]\d{5,12}\b")
_ONE_REF = re.compile(_REF)
_NUMBER = r"\d+(?:[.,  ]\d{3})*(?:[.,]\d{1,2})?"
_SIGNS = {"$": "USD", "us$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY"}
_NAMES = {"usd": "USD", "dollar": "USD", "dollars": "USD", "bucks": "USD", "eur": "EUR"}
_NAMES |= {"euro": "EUR", "euros": "EUR", "gbp": "GBP", "pound": "GBP", "pounds": "GBP"}
_NAMES |= {"quid": "GBP", "jpy": "JPY", "yen": "JPY"}
_AMOUNT = re.compile(
    rf"(?P<sign>US\$|[$€£¥])\s?(?P<a>{_NUMBER})"
    rf"|(?<![\w.,])(?P<b>{_NUMBER})\s?(?P<name>[$€£¥]|(?:{'|'.join(_NAMES)})\b)",
    re.IGNORECASE,
)
_BARE = re.compile(r"(?<![\w.,#:/@-])\d{3,15}(?![\w@/:]|[.,]\d|-\w|\s?%)")
_UNIT_AFTER = re.compile(
    r"\s?(?:days?|weeks?|months?|years?|hours?|minutes?|cm|mm|m|kg|g|inch(?:es)?|litres?|liters?|l|ml"
    r"|watts?|w|pieces?|items?|pcs|times|points|people|percent|degrees|st|nd|rd|th)\b",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?:19|20)\d\d")


@dataclass(frozen=True, slots=True)
class Amount:
    """A sum of money as written, with its value in major units as plain digits."""

    text: str
    value: str
    currency: str


@dataclass(frozen=True, slots=True)
class Entities:
    """What one text names, each kind in the order of the text.

    `orders` are marked as such; `numbers` are bare runs of digits, which are order numbers only
    when a scoped look-up finds them.
    """

    orders: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    tickets: tuple[str, ...] = ()
    emails: tuple[str, ...] = ()
    amounts: tuple[Amount, ...] = ()
    days: tuple[DayRange, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not (
            self.orders or self.numbers or self.tickets or self.emails or self.amounts or self.days
        )


class _Page:
    """A text in which what was recognised is blanked, so that nothing is read twice."""

    def __init__(self, text: str) -> None:
        self.text = text

    def take(self, pattern: re.Pattern[str]) -> list[re.Match[str]]:
        found = list(pattern.finditer(self.text))
        for match in found:
            self.blank(match.start(), match.end())
        return found

    def blank(self, start: int, end: int) -> None:
        self.text = self.text[:start] + "\x00" * (end - start) + self.text[end:]


def find_entities(text: str, *, today: date) -> Entities:
    """Return what a text names; relative days count from `today`."""
    page = _Page(text)
    emails = [match.group().strip(".'") for match in page.take(_EMAIL)]
    tickets = [match.group() for match in page.take(_TICKET)]
    page.take(_OTHER_REF)
    amounts = [_read_amount(match) for match in page.take(_AMOUNT)]
    days: list[DayRange] = []
    for day, start, end in find_days(page.text, today):
        days.append(day)
        page.blank(start, end)
    orders = _find_orders(page)
    page.take(_TRACKING)
    return Entities(
        orders=_unique(orders),
        numbers=_unique(_find_numbers(page)),
        tickets=_unique([_tidy_ticket(ticket) for ticket in tickets]),
        emails=_unique(emails),
        amounts=tuple(amounts),
        days=tuple(days),
    )


def mask(text: str) -> str:
    """Return the text with order numbers and e-mail addresses put as fixed words.

    What a message means does not hang on which order it names, so a model that reads meaning
    sees the same words for every number.
    """
    text = _EMAIL.sub(MASKED_EMAIL, text)
    text = _AFTER_NOUN.sub(_mask_after_noun, text)
    text = _MARKED.sub(MASKED_ORDER, text)
    return _LETTERED.sub(MASKED_ORDER, text)


def same_order(left: str, right: str) -> bool:
    """Tell whether two spellings name one order: case, `#` and an `ORD-` in front do not count."""
    return fold_order(left) == fold_order(right)


def fold_order(number: str) -> str:
    """Return an order number without what people add or leave out."""
    bare = re.sub(r"[^0-9a-z]", "", number.casefold())
    return re.sub(r"^(?:order|ord|no|nr)(?=\d)", "", bare)


def _mask_after_noun(match: re.Match[str]) -> str:
    return MASKED_ORDER if _accepted(match) else match.group()


def _accepted(match: re.Match[str]) -> list[str]:
    """Return the numbers of a match like "order 1042"; short ones need "no." or "#" in front."""
    marked = bool(match["link"].strip())
    refs = [ref.strip() for ref in _ONE_REF.findall(match["refs"])]
    return [
        ref for ref in refs if marked or ref.startswith("#") or sum(c.isdigit() for c in ref) >= 3
    ]


def _find_orders(page: _Page) -> list[str]:
    found: list[tuple[int, str]] = []
    for match in list(_AFTER_NOUN.finditer(page.text)):
        refs = _accepted(match)
        if refs and not _UNIT_AFTER.match(page.text, match.end()):
            found += [(match.start(), _tidy(ref)) for ref in refs]
            page.blank(match.start(), match.end())
    for pattern in (_MARKED, _LETTERED):
        found += [(match.start(), _tidy(match.group())) for match in page.take(pattern)]
    return [ref for _, ref in sorted(found, key=lambda item: item[0])]


def _find_numbers(page: _Page) -> list[str]:
    return [
        match.group()
        for match in _BARE.finditer(page.text)
        if not _UNIT_AFTER.match(page.text, match.end()) and not _YEAR.fullmatch(match.group())
    ]


def _tidy(ref: str) -> str:
    """Return a reference without spaces and without a `#` before plain digits, in upper case."""
    bare = re.sub(r"\s", "", ref).upper()
    return bare.lstrip("#") if bare.lstrip("#").isdigit() else bare


def _tidy_ticket(ticket: str) -> str:
    digits = "".join(c for c in ticket if c.isdigit())
    return f"TKT-{digits}"


def _read_amount(match: re.Match[str]) -> Amount:
    raw = match["a"] or match["b"]
    sign = (match["sign"] or match["name"]).lower()
    return Amount(match.group().strip(), _plain_number(raw), _SIGNS.get(sign) or _NAMES[sign])


def _plain_number(raw: str) -> str:
    """Return digits with a decimal point: the last mark before one or two digits is decimal."""
    whole, cents = raw, ""
    tail = re.search(r"[.,](\d{1,2})$", raw)
    if tail:
        whole, cents = raw[: tail.start()], tail[1]
    digits = re.sub(r"\D", "", whole)
    return f"{digits}.{cents}" if cents else digits


def _unique(values: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))
