"""Which database role does what."""

from __future__ import annotations

from typing import Any


class OwnerMigrates:
    """Let tables be made and changed through the `owner` connection alone."""

    def allow_migrate(self, db: str, app_label: str, **hints: Any) -> bool:
        return db == "owner"
