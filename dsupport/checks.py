"""Start-up checks: an insecure or impossible combination refuses to start and says why."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, register


@register(Tags.security)
def check_hosts(**_kwargs: Any) -> list[CheckMessage]:
    """Refuse a wildcard host: it would switch off the origin check of every socket."""
    if any(host in {"*", "."} or host.startswith("*") for host in settings.ALLOWED_HOSTS):
        return [
            Error(
                "ALLOWED_HOSTS contains a wildcard, which lets any site open a customer's socket.",
                hint="List the host names of this desk, for example support.example.com.",
                id="dsupport.E001",
            )
        ]
    return []


@register(Tags.security)
def check_secret(**_kwargs: Any) -> list[CheckMessage]:
    if len(settings.SECRET_KEY) < 32 or len(set(settings.SECRET_KEY)) < 8:
        return [
            Error(
                "SECRET_KEY is too short or too simple to sign sessions with.",
                hint="Set it to 50 random characters.",
                id="dsupport.E002",
            )
        ]
    return []


@register(Tags.database)
def check_roles(databases: Any = None, **_kwargs: Any) -> list[CheckMessage]:
    """Refuse an application role that owns tables: triggers and grants would not bind it."""
    from django.db import connections

    if not databases or "default" not in databases:
        return []
    with connections["default"].cursor() as cursor:
        cursor.execute(
            "SELECT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user), "
            "EXISTS (SELECT 1 FROM pg_tables "
            "WHERE schemaname = 'public' AND tableowner = current_user)"
        )
        superuser, owns = cursor.fetchone()
    if superuser or owns:
        return [
            Error(
                "DATABASE_URL names a role that owns tables or is a superuser.",
                hint="Use a role that owns nothing, and put the owner into DATABASE_OWNER_URL.",
                id="dsupport.E003",
            )
        ]
    return []
