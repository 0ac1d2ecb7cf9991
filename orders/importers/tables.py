"""Bringing one table to what is wanted of it, in bulk and by comparison."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class Table:
    """One table's part of an import: compare by key, then create and update in bulk."""

    def __init__(self, model: Any, existing: Mapping[Any, Any]) -> None:
        self.model = model
        self.rows: dict[Any, Any] = dict(existing)
        self.outcome: dict[Any, str] = {}
        self._fresh: list[Any] = []
        self._changed: list[Any] = []
        self._fields: set[str] = set()

    def put(self, key: Any, **values: Any) -> None:
        """Want a row of these values; `values` name all that the source decides."""
        self._fields |= values.keys()
        row = self.rows.get(key)
        if row is None:
            self.rows[key] = row = self.model(**values)
            self._fresh.append(row)
            self.outcome[key] = "created"
        elif any(getattr(row, name) != value for name, value in values.items()):
            for name, value in values.items():
                setattr(row, name, value)
            self._changed.append(row)
            self.outcome[key] = "updated"
        else:
            self.outcome[key] = "unchanged"

    def drop_others(self) -> list[Any]:
        """Delete the rows that were not wanted and return their keys."""
        gone = [key for key in self.rows if key not in self.outcome]
        pks = [self.rows.pop(key).pk for key in gone]
        if pks:
            self.model._base_manager.filter(pk__in=pks).delete()
        return gone

    def write(self) -> None:
        if self._fresh:
            self.model._base_manager.bulk_create(self._fresh)
        if self._changed:
            self.model._base_manager.bulk_update(self._changed, sorted(self._fields))

    def touched(self) -> list[Any]:
        """Return the keys of the rows that were created or updated."""
        return [key for key, outcome in self.outcome.items() if outcome != "unchanged"]


def with_parts(outcome: str, parts_changed: bool) -> str:
    """Return the outcome of a row, counting what hangs on it."""
    return "updated" if outcome == "unchanged" and parts_changed else outcome
