"""Handing work to the workers. The row is the job; the message only wakes somebody up."""

from __future__ import annotations

import logging
from typing import Any

from django.db import transaction

log = logging.getLogger(__name__)


def enqueue(task: str, **identifiers: Any) -> None:
    """Send a task by name when the surrounding transaction commits.

    `identifiers` are ids as text or integers, never data. A broker that is away is not an
    error: the sweeper finds the row and sends it again.
    """
    transaction.on_commit(lambda: _send(task, identifiers), robust=True)


def _send(task: str, identifiers: dict[str, Any]) -> None:
    from celery import current_app
    from kombu.exceptions import OperationalError

    try:
        current_app.send_task(task, kwargs=identifiers, ignore_result=True, retry=False)
    except OperationalError:
        log.warning("The broker is away; the sweeper will send %s %s", task, identifiers)
