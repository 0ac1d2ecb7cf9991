"""Start-up check: the configured embedder is the one whose vectors are stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.db import DatabaseError

from dsupport.contract.errors import DomainError, PortError


@register()
def check_hosted(**_kwargs: Any) -> list[CheckMessage]:
    """Say what a hosted embedder lacks before the first customer finds out."""
    from knowledge.embedding import configured_embedder
    from knowledge.ports import Billed

    try:
        embedder = configured_embedder()
    except (ImportError, AttributeError, PortError):
        return []  # the next check says it
    if not isinstance(embedder, Billed):
        return []
    return [Warning(text, id="knowledge.W002") for text in embedder.problems()]


@register(Tags.database)
def check_embedder(databases: Sequence[str] | None = None, **_kwargs: Any) -> list[CheckMessage]:
    """Complain about shops whose vectors come from another model than the configured one."""
    from knowledge.embedding import configured_embedder
    from knowledge.models import KnowledgeIndex

    if not databases or "default" not in databases:
        return []
    try:
        configured = configured_embedder().id
    except (ImportError, AttributeError, PortError) as error:
        return [
            Error(
                f"DSUPPORT_EMBEDDER cannot be loaded: {error}",
                hint="Leave it unset, or name a class such as knowledge.adapters.minilm.MiniLM.",
                id="knowledge.E001",
            )
        ]
    try:
        others = list(
            KnowledgeIndex.objects.exclude(active_set=None)
            .exclude(active_set__embedder_id=configured)
            .values_list("tenant__slug", "active_set__embedder_id")
        )
    except DatabaseError:
        return []  # before the first migration there is nothing to compare
    return [_complaint(slug, stored, configured) for slug, stored in others]


def _complaint(slug: str, stored: str, configured: str) -> CheckMessage:
    from knowledge.embedding import get_embedder

    text = (
        f"The articles of shop {slug!r} were embedded by {stored}, but the setting "
        f"DSUPPORT_EMBEDDER names {configured}."
    )
    try:
        get_embedder(stored)
    except DomainError:
        hint = "Searches fail until `manage.py reindex` has run."
        return Error(text, hint=hint, id="knowledge.E002")
    hint = "Run `manage.py reindex`; until then searches use the old model."
    return Warning(text, hint=hint, id="knowledge.W001")
