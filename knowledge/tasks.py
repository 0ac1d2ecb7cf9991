"""Work on articles that happens in the background."""

from __future__ import annotations

from celery import shared_task

from dsupport.contract.errors import DomainError, PortError
from dsupport.lib import clock
from knowledge import services


@shared_task(name="knowledge.index_article", throws=(DomainError, PortError))
def index_article(version_id: int) -> None:
    """Publish a waiting version; after three failures it is left to a person."""
    try:
        services.index_version(version_id=version_id, now=clock.now())
    except Exception as error:
        services.note_failure(version_id=version_id, error=str(error), now=clock.now())
        raise


@shared_task(name="knowledge.sweep_index")
def sweep_index() -> None:
    """Send again what a lost message or a dead worker left waiting."""
    services.sweep_waiting(now=clock.now())
