"""A worker is killed in the middle of a run: another goes on, and one answer is given."""

from __future__ import annotations

import os
import signal
import time
from functools import partial
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connections

from agents import services
from agents.models import Event, Message, Run
from agents.tasks import sweep_runs
from dsupport.contract.principal import Principal
from dsupport.lib import clock
from dsupport.models import Tenant
from orders.adapters.simulated import Faults, set_faults
from orders.tools import enter_as
from tests.flows.workers import said, wait_for, worker

pytestmark = pytest.mark.process


@pytest.fixture
def asked(demo_db):
    """Ask about order 1042 while its carrier is slow, so that there is time to kill the worker."""
    shop = Tenant.objects.get(slug=settings.DSUPPORT_TENANT)
    visitor = Principal(tenant_id=shop.pk, visitor="flow")
    customer = enter_as(tenant=shop, principal=visitor, email="fleur.hendriks@example.com")
    conversation = services.open_conversation(principal=customer, now=clock.now())
    set_faults(Faults(delay=2.0))
    sent = services.submit_message(
        principal=customer,
        conversation_id=conversation.pk,
        text="Where is my order 1042?",
        now=clock.now(),
    )
    yield conversation, sent.run_id
    set_faults(None)
    connections.close_all()


def test_killed_worker_is_taken_over_and_the_answer_comes_once(asked, demo_db, tmp_path):
    conversation, run_id = asked
    log = tmp_path / "worker.log"
    with worker(demo_db, log) as first:
        wait_for("the carrier was asked", partial(said, run_id, "tool.called"), 60, log)
        os.killpg(first.pid, signal.SIGKILL)
    assert Run.objects.for_worker(run_id).get().status == "running"
    killed = time.monotonic()
    set_faults(None)
    finish(run_id, demo_db, log)
    assert time.monotonic() - killed < 120
    assert Run.objects.for_worker(run_id).get().attempt == 2
    assert_answered_once(conversation, run_id)


def test_worker_told_to_end_passes_its_run_along(asked, demo_db, tmp_path):
    conversation, run_id = asked
    log = tmp_path / "worker.log"
    with worker(demo_db, log) as first:
        wait_for("the carrier was asked", partial(said, run_id, "tool.called"), 60, log)
        first.terminate()
        assert first.wait(timeout=30) == 0
    left = Run.objects.for_worker(run_id).get()
    assert (left.status, left.lease_owner, left.attempt) == ("queued", "", 0)
    set_faults(None)
    finish(run_id, demo_db, log)
    assert_answered_once(conversation, run_id)


def finish(run_id, database: str, log: Path) -> None:
    """Have another worker end the run."""

    def over() -> bool:
        sweep_runs()  # what beat does every few seconds
        return Run.objects.for_worker(run_id).get().status not in {"queued", "running"}

    with worker(database, log):
        wait_for("the run's end", over, 100, log)


def assert_answered_once(conversation, run_id) -> None:
    assert Run.objects.for_worker(run_id).get().status in {"completed", "handed_over"}
    answers = Message.objects.for_conversation(conversation).filter(author="assistant")
    assert len(answers) == 1
    assert "1042" in answers[0].text
    events = list(Event.objects.after(conversation.pk, 0))
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert len({event.key for event in events if event.key}) == len([e for e in events if e.key])
