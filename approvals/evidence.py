"""Values made fit to be frozen: JSON-shaped, storable and bounded."""

from __future__ import annotations

import dataclasses
import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

from approvals.errors import InvalidArguments
from dsupport.lib.canonical import canonical_json
from dsupport.lib.redaction import mask_data

MAX_EVIDENCE_BYTES = 256_000
_MAX_DEPTH = 20
_CUT = "… [cut]"
# A NUL cannot be stored as text, and half a surrogate pair cannot be encoded.
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def freeze(value: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the canonical text of a value and the plain JSON that text stands for.

    Reading the JSON back and writing it again gives the same text; what could not do that
    (dates, sets, decimals) is refused, so a stored value can be hashed again later.
    """
    text = canonical_json(value)
    data: dict[str, Any] = json.loads(text)
    canonical_json(data)
    return text, data


def check_storable(value: Any) -> None:
    """Refuse a value that holds text which no table can keep."""
    for text in _texts(value):
        if _UNSTORABLE.search(text):
            raise InvalidArguments("The text holds characters that cannot be kept. Leave them out.")


def plain(value: Any, *, longest: int = 8_000, most: int = 200) -> Any:
    """Return a JSON-shaped copy, bounded in every direction; what had to be cut says so.

    A fraction becomes text, because two of them can print alike and canonical JSON refuses them.
    """
    return _Shaper(longest, most, MAX_EVIDENCE_BYTES).shape(value, _MAX_DEPTH)


def freeze_evidence(evidence: Mapping[str, Any]) -> dict[str, Any]:
    """Return evidence that can be stored and hashed."""
    data: dict[str, Any] = plain(evidence)
    return data


def masked(value: Any) -> Any:
    """Return a short copy without personal data, fit for an entry that is never deleted."""
    return mask_data(plain(value, longest=500, most=20))


def clean(text: str, longest: int) -> str:
    """Return a text that a table can keep, cut where it gets too long."""
    text = unicodedata.normalize("NFC", _UNSTORABLE.sub("\ufffd", text))
    return text if len(text) <= longest else text[: longest - len(_CUT)] + _CUT


class _Shaper:
    """Copies a value into plain JSON until a budget of bytes is spent."""

    def __init__(self, longest: int, most: int, budget: int) -> None:
        self._longest, self._most, self._left = longest, most, budget

    def shape(self, value: Any, depth: int) -> Any:
        if value is None or isinstance(value, bool | int):
            return self._spend(value, 8 if value is None else len(str(value)) + 4)
        if isinstance(value, float):
            return self.shape(f"{value:.6g}", depth)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            value = dataclasses.asdict(value)
        is_list = isinstance(value, list | tuple | set | frozenset)
        if is_list or isinstance(value, Mapping):
            if not depth or self._left <= 0:
                return _CUT
            self._left -= 4
            return self._list(list(value), depth) if is_list else self._mapping(value, depth)
        return self._text(str(value), self._longest)

    def _list(self, value: list[Any], depth: int) -> list[Any]:
        items: list[Any] = []
        for item in value[: self._most]:
            if self._left <= 0:
                break
            items.append(self.shape(item, depth - 1))
        return items if len(items) == len(value) else [*items, _CUT]

    def _mapping(self, value: Mapping[Any, Any], depth: int) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key, item in list(value.items())[: self._most]:
            if self._left <= 0:
                break
            # A leading $ marks tagged values in canonical JSON and is not ours to use.
            name = self._text(str(key), 200).lstrip("$") or "_"
            while name in result:
                name += "_"
            result[name] = self.shape(item, depth - 1)
        if len(result) < len(value):
            result[_CUT] = len(value) - len(result)
        return result

    def _text(self, text: str, longest: int) -> str:
        kept = clean(text, longest)
        return str(self._spend(kept, len(json.dumps(kept, ensure_ascii=False).encode()) + 2))

    def _spend(self, value: Any, cost: int) -> Any:
        self._left -= cost
        return value if self._left >= 0 else _CUT


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _texts(key)
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)
