"""The side bar of the admin."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest


def sidebar(request: HttpRequest) -> list[dict[str, Any]]:
    return []
