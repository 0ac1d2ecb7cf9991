"""A vendor asks for patience: the run is laid aside, and the only place of its worker is free."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

import pytest
from django.conf import settings as shop_settings
from django.db import connections
from django.db.models.functions import Now

from agents import services
from agents.models import Event, Message, ModelAttempt, Run
from agents.tasks import sweep_runs
from dsupport.contract.principal import Principal
from dsupport.lib import clock
from dsupport.models import Tenant
from tests.flows.workers import said, wait_for, worker
from tests.vendors.claude import FakeClaude
from tests.vendors.script import Fault

pytestmark = pytest.mark.process


@pytest.fixture
def busy(demo_db):
    with FakeClaude([Fault(529, headers={"retry-after": "171"})]) as vendor:
        yield vendor
    connections.close_all()


def ask(words: str):
    shop = Tenant.objects.get(slug=shop_settings.DSUPPORT_TENANT)
    asker = Principal(tenant_id=shop.pk, visitor=words[:20])
    talk = services.open_conversation(principal=asker, now=clock.now())
    sent = services.submit_message(
        principal=asker, conversation_id=talk.pk, text=words, now=clock.now()
    )
    return talk, sent.run_id


def stored(run_id) -> Run:
    return Run.objects.for_worker(run_id).get()


def ended(run_id) -> bool:
    sweep_runs()  # what beat does every few seconds
    return stored(run_id).status not in {"queued", "running"}


def test_run_of_a_busy_vendor_waits_without_its_worker(busy, demo_db, tmp_path, settings):
    log = tmp_path / "worker.log"
    vendor = {
        "DSUPPORT_PROVIDER": "anthropic",
        "ANTHROPIC_API_KEY": "key",
        "ANTHROPIC_BASE_URL": busy.url,
    }
    settings.DSUPPORT_PROVIDER = "anthropic"
    talk, waiting = ask("How many days do I have to return an item?")
    with worker(demo_db, log, places=1, **vendor):
        wait_for("the run was laid aside", partial(said, waiting, "run.waiting"), 60, log)
        run = stored(waiting)
        assert (run.status, run.lease_owner) == ("queued", "")
        assert 100 < (run.not_before - clock.now()).total_seconds() <= 171
        (told,) = Event.objects.for_run(waiting).filter(type="run.waiting")
        assert told.data["text"] == "The model is busy. I go on within 3 minutes…"

        # The one place of this worker is free, and nobody asks the vendor meanwhile.
        asked = len(busy.asked)
        _, other = ask("What does shipping cost?")
        wait_for("the next question was answered", partial(ended, other), 30, log)
        assert len(busy.asked) == asked
        assert not ended(waiting)

        Run.objects.for_worker(waiting).update(not_before=Now() - timedelta(seconds=1))
        wait_for("the run went on", partial(ended, waiting), 30, log)
    assert len(busy.asked) <= 3
    attempts = ModelAttempt.objects.filter(run_id__in=[waiting, other])
    assert attempts.count() == len(busy.asked)
    assert {attempt.code for attempt in attempts} == {"overloaded"}
    (answer,) = Message.objects.for_conversation(talk).filter(author="assistant")
    assert "30 days" in answer.text
    assert busy.breaches == []
