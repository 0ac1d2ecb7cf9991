"""Publishing changes a version in one step, once, and leaves a record."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from dsupport.contract.errors import PortError
from knowledge import services, tasks
from knowledge.adapters.memory import HashEmbedder
from knowledge.errors import ArticleNotFound, ArticleRefused, EmbeddingRefused
from knowledge.models import Article, ArticleVersion, Chunk, Embedding, KnowledgeIndex
from tests.conftest import NOW
from tests.knowledge.conftest import ARTICLES, article

NEW_WINDOW = replace(ARTICLES[0], body=ARTICLES[0].body.replace("30 days", "60 days"))


def version_of(centre, doc_id="returns", number=None):
    rows = ArticleVersion.objects.for_tenant(centre.tenant.pk).filter(article__doc_id=doc_id)
    return rows.get(number=number) if number else rows.order_by("-number").first()


def test_publish_new_article_is_found_and_recorded(centre):
    outcome = centre.publish(article("care", "Wool care", "Wash wool by hand in cold water only."))
    assert (outcome.status, outcome.version) == ("created", 1)
    assert centre.ids("how do I wash wool")[0] == "care"
    version = version_of(centre, "care")
    assert (version.state, version.published_by, version.published_at) == (
        "published",
        "editor",
        NOW,
    )
    assert (version.embedder_id, version.passages) == (HashEmbedder.id, 1)
    assert version.live_from == KnowledgeIndex.objects.get(tenant=centre.tenant).version


def test_publish_same_again_changes_nothing(centre):
    before = KnowledgeIndex.objects.get(tenant=centre.tenant).version
    assert centre.publish(ARTICLES[0]).status == "unchanged"
    assert KnowledgeIndex.objects.get(tenant=centre.tenant).version == before
    assert ArticleVersion.objects.filter(article__doc_id="returns").count() == 1


def test_publish_changed_article_replaces_what_is_searched(centre):
    outcome = centre.publish(NEW_WINDOW)
    assert (outcome.status, outcome.version) == ("updated", 2)
    hit = centre.search("return window after delivery").ranked[0]
    assert (hit.version, "60 days" in hit.text) == (2, True)
    old, new = version_of(centre, number=1), version_of(centre, number=2)
    assert old.live_until == new.live_from
    assert (old.withdrawn_by, old.withdrawn_at) == ("editor", NOW)
    assert Article.objects.get(doc_id="returns").current_id == new.pk


def test_publish_old_version_keeps_its_words(centre):
    centre.publish(NEW_WINDOW)
    assert "30 days" in version_of(centre, number=1).body
    assert Chunk.objects.filter(version__number=1, version__article__doc_id="returns").exists()


@pytest.mark.parametrize("field", ["title", "audience", "sample_questions", "language"])
def test_publish_any_field_makes_a_new_version(centre, field):
    value = {"sample_questions": ("how?",), "audience": "internal", "language": "de"}
    changed = replace(ARTICLES[0], **{field: value.get(field, "Another title")})
    assert centre.publish(changed).version == 2


def test_publish_refused_vectors_store_nothing(centre, settings, monkeypatch):
    monkeypatch.setattr(HashEmbedder, "_embed", lambda self, text: [0.0] * 256)
    with pytest.raises(EmbeddingRefused):
        centre.publish(NEW_WINDOW)
    assert version_of(centre).number == 1
    assert Embedding.objects.filter(tenant=centre.tenant).count() == (
        Chunk.objects.filter(tenant=centre.tenant).count()
    )


def test_publish_unchecked_article_is_refused(centre):
    with pytest.raises(ArticleRefused):
        centre.publish(replace(ARTICLES[0], audience="everyone"))


def test_publish_article_of_marks_is_found_by_its_title(centre):
    centre.publish(article("rule", "Loyalty points", "---"))
    assert centre.ids("loyalty points")[0] == "rule"


def test_edit_waits_for_a_worker_and_keeps_the_old_one(centre, django_capture_on_commit_callbacks):
    outcome = centre.edit(NEW_WINDOW)
    assert (outcome.status, version_of(centre).state) == ("queued", "queued")
    assert centre.search("return window after delivery").ranked[0].version == 1
    assert services.index_version(version_id=version_of(centre).pk, now=NOW).status == "updated"
    assert centre.search("return window after delivery").ranked[0].version == 2


def test_edit_first_version_of_an_article_is_created_by_the_worker(centre):
    centre.edit(article("care", "Wool care", "Wash wool by hand in cold water only."))
    assert "care" not in centre.ids("how do I wash wool")
    assert (
        services.index_version(version_id=version_of(centre, "care").pk, now=NOW).status
        == "created"
    )
    assert centre.ids("how do I wash wool")[0] == "care"


def test_edit_same_again_queues_nothing(centre):
    centre.edit(NEW_WINDOW)
    assert centre.edit(NEW_WINDOW).status == "queued" or version_of(centre).number == 2
    assert version_of(centre).number == 2


def test_edit_newer_one_overtakes_a_waiting_one(centre):
    centre.edit(NEW_WINDOW)
    newest = replace(NEW_WINDOW, title="Sending back")
    centre.edit(newest)
    outcome = services.index_version(version_id=version_of(centre, number=2).pk, now=NOW)
    assert (outcome.status, version_of(centre, number=2).state) == ("superseded", "superseded")
    services.index_version(version_id=version_of(centre, number=3).pk, now=NOW)
    assert centre.search("sending back").ranked[0].version == 3


def test_index_version_twice_publishes_once(centre):
    centre.edit(NEW_WINDOW)
    waiting = version_of(centre)
    services.index_version(version_id=waiting.pk, now=NOW)
    before = KnowledgeIndex.objects.get(tenant=centre.tenant).version
    assert services.index_version(version_id=waiting.pk, now=NOW).status == "published"
    assert KnowledgeIndex.objects.get(tenant=centre.tenant).version == before


def test_index_article_task_failing_three_times_gives_up(centre, monkeypatch):
    centre.edit(NEW_WINDOW)
    waiting = version_of(centre)

    def broken(self, text):
        raise PortError("the model is away", retryable=True)

    monkeypatch.setattr(HashEmbedder, "_embed", broken)
    for _ in range(3):
        with pytest.raises(PortError):
            tasks.index_article(version_id=waiting.pk)
    waiting.refresh_from_db()
    assert (waiting.state, waiting.attempts, waiting.error) == ("failed", 3, "the model is away")


def test_edit_again_after_failure_is_a_new_attempt(centre):
    centre.edit(NEW_WINDOW)
    for _ in range(3):
        services.note_failure(version_id=version_of(centre).pk, error="away", now=NOW)
    assert version_of(centre).state == "failed"
    assert (centre.edit(NEW_WINDOW).status, version_of(centre).number) == ("queued", 3)


def test_sweep_sends_again_what_waited_for_a_minute(centre, monkeypatch):
    sent = []
    monkeypatch.setattr(
        "knowledge.services.publishing.enqueue", lambda task, **ids: sent.append((task, ids))
    )
    centre.edit(NEW_WINDOW)
    sent.clear()
    assert services.sweep_waiting(now=NOW + timedelta(seconds=59)) == 0
    late = NOW + timedelta(seconds=61)
    assert services.sweep_waiting(now=late) == 1
    assert sent == [("knowledge.index_article", {"version_id": version_of(centre).pk})]
    assert services.sweep_waiting(now=late) == 0


def test_archive_takes_article_out_of_search_at_once(centre):
    centre.archive("returns")
    assert "returns" not in centre.ids("return window after delivery")
    assert Article.objects.get(doc_id="returns").status == "archived"


def test_archive_unknown_article_is_refused(centre):
    with pytest.raises(ArticleNotFound):
        centre.archive("nothing")


def test_archive_then_publish_again_brings_it_back(centre):
    centre.archive("returns")
    assert centre.publish(ARTICLES[0]).status == "updated"
    assert "returns" in centre.ids("return window after delivery")


def test_draft_of_published_article_withdraws_it(centre):
    draft = replace(ARTICLES[0], status="draft")
    outcome = services.store_draft(
        tenant_id=centre.tenant.pk, article=draft, actor="editor", now=NOW
    )
    assert outcome.status == "updated"
    assert "returns" not in centre.ids("return window after delivery")
    again = services.store_draft(tenant_id=centre.tenant.pk, article=draft, actor="editor", now=NOW)
    assert again.status == "unchanged"
