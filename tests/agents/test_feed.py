"""What leaves the desk for a customer: sources lead to what was read, and drafts stay inside."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agents.feed import for_customer
from knowledge import services
from tests.conftest import NOW
from tests.knowledge.conftest import ARTICLES

RETURNS = ARTICLES[0]


def publish(tenant, article) -> None:
    services.publish_article(
        tenant_id=tenant.pk, article=article, actor="editor", now=NOW, calibrate=False
    )


def shown_source(tenant) -> dict:
    source = {"doc_id": "returns", "title": "Returns", "heading": "Return window", "version": 1}
    (event,) = for_customer([{"type": "answer", "data": {"sources": [source]}}], tenant, now=NOW)
    return event["data"]["sources"][0]


def test_source_leads_to_the_version_that_was_read(tenant):
    publish(tenant, RETURNS)
    source = shown_source(tenant)
    assert source["url"] == "/help/returns?shop=shop&version=1#return-window"
    assert source["stale"] is False


@pytest.mark.parametrize("since", ["changed", "withdrawn"])
def test_source_says_that_its_article_is_no_longer_the_same(tenant, since):
    publish(tenant, RETURNS)
    if since == "changed":
        publish(tenant, replace(RETURNS, body=f"{RETURNS.body}\n\nOne more sentence."))
    else:
        services.archive_article(tenant_id=tenant.pk, doc_id="returns", actor="editor", now=NOW)
    source = shown_source(tenant)
    assert source["stale"] is True
    assert "version=1" in source["url"]


def test_drafts_and_the_words_of_a_refusal_stay_inside(tenant):
    data = {"approved": False, "codes": ["x"], "problems": ["secret"], "draft": {"answer": "€500"}}
    (event,) = for_customer([{"type": "review.finished", "data": data}], tenant, now=NOW)
    assert event["data"] == {"approved": False, "codes": ["x"]}
