"""What workers do when they are woken up. The message carries ids; the row is the job."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

import structlog
from celery import shared_task
from celery.signals import worker_ready, worker_shutting_down
from django.conf import settings
from django.db.models import Q
from django.db.models.functions import Now

from agents.houses import problems_of
from agents.lease import process_owner
from agents.liveness import start_pulse
from agents.models import Run
from agents.providers import warm_up
from agents.requests import tell_progress
from agents.runner import drain, execute_run, process_surroundings
from dsupport.contract.errors import DomainError
from dsupport.lib import clock
from dsupport.lib.queue import enqueue

log = structlog.get_logger(__name__)

_RESEND_AFTER = timedelta(seconds=5)
_BATCH = 100


@shared_task(name="agents.run", acks_late=False, ignore_result=True, throws=(DomainError,))
def run_agent(run_id: str) -> None:
    """Carry out a run, unless another worker has it."""
    execute_run(UUID(run_id), process_surroundings(process_owner()))


@shared_task(name="agents.proposal_changed", ignore_result=True)
def tell_proposal(proposal_id: str) -> None:
    """Tell the customer what has become of what they asked for."""
    tell_progress(proposal_id, now=clock.now())


@shared_task(name="agents.sweep_runs", ignore_result=True)
def sweep_runs() -> int:
    """Wake a worker for every run that waits or was left behind; return how many."""
    due = Run.objects.claimable().filter(Q(woken_at=None) | Q(woken_at__lt=Now() - _RESEND_AFTER))
    ids = list(due.order_by("created_at").values_list("pk", flat=True)[:_BATCH])
    Run.objects.filter(pk__in=ids).update(woken_at=Now())
    for run_id in ids:
        enqueue("agents.run", run_id=str(run_id))
    return len(ids)


@worker_ready.connect
def say_ready(**_signal: Any) -> None:
    for problem in problems_of(settings.DSUPPORT_PROVIDER):
        log.warning("model.problem", problem=problem)
    warm_up(clock.now().date().isoformat())
    start_pulse(process_owner())


@worker_shutting_down.connect
def let_go(**_signal: Any) -> None:
    drain()
