"""A proposal's arguments as fields that a person edits, and back again. Pure.

The fields follow the JSON schema of the argument model, so an action needs no form of its own.
Whatever comes back is judged by the gate like any request: what is no number here stays a text,
and is refused there by name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

_WHOLE = re.compile(r"-?\d{1,18}")
_MOST = 60  # of one list: a form that somebody forged is no longer
Schema = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Blank:
    """One field of the form. `name` is its path, such as `swaps.0.old`.

    `choices` is empty where any text goes; `many` says that each line is one entry of a list.
    """

    name: str
    label: str
    value: str
    choices: Sequence[str] = ()
    many: bool = False
    required: bool = False


def blanks_of(model: type[BaseModel], arguments: Mapping[str, Any]) -> list[Blank]:
    """Return the fields of an action's arguments, filled with these; a list has one empty line."""
    schema = model.model_json_schema()
    return list(_blanks(schema, schema.get("$defs", {}), arguments, (), required=True))


def read_blanks(model: type[BaseModel], posted: Mapping[str, str]) -> dict[str, Any]:
    """Return the arguments that a posted form says; an entry left empty is no entry."""
    schema = model.model_json_schema()
    read: dict[str, Any] = _read(schema, schema.get("$defs", {}), posted, ())
    return read


def _blanks(
    schema: Schema, known: Schema, value: Any, path: tuple[str, ...], *, required: bool
) -> Iterator[Blank]:
    part, _ = _plain(schema, known)
    if part.get("type") == "object":
        needed = part.get("required", ())
        for name, inner in part["properties"].items():
            held = value.get(name) if isinstance(value, Mapping) else None
            yield from _blanks(
                inner, known, held, (*path, name), required=required and name in needed
            )
    elif _is_list_of_objects(part, known):
        entries = list(value or ())
        for place, entry in enumerate([*entries, None]):
            yield from _blanks(
                part["items"],
                known,
                entry,
                (*path, str(place)),
                required=required and place < len(entries),
            )
    else:
        yield _leaf(part, value, path, required=required)


def _leaf(part: Schema, value: Any, path: tuple[str, ...], *, required: bool) -> Blank:
    many = part.get("type") == "array"
    shown = "\n".join(map(str, value or ())) if many else _shown(value)
    words = [name.replace("_", " ") if not name.isdigit() else str(int(name) + 1) for name in path]
    label = " ".join(words).capitalize()
    allowed = part.get("enum") or ([part["const"]] if "const" in part else ())
    if part.get("type") == "boolean":
        allowed = ("true", "false")
    choices = [str(choice) for choice in allowed]
    return Blank(".".join(path), label, shown, choices, many, required)


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


def _read(schema: Schema, known: Schema, posted: Mapping[str, str], path: tuple[str, ...]) -> Any:
    part, nullable = _plain(schema, known)
    if part.get("type") == "object":
        return {
            name: _read(inner, known, posted, (*path, name))
            for name, inner in part["properties"].items()
        }
    text = posted.get(".".join(path), "").strip()
    if _is_list_of_objects(part, known):
        places = (str(place) for place in range(_MOST))
        entries = [_read(part["items"], known, posted, (*path, place)) for place in places]
        found: list[Any] | None = [entry for entry in entries if any(entry.values())]
    elif part.get("type") == "array":
        found = [line.strip() for line in text.splitlines() if line.strip()]
    else:
        return None if nullable and not text else _typed(part, text)
    return None if nullable and not found else found


def _typed(part: Schema, text: str) -> Any:
    if part.get("type") == "integer" and _WHOLE.fullmatch(text):
        return int(text)
    if part.get("type") == "boolean" and text in {"true", "false"}:
        return text == "true"
    return text


def _plain(schema: Schema, known: Schema) -> tuple[Schema, bool]:
    """Return a schema without its references and its "or null", and whether it had the latter."""
    if "$ref" in schema:
        return _plain(known[schema["$ref"].rpartition("/")[2]], known)
    variants = schema.get("anyOf", ())
    others = [each for each in variants if each.get("type") != "null"]
    if len(others) == 1:
        return _plain(others[0], known)[0], len(others) < len(variants)
    return schema, False


def _is_list_of_objects(part: Schema, known: Schema) -> bool:
    if part.get("type") != "array":
        return False
    return _plain(part["items"], known)[0].get("type") == "object"
