"""What is found, in which order, with which numbers, and what is left behind."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from dsupport.contract.errors import InvalidInput
from knowledge import ranking
from knowledge.adapters.memory import HashEmbedder
from knowledge.errors import EmptyQuery
from knowledge.models import KnowledgeIndex, RetrievalTrace
from knowledge.rules.scoring import Band
from knowledge.search import mark_cited
from tests.conftest import NOW
from tests.knowledge.conftest import ARTICLES, HelpCentre, article


def test_search_empty_help_centre_finds_nothing_and_leaves_a_trace(tenant):
    found = HelpCentre(tenant).search("anything")
    assert (found.hits, found.ranked, found.band) == ((), (), Band.NOTHING)
    assert RetrievalTrace.objects.get(pk=found.trace_id).index_version == 0


def test_search_hit_counts_an_article_once_and_shows_a_passage(centre):
    found = centre.search("can I bring it back?")
    assert [hit.doc_id for hit in found.ranked].count("returns") == 1
    best = found.ranked[0]
    assert best.doc_id == "returns"
    assert best.score > 0.9  # as near as its sample question
    assert best.text != "can I bring it back?"


def test_search_sample_question_brings_an_article_no_passage_would(centre):
    assert centre.ids("can I bring it back?")[0] == "returns"
    centre.publish(replace(ARTICLES[0], sample_questions=()))
    scores = {hit.doc_id: hit.score for hit in centre.search("can I bring it back?").ranked}
    assert scores.get("returns", 0) < 0.9


@pytest.mark.parametrize("query", ["1042", "ORD 1042", "ord-1042", "#1042"])
def test_search_order_number_in_any_spelling_finds_its_article(measured, query):
    measured.publish(article("example", "Reading your receipt", "At the top stands ORD-1042."))
    found = measured.search(query)
    assert (found.hits[0].doc_id, found.hits[0].exact) == ("example", True)
    assert found.band is Band.ANSWER


@pytest.mark.parametrize("query", ["ab12-3", "AB/12-3", "ab123"])
def test_search_part_number_in_any_spelling_finds_its_article(measured, query):
    measured.publish(article("part", "Spare tent pole", "Order part AB/12-3 by mail."))
    assert measured.search(query).hits[0].doc_id == "part"


@pytest.mark.parametrize("query", ["", " \n ", "\x00"])
def test_search_empty_question_is_refused(centre, query):
    with pytest.raises(EmptyQuery):
        centre.search(query)


@pytest.mark.parametrize(
    "query",
    [
        "😀😀😀",
        "?!",
        "a" * 8_000,
        "return\x00window",
        "\ud800return",
        "'; DROP TABLE x; --",
        "%s %(a)s",
    ],
)
def test_search_odd_question_is_searched_all_the_same(centre, query):
    found = centre.search(query)
    stored = RetrievalTrace.objects.get(pk=found.trace_id).query
    assert len(stored) <= 1_000
    assert "\x00" not in stored


@pytest.mark.parametrize(("k", "at_most"), [(1, 1), (2, 2), (0, 1), (-5, 1), (10_000, 20)])
def test_search_gives_at_most_k_articles(centre, k, at_most):
    found = centre.search("delivery return shipping", k=k)
    assert 1 <= len(found.ranked) <= at_most


def test_search_language_narrows_before_ranking(centre):
    german = article(
        "ruecksendung", "Rücksendung", "Return window: dreißig Tage.", language="de-AT"
    )
    centre.publish(german)
    assert centre.ids("return window", language="de") == ["ruecksendung"]
    assert "ruecksendung" not in centre.ids("return window", language="en")
    assert "ruecksendung" in centre.ids("return window")


def test_search_unknown_audience_is_refused(centre):
    for audience in ((), ("everyone",)):
        with pytest.raises(InvalidInput):
            centre.search("return window", audience=audience)


def test_search_trace_keeps_question_filters_and_scores(measured):
    found = measured.search("return window in Germany", k=1, run_id="run-7")
    trace = RetrievalTrace.objects.get(pk=found.trace_id)
    assert (trace.query, trace.run_id, trace.principal_kind) == (
        "return window in Germany", "run-7", "none",
    )  # fmt: skip
    assert trace.filters == {
        "audience": ["public"], "language": None, "day": "2026-10-15", "k": 1, "followed": "",
    }  # fmt: skip
    assert (trace.at, trace.band) == (NOW, found.band)
    assert trace.index_version == KnowledgeIndex.objects.get(tenant=measured.tenant).version
    assert trace.hits[0]["doc_id"] == found.ranked[0].doc_id
    assert trace.hits[0]["score"] == found.ranked[0].score
    assert [hit["shown"] for hit in trace.hits].count(True) == len(found.hits)
    assert len(trace.hits) > 1  # what did not get in is told, too


def test_search_personal_data_is_masked_before_it_is_kept(centre):
    words = "return for a.tester@example.com card 4111 1111 1111 1111"
    trace = RetrievalTrace.objects.get(pk=centre.search(words).trace_id)
    assert trace.query == "return for [email] card [card]"
    said = ("my mail is b.tester@example.com",)
    trace = RetrievalTrace.objects.get(
        pk=centre.search("and how long for it?", history=said).trace_id
    )
    assert "b.tester" not in str(trace.filters)


def test_search_day_is_the_shops_own(centre):
    centre.publish(
        article("sale", "Winter sale", "Winter sale prices hold.", effective_from="2026-10-16")
    )
    late = datetime(2026, 10, 15, 22, 30, tzinfo=UTC)  # half past midnight in Amsterdam
    assert "sale" not in centre.ids("winter sale", now=late - timedelta(hours=1))
    assert "sale" in centre.ids("winter sale", now=late)


def test_cited_passages_are_marked_on_the_runs_traces(measured):
    found = measured.search("return window after delivery", run_id="run-9")
    other = measured.search("return window after delivery", run_id="run-10")
    best = found.hits[0]
    cited = [(best.doc_id, best.heading), ("shipping", "nothing like it")]
    assert mark_cited(principal=measured.guest, run_id="run-9", cited=cited) == 1
    hits = RetrievalTrace.objects.get(pk=found.trace_id).hits
    assert [hit["doc_id"] for hit in hits if hit["cited"]] == ["returns"]
    assert not any(hit["cited"] for hit in RetrievalTrace.objects.get(pk=other.trace_id).hits)
    assert mark_cited(principal=measured.guest, run_id="", cited=cited) == 0


@pytest.mark.parametrize("vector", [[0.0] * 256, [math.nan] * 256, [1.0]])
def test_search_question_without_a_usable_vector_finds_nothing(measured, monkeypatch, vector):
    monkeypatch.setattr(HashEmbedder, "_embed", lambda self, text: vector)
    found = measured.search("return window")
    assert (found.ranked, found.band) == ((), Band.NOTHING)


def test_search_asks_the_database_a_bounded_number_of_times(
    measured, django_assert_max_num_queries
):
    with django_assert_max_num_queries(9):
        measured.search("How many days after delivery can I return an item?")


def test_search_large_help_centre_adds_what_full_text_finds(centre, monkeypatch):
    """Beyond 5,000 chunks the nearest vectors are joined by the best full-text matches."""
    question = "bring back huts islands mountain express"
    monkeypatch.setattr(ranking, "NEAREST", 1)
    assert centre.ids(question) == ["returns"]
    monkeypatch.setattr(ranking, "_TEXT_SEARCH_FROM", 0)
    assert set(centre.ids(question)) == {"returns", "shipping"}


@pytest.mark.parametrize("query", ["'; --", "a & | ! (", "\\ :* <->", "returns:*", "(((("])
def test_search_signs_of_the_text_query_language_mean_nothing(centre, monkeypatch, query):
    monkeypatch.setattr(ranking, "_TEXT_SEARCH_FROM", 0)
    assert centre.search(query).trace_id
