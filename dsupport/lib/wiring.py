"""From a dotted path in the settings to an object, once per process."""

from __future__ import annotations

from functools import cache
from typing import Any

from django.conf import settings
from django.utils.module_loading import import_string


def load(setting: str) -> Any:
    """Return what the setting's dotted path names; a class or factory is called without arguments.

    One object per process and path: adapters hold connections and loaded models.
    """
    return _build(getattr(settings, setting))


@cache
def _build(path: str) -> Any:
    target = import_string(path)
    return target() if callable(target) else target


def forget() -> None:
    """Drop the built objects, so that the next `load` reads the settings again."""
    _build.cache_clear()
