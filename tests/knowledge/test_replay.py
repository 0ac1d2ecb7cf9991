"""A search can be run again on the index it saw, whatever has been published since."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from knowledge import services
from knowledge.errors import TraceNotFound
from knowledge.models import Article, RetrievalTrace
from knowledge.search import replay
from tests.conftest import NOW
from tests.knowledge.conftest import ARTICLES, article

ASKED = ("return window after delivery", "can I bring it back?", "who won the game?", "😀", "1042")


@pytest.fixture
def traces(centre):
    found = [centre.search(question).trace_id for question in ASKED]
    history = ("can I return worn items?",)
    found.append(centre.search("and how long for that?", history=history).trace_id)
    internal = centre.search("voucher", principal=centre.staff, audience=("internal", "public"))
    return [*found, internal.trace_id]


def again(centre, trace_id):
    return replay(trace_id, principal=centre.staff)


def test_replay_at_once_is_equal(centre, traces):
    assert [again(centre, trace).differences for trace in traces] == [()] * len(traces)


def test_replay_after_every_kind_of_change_is_equal(centre, traces, settings):
    centre.publish(replace(ARTICLES[0], body="Something quite different about returning."))
    centre.publish(article("new", "Return window", "The return window after delivery, anew."))
    centre.publish(replace(ARTICLES[1], audience="internal"))
    centre.archive("goodwill")
    services.calibrate(tenant_id=centre.tenant.pk, now=NOW)
    settings.DSUPPORT_EMBEDDER = "tests.knowledge.wide.WideEmbedder"
    services.rebuild_index(centre.tenant.pk, now=NOW + timedelta(days=1))
    assert "new" in centre.ids("return window after delivery")
    assert [again(centre, trace).differences for trace in traces] == [()] * len(traces)


def test_replay_leaves_no_trace_of_its_own(centre, traces):
    before = RetrievalTrace.objects.count()
    again(centre, traces[0])
    assert RetrievalTrace.objects.count() == before


def test_replay_of_a_changed_trace_names_the_difference(centre, traces):
    trace = RetrievalTrace.objects.get(pk=traces[0])
    trace.hits[0]["score"] += 0.1
    trace.save(update_fields=["hits"])
    found = again(centre, traces[0])
    assert not found.equal
    assert found.differences[0].startswith("place 1: returns version 1")


def test_replay_without_the_article_is_not_equal(centre, traces):
    Article.objects.filter(doc_id="returns").delete()
    found = again(centre, traces[0])
    assert not found.equal
    assert "now" in found.differences[0]


@pytest.mark.parametrize("trace_id", ["", "x", "00000000-0000-0000-0000-000000000000"])
def test_replay_of_no_search_is_refused(centre, trace_id):
    with pytest.raises(TraceNotFound):
        again(centre, trace_id)
