"""PostgreSQL or the broker goes away in the middle: nothing is lost, nothing is said twice."""

from __future__ import annotations

from datetime import timedelta

import pytest
from celery import current_app
from django.db import connection
from django.db.models.functions import Now
from kombu import pools

from agents import services
from agents.adapters.scripted import ScriptedModel, fills
from agents.models import Message, Run
from agents.runner import Surroundings, execute_run
from agents.tasks import sweep_runs
from agents.threads import Inline
from dsupport.contract.principal import Principal
from tests.conftest import NOW, make_tenant
from tests.databases import owner_cursor

HELLO = {"answer": "Hello.", "intent": "greeting", "confidence": 0.9}
YES = fills({"approved": True})


@pytest.fixture
def asker(committed_db):
    return Principal(tenant_id=make_tenant().pk, visitor="visitor")


def say(asker, **options):
    conversation = services.open_conversation(principal=asker, now=NOW)
    sent = services.submit_message(
        principal=asker, conversation_id=conversation.pk, text="hello", now=NOW, **options
    )
    return conversation, sent.run_id


def carry_out(run_id, model, owner):
    around = Surroundings(
        owner=owner,
        crew=Inline(),
        release=connection.close,
        now=lambda: NOW,
        client=lambda _asking: model,
    )
    return execute_run(run_id, around)


def cut_connections(database: str) -> None:
    with owner_cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = %s AND pid <> pg_backend_pid()",
            [database],
        )


def test_run_goes_on_after_the_database_cut_its_connections(asker, committed_db):
    conversation, run_id = say(asker, wake=False)

    def cut(request):
        cut_connections(committed_db)
        return fills(HELLO)

    # The connection was given back before the model call, so the step is recorded on a new one.
    assert carry_out(run_id, ScriptedModel([cut, YES]), "w1") == "completed"
    answers = Message.objects.for_conversation(conversation).filter(author="assistant")
    assert [answer.text for answer in answers] == ["Hello."]


def test_run_that_lost_the_database_is_taken_over_and_answers_once(asker, committed_db):
    conversation, run_id = say(asker, wake=False)

    def cut_while_in_use(request):
        connection.ensure_connection()
        cut_connections(committed_db)
        return fills(HELLO)

    assert carry_out(run_id, ScriptedModel([cut_while_in_use]), "w1") is None
    assert Run.objects.for_worker(run_id).get().status == "running"
    Run.objects.filter(pk=run_id).update(lease_until=Now() - timedelta(seconds=1))
    assert carry_out(run_id, ScriptedModel([fills(HELLO), YES]), "w2") == "completed"
    answers = Message.objects.for_conversation(conversation).filter(author="assistant")
    assert [answer.text for answer in answers] == ["Hello."]


@pytest.fixture
def broker_away():
    """Point the application at a port where nobody listens, and back."""
    before = current_app.conf.broker_url
    _use_broker("redis://127.0.0.1:1/0")
    yield
    _use_broker(before)


def _use_broker(url: str) -> None:
    current_app.conf.update(broker_url=url, broker_write_url=url, broker_read_url=url)
    current_app.amqp._producer_pool = None
    current_app._pool = None
    pools.reset()  # connections to the other broker are no longer wanted


def test_message_is_kept_while_the_broker_is_away(asker, broker_away, caplog):
    _, run_id = say(asker)
    assert "The broker is away" in caplog.text
    assert Run.objects.for_worker(run_id).get().status == "queued"
    Run.objects.filter(pk=run_id).update(woken_at=Now() - timedelta(minutes=1))
    assert sweep_runs() == 1
    assert carry_out(run_id, ScriptedModel([fills(HELLO), YES]), "w1") == "completed"
