"""JSON schemas as short as a model needs them. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_DEFAULT = re.compile(r"\s*\{default: [^{}]*\}\s*$")


def slim(schema: Any) -> Any:
    """Return the schema without what costs tokens and tells a model nothing.

    That is: titles, which repeat each field's name; descriptions of whole objects, which are our
    docstrings; and notes of default values. Properties may be called `title` all the same.
    """
    if isinstance(schema, list):
        return [slim(item) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    kept: dict[str, Any] = {}
    for key, value in schema.items():
        if key in {"properties", "$defs"}:
            kept[key] = {name: slim(sub) for name, sub in value.items()}
        elif key == "description":
            words = "" if "properties" in schema else _DEFAULT.sub("", value)
            kept |= {key: words} if words else {}
        elif key != "title":
            kept[key] = slim(value)
    return kept
