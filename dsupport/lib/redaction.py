"""Masking of personal data in what is logged, stored for diagnosis or shown.

Order, ticket, product and tracking numbers are facts of the case and survive.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import Any

_EMAIL = re.compile(r"[A-Za-z0-9._%+'-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+")
_CARD = re.compile(r"(?<![\w+-])(?:\d[ -]?){12,18}\d(?![\w-])")
_IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?\b")
# A phone number starts with + or a bracketed or zero-led area code and has separators, so that
# plain runs of digits (order, tracking and invoice numbers) are left alone.
_PHONE = re.compile(
    r"(?<![\w#-])(?:\+\d{1,3}[ .-]?)?(?:\(\d{1,4}\)|\d{2,4})(?:[ .-]\d{2,4}){2,4}(?![\w-])"
)
_PHONE_PLUS = re.compile(r"(?<![\w#])\+\d{8,14}(?!\w)")


def luhn_valid(digits: str) -> bool:
    """Tell whether the digits pass the Luhn check of ISO/IEC 7812-1, annex B."""
    total = 0
    for index, char in enumerate(reversed(digits)):
        value = int(char)
        if index % 2:
            value = value * 2 - 9 if value > 4 else value * 2
        total += value
    return total % 10 == 0


def iban_valid(text: str) -> bool:
    """Tell whether the text passes the ISO 13616 check (mod 97)."""
    compact = text.replace(" ", "")
    if not 15 <= len(compact) <= 34:
        return False
    moved = compact[4:] + compact[:4]
    return int("".join(str(int(char, 36)) for char in moved)) % 97 == 1


def find_personal_data(text: str) -> list[tuple[str, str]]:
    """Return `(kind, text)` for every e-mail, card number, IBAN and phone number in a text."""
    found: list[tuple[str, str]] = []

    def note(kind: str, value: str) -> str:
        found.append((kind, value))
        return f"[{kind}]"

    replace_personal_data(text, note)
    return found


def mask(text: str, *, keep: Collection[str] = ()) -> str:
    """Return the text with personal data replaced by its kind in brackets.

    `keep` holds values (compared without case and spaces) that may stay, such as the asker's
    own address.
    """
    kept = {_fold(value) for value in keep}
    return replace_personal_data(
        text, lambda kind, value: value if _fold(value) in kept else f"[{kind}]"
    )


def mask_data(value: Any, *, keep: Collection[str] = ()) -> Any:
    """Mask every text inside a JSON-shaped value."""
    if isinstance(value, str):
        return mask(value, keep=keep)
    if isinstance(value, Mapping):
        return {key: mask_data(item, keep=keep) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [mask_data(item, keep=keep) for item in value]
    return value


def mask_event(_logger: Any, _method: str, event: dict[str, Any]) -> dict[str, Any]:
    """Mask a structlog event in place of writing it raw."""
    return {
        key: mask_data(value) if isinstance(value, str | Mapping | list | tuple) else value
        for key, value in event.items()
    }


def _fold(value: str) -> str:
    return re.sub(r"[\s().-]", "", value).casefold()


def replace_personal_data(text: str, swap: Callable[[str, str], str]) -> str:
    """Return the text with `swap(kind, value)` in place of each e-mail, IBAN, phone and card."""
    text = _EMAIL.sub(lambda match: swap("email", match.group()), text)
    text = _IBAN.sub(
        lambda m: swap("iban", m.group()) if iban_valid(m.group()) else m.group(), text
    )
    text = _PHONE_PLUS.sub(lambda match: swap("phone", match.group()), text)
    text = _CARD.sub(lambda m: _card(m.group(), swap), text)
    return _PHONE.sub(lambda match: _phone(match.group(), swap), text)


def _card(text: str, swap: Callable[[str, str], str]) -> str:
    digits = re.sub(r"\D", "", text)
    return swap("card", text) if luhn_valid(digits) and len(set(digits)) > 1 else text


def _phone(text: str, swap: Callable[[str, str], str]) -> str:
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}.*|\d{1,2}[.-]\d{1,2}[.-]\d{2,4}.*", text):
        return text  # a date
    digits = re.sub(r"\D", "", text)
    return swap("phone", text) if 8 <= len(digits) <= 15 else text
