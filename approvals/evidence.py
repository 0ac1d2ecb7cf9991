"""Values made fit to be frozen: JSON-shaped, storable and bounded."""

from __future__ import annotations

import dataclasses
import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

from approvals.errors import InvalidArguments
from dsupport.lib.canonical import canonical_json, digest
from dsupport.lib.redaction import mask_data

MAX_EVIDENCE_BYTES = 256_000
# Longest text, longest list: tried in turn until the whole fits.
_BOUNDS = ((8_000, 200), (1_000, 50), (200, 10))
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


def plain(value: Any, *, longest: int = 8_000, most: int = 200, depth: int = 20) -> Any:
    """Return a JSON-shaped copy with bounded texts, lists and depth.

    A fraction becomes text, because two of them can print alike and canonical JSON refuses them.
    """
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return f"{value:.6g}"
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = dataclasses.asdict(value)
    if isinstance(value, Mapping):
        return _plain_mapping(value, longest, most, depth) if depth else _CUT
    if isinstance(value, list | tuple | set | frozenset):
        return _plain_list(list(value), longest, most, depth) if depth else _CUT
    return clean(str(value), longest)


def freeze_evidence(evidence: Mapping[str, Any]) -> dict[str, Any]:
    """Return evidence that can be stored and hashed; what had to be cut says so."""
    for longest, most in _BOUNDS:
        data: dict[str, Any] = plain(evidence, longest=longest, most=most)
        text = canonical_json(data)
        if len(text.encode()) <= MAX_EVIDENCE_BYTES:
            return data
    return {"cut": f"{len(text.encode())} bytes did not fit", "digest": digest("cut/1", data)}


def clean(text: str, longest: int) -> str:
    """Return a text that a table can keep, cut where it gets too long."""
    text = unicodedata.normalize("NFC", _UNSTORABLE.sub("\ufffd", text))
    return text if len(text) <= longest else text[: longest - len(_CUT)] + _CUT


def masked(value: Any) -> Any:
    """Return a short copy without personal data, fit for an entry that is never deleted."""
    return mask_data(plain(value, longest=500, most=20))


def _plain_list(value: list[Any], longest: int, most: int, depth: int) -> list[Any]:
    items = [plain(item, longest=longest, most=most, depth=depth - 1) for item in value[:most]]
    return [*items, _CUT] if len(value) > most else items


def _plain_mapping(value: Mapping[Any, Any], longest: int, most: int, depth: int) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, item in list(value.items())[:most]:
        # A leading $ marks tagged values in canonical JSON and is not ours to use.
        name = clean(str(key), 200).lstrip("$") or "_"
        result[name] = plain(item, longest=longest, most=most, depth=depth - 1)
    if len(value) > most:
        result[_CUT] = len(value) - most
    return result


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
