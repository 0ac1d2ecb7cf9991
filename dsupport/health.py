"""Whether this process lives, and whether the desk can do its work."""

from __future__ import annotations

import structlog
from django.core.cache import cache
from django.db import DatabaseError, connection
from django.http import HttpRequest, JsonResponse

from agents.liveness import worker_is_alive

log = structlog.get_logger(__name__)


def healthz(request: HttpRequest) -> JsonResponse:
    """Answer as long as the process does."""
    return JsonResponse({"ok": True})


def readyz(request: HttpRequest) -> JsonResponse:
    """Tell whether the database, the broker and a worker are there; 503 when one is not."""
    parts = {"database": _database(), "broker": _broker(), "worker": worker_is_alive()}
    ok = all(parts.values())
    response = JsonResponse({"ok": ok, **parts}, status=200 if ok else 503)
    # "Not yet" is an answer, not a fault of the server: what is missing has been logged by itself.
    response._has_been_logged = True  # type: ignore[attr-defined]
    return response


def _database() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 FROM django_migrations LIMIT 1")
    except DatabaseError as error:
        log.warning("ready.database", error=str(error))
        return False
    return True


def _broker() -> bool:
    try:
        cache.get("ready")
    except Exception as error:
        log.warning("ready.broker", error=str(error))
        return False
    return True
