"""The help centre on the model that is really used: one centre, only read from."""

from __future__ import annotations

import json

import pytest
from django.test import override_settings

from knowledge import services
from knowledge.models import RetrievalTrace
from knowledge.rules.scoring import Band
from tests.conftest import NOW
from tests.knowledge.conftest import ARTICLES, MINILM, HelpCentre, article, open_centre
from tests.knowledge.test_tools import ask

pytestmark = pytest.mark.usefixtures("minilm")
RECEIPT = article("example", "Reading your receipt", "At the top stands ORD-1042.")


def measured_centre(slug: str, articles) -> HelpCentre:
    with override_settings(DSUPPORT_EMBEDDER=MINILM):
        centre = open_centre(slug, articles)
        services.calibrate(tenant_id=centre.tenant.pk, now=NOW)
    return centre


@pytest.fixture(scope="module")
def real(module_db: str) -> HelpCentre:
    return measured_centre("shop", ARTICLES)


@pytest.fixture(scope="module")
def with_receipt(module_db: str) -> HelpCentre:
    return measured_centre("receipts", (*ARTICLES, RECEIPT))


def test_search_question_finds_the_passage_that_answers(real):
    found = real.search("How many days after delivery can I return an item?")
    best = found.hits[0]
    assert (best.doc_id, best.title, best.heading, best.version) == (
        "returns", "Returns", "Return window", 1,
    )  # fmt: skip
    assert "30 days" in best.text
    assert found.band is Band.ANSWER
    assert [hit.score for hit in found.ranked] == sorted(
        (hit.score for hit in found.ranked), reverse=True
    )


def test_search_off_topic_question_finds_nothing(real):
    found = real.search("who won the game last night?")
    assert (found.hits, found.band) == ((), Band.NOTHING)


@pytest.mark.parametrize("query", ["TRK-1042", "TRK 1042", "1043", "ORD-1043"])
def test_search_number_of_something_else_finds_nothing(with_receipt, query):
    assert with_receipt.search(query).ranked == ()


def test_search_follow_up_counts_what_was_said_before(real):
    history = ("Can I return worn items?", "thanks")
    alone = real.search("and how long do I have for that?")
    followed = real.search("and how long do I have for that?", history=history)
    assert alone.band is Band.NOTHING
    assert followed.hits[0].doc_id == "returns"
    assert followed.band is Band.MAY_HELP  # found by what was said before, so never an answer


def test_search_complete_question_takes_nothing_from_history(real):
    history = ("Can I return worn items within 30 days?",)
    assert real.search("who won the game last night?", history=history).hits == ()
    assert real.search("pizza?", history=history).hits == ()


def test_search_kb_gives_hits_and_sources_alike(real):
    result = ask(real, "How many days after delivery can I return an item?", run_id="run-1")
    assert (result.is_error, result.trust, result.data["answerable"]) == (
        False,
        "article",
        "answer",
    )
    assert set(result.data["hits"][0]) == {"doc_id", "title", "heading", "version", "score", "text"}
    assert [hit["doc_id"] for hit in result.data["hits"]] == [s.doc_id for s in result.sources]
    assert (result.sources[0].doc_id, result.sources[0].version) == ("returns", 1)
    json.dumps(result.data)
    assert RetrievalTrace.objects.filter(run_id="run-1").count() == 1


def test_search_kb_off_topic_question_gives_no_source(real):
    result = ask(real, "who won the game last night?")
    assert (result.data["hits"], result.sources) == ([], ())
    assert result.data["answerable"] == "nothing_relevant_found"


def test_search_kb_follow_up_uses_the_customers_words(real):
    words = ("Can I return worn items?", "and how long do I have for that?")
    result = ask(real, words[1], customer_words=words[1:], earlier_words=words[:1])
    assert result.sources[0].doc_id == "returns"
