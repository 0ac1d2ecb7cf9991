"""One spelling for a value, so that a hash stands for exactly one meaning."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID


class CanonicalError(TypeError):
    """A value that has no canonical form, such as a float."""


def canonical_json(value: Any) -> str:
    """Return the canonical JSON text of a value.

    Keys are sorted, text is in Unicode form NFC, there is no white space, and floats are
    refused because two of them can print alike. The mapping is injective over what it accepts:
    two different values never give the same text (after Unicode normalisation).
    """
    return json.dumps(
        _plain(value), ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False
    )


def digest(domain: str, value: Any) -> str:
    """Return the SHA-256 (64 hex digits) of a value under a domain such as `proposal/1`.

    The domain is part of what is hashed and carries the version of the form, so a digest made
    for one purpose can never stand for another.
    """
    return hashlib.sha256(canonical_json([domain, value]).encode()).hexdigest()


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str) and not isinstance(value, Enum):
        return unicodedata.normalize("NFC", value)
    if isinstance(value, int) and not isinstance(value, Enum):
        return value
    if isinstance(value, Mapping):
        return _plain_mapping(value)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return _tagged(value)


def _plain_mapping(value: Mapping[Any, Any]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, item in value.items():
        if not isinstance(key, str):
            raise CanonicalError(f"keys are text, not {type(key).__name__}")
        name = unicodedata.normalize("NFC", key)
        if name in result:
            raise CanonicalError(f"two keys are spelled alike: {name!r}")
        if name.startswith("$"):
            raise CanonicalError("keys that start with $ are reserved")
        result[name] = _plain(item)
    return result


def _tagged(value: Any) -> Any:
    if isinstance(value, Enum):
        return _plain(value.value)
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise CanonicalError("a time needs a zone")
        return {"$time": value.isoformat()}
    if isinstance(value, date):
        return {"$date": value.isoformat()}
    if isinstance(value, UUID):
        return {"$uuid": str(value)}
    if isinstance(value, Decimal):
        return {"$decimal": str(value.normalize())}
    if isinstance(value, set | frozenset):
        return {"$set": sorted((_plain(item) for item in value), key=json.dumps)}
    raise CanonicalError(f"{type(value).__name__} has no canonical form; use text or integers")
