"""Searching and reading over HTTP and in the page behind a source."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dsupport.lib import clock
from knowledge.models import RetrievalTrace
from tests.conftest import NOW
from tests.knowledge.conftest import ARTICLES, article

NEW_WINDOW = replace(ARTICLES[0], body=ARTICLES[0].body.replace("30 days", "60 days"))


@pytest.fixture(autouse=True)
def at_noon(settings):
    settings.DSUPPORT_TENANT = "shop"
    with clock.frozen(NOW):
        yield


def test_search_answers_hits_cutoff_and_band(measured, client):
    document = client.get(
        "/api/knowledge/search", {"q": "return window after delivery", "k": 1}
    ).json()
    assert set(document) == {"hits", "cutoff", "answerable"}
    assert set(document["hits"][0]) == {"doc_id", "title", "heading", "version", "score", "snippet"}
    assert (len(document["hits"]), document["hits"][0]["doc_id"]) == (1, "returns")
    assert document["answerable"] in {"answer", "may_help"}
    assert RetrievalTrace.objects.get().principal_kind == "none"


@pytest.mark.parametrize(
    "query",
    [{}, {"q": ""}, {"q": "  "}, {"q": "a", "k": 0}, {"q": "a", "k": 21}, {"q": "a", "k": "x"},
     {"q": "a" * 8_001}],
)  # fmt: skip
def test_search_wrong_question_is_refused_with_a_code(centre, client, query):
    response = client.get("/api/knowledge/search", query)
    assert response.status_code == 422
    assert set(response.json()) == {"code", "message"}


def test_search_unknown_shop_is_not_found(centre, client):
    response = client.get("/api/knowledge/search", {"q": "a", "shop": "nowhere"})
    assert (response.status_code, response.json()["code"]) == (404, "unknown_shop")


def test_article_opens_in_the_version_that_was_read(centre, client):
    centre.publish(NEW_WINDOW)
    old = client.get("/api/knowledge/articles/returns", {"version": 1}).json()
    assert (old["version"], old["stale"], old["current_version"]) == (1, True, 2)
    assert 'id="return-window"' in old["html"]
    new = client.get("/api/knowledge/articles/returns").json()
    assert (new["version"], new["stale"]) == (2, False)


def test_article_id_may_hold_a_folder(centre, client):
    centre.publish(article("customers/groups", "Groups of customers", "Put customers into groups."))
    assert client.get("/api/knowledge/articles/customers/groups").json()["title"] == (
        "Groups of customers"
    )


def test_article_missing_one_is_not_found(centre, client):
    response = client.get("/api/knowledge/articles/nothing")
    assert (response.status_code, response.json()["code"]) == (404, "article_not_found")


def test_page_shows_the_article_with_its_anchors(centre, client):
    response = client.get("/help/returns", {"shop": "shop"})
    page = response.content.decode()
    assert response.status_code == 200
    assert "<h1" in page
    assert 'id="return-window"' in page
    assert "Shop" in page
    assert "changed since" not in page
    assert "style=" not in page
    assert "<script" not in page


def test_page_of_an_old_version_says_so(centre, client):
    centre.publish(NEW_WINDOW)
    page = client.get("/help/returns", {"shop": "shop", "version": 1}).content.decode()
    assert "You are reading version 1; changed since." in page
    assert 'href="/help/returns?shop=shop"' in page
    assert "30 days" in page


def test_page_of_a_withdrawn_article_says_so(centre, client):
    centre.archive("returns")
    page = client.get("/help/returns", {"version": 1}).content.decode()
    assert "withdrawn since" in page
    assert client.get("/help/returns").status_code == 404


@pytest.mark.parametrize("version", ["x", "-1", "0", "9" * 30, "1;2", "٣"])
def test_page_of_a_wrong_version_is_not_found(centre, client, version):
    response = client.get("/help/returns", {"version": version})
    assert response.status_code == 404
    assert "cannot be shown" in response.content.decode()


def test_page_of_an_unknown_shop_is_not_found(centre, client):
    response = client.get("/help/returns", {"shop": "nowhere"})
    assert response.status_code == 404
    assert "no shop of this name" in response.content.decode()


def test_page_is_for_reading_only(centre, client):
    assert client.post("/help/returns").status_code in {403, 405}
