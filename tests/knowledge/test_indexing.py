"""The cut-off is measured; the model is switched beside the old vectors and in one step."""

from __future__ import annotations

import pytest
from django.db import connection

from knowledge import services
from knowledge.adapters.memory import HashEmbedder
from knowledge.checks import check_embedder
from knowledge.embedding import off_topic_questions
from knowledge.errors import EmbedderMismatch
from knowledge.models import Calibration, Chunk, Embedding, EmbeddingSet, KnowledgeIndex
from tests.conftest import NOW, make_tenant
from tests.knowledge.conftest import ARTICLES, article

WIDE = "tests.knowledge.wide.WideEmbedder"


def index_of(centre) -> KnowledgeIndex:
    return KnowledgeIndex.objects.select_related("active_set").get(tenant=centre.tenant)


def test_off_topic_questions_are_sixty_and_different():
    questions = off_topic_questions()
    assert len(questions) >= 60
    assert len({question.casefold() for question in questions}) == len(questions)


def test_calibration_keeps_what_it_measured(measured):
    kept = Calibration.objects.filter(tenant=measured.tenant).latest("pk")
    scores = [item["score"] for item in kept.null_scores]
    assert len(scores) == len(off_topic_questions())
    assert scores == sorted(scores, reverse=True)
    assert sum(score >= kept.floor for score in scores) <= len(scores) * 0.05 + 1
    assert (kept.embedder_id, kept.index_version) == (
        HashEmbedder.id,
        index_of(measured).version,
    )


def test_calibration_is_what_searches_go_by(measured):
    kept = Calibration.objects.filter(tenant=measured.tenant).latest("pk")
    found = measured.search("return window")
    assert (found.cutoff, found.high) == (kept.floor, kept.high)


def test_calibration_of_nothing_measures_nothing(db):
    tenant = make_tenant()
    assert services.calibrate(tenant_id=tenant.pk, now=NOW) is None


def test_search_before_calibration_uses_strict_lines(centre):
    found = centre.search("return window")
    assert (found.cutoff, found.high) == (0.5, 0.55)


def test_rebuild_with_same_model_does_nothing(centre):
    assert services.rebuild_index(centre.tenant.pk, now=NOW) is False
    assert EmbeddingSet.objects.count() == 1


def test_rebuild_with_another_model_changes_over_in_one_step(centre, settings):
    before = index_of(centre)
    settings.DSUPPORT_EMBEDDER = WIDE
    told = []
    assert services.rebuild_index(
        centre.tenant.pk, now=NOW, on_progress=lambda done, total: told.append((done, total))
    )
    after = index_of(centre)
    assert after.active_set.embedder_id == "wide-words/1"
    assert after.version == before.version + 1
    live = Chunk.objects.for_tenant(centre.tenant.pk).live().count()
    assert Embedding.objects.filter(set=after.active_set).count() == live
    assert told[-1] == (live, live)
    assert centre.ids("return window after delivery")[0] == "returns"
    assert Calibration.objects.latest("pk").embedder_id == "wide-words/1"


def test_search_between_setting_and_rebuild_asks_the_old_model(centre, settings):
    settings.DSUPPORT_EMBEDDER = WIDE
    found = centre.search("return window after delivery")
    assert found.ranked[0].doc_id == "returns"
    assert centre.publish(article("care", "Wool care", "Wash wool by hand.")).status == "created"
    assert set(Embedding.objects.values_list("set__embedder_id", flat=True)) == {HashEmbedder.id}


def test_search_with_vectors_of_an_unknown_model_is_refused(centre):
    EmbeddingSet.objects.update(embedder_id="somebody-elses/9")
    with pytest.raises(EmbedderMismatch):
        centre.search("return window")


def test_rebuild_article_published_meanwhile_is_in_the_new_set(centre, settings):
    settings.DSUPPORT_EMBEDDER = WIDE
    published = []

    def publish_once(done, total):
        if not published:
            published.append(centre.publish(article("care", "Wool care", "Wash wool by hand.")))

    services.rebuild_index(centre.tenant.pk, now=NOW, on_progress=publish_once)
    assert centre.ids("how do I wash wool")[0] == "care"


def test_rebuild_after_a_crash_goes_on_where_it_stopped(centre, settings):
    settings.DSUPPORT_EMBEDDER = WIDE

    def crash(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        services.rebuild_index(centre.tenant.pk, now=NOW, on_progress=crash)
    assert centre.search("return window after delivery").ranked[0].doc_id == "returns"
    kept = Embedding.objects.filter(set__embedder_id="wide-words/1").count()
    assert kept > 0
    services.rebuild_index(centre.tenant.pk, now=NOW)
    assert EmbeddingSet.objects.filter(embedder_id="wide-words/1").count() == 1
    assert index_of(centre).active_set.embedder_id == "wide-words/1"


def test_rebuild_touches_no_other_shop(centre, settings):
    other = make_tenant("other")
    services.publish_article(tenant_id=other.pk, article=ARTICLES[0], actor="editor", now=NOW)
    settings.DSUPPORT_EMBEDDER = WIDE
    services.rebuild_index(centre.tenant.pk, now=NOW)
    kept = KnowledgeIndex.objects.select_related("active_set").get(tenant=other)
    assert kept.active_set.embedder_id == HashEmbedder.id


def test_check_is_silent_while_models_agree(centre):
    assert check_embedder(databases=["default"]) == []


def test_check_without_databases_asks_none():
    assert check_embedder() == []


def test_check_complains_when_the_setting_names_another_model(centre, settings):
    settings.DSUPPORT_EMBEDDER = WIDE
    (found,) = check_embedder(databases=["default"])
    assert (found.id, "reindex" in found.hint) == ("knowledge.W001", True)
    EmbeddingSet.objects.update(embedder_id="somebody-elses/9")
    (found,) = check_embedder(databases=["default"])
    assert found.id == "knowledge.E002"


def test_check_complains_about_an_embedder_that_is_not_there(centre, settings):
    settings.DSUPPORT_EMBEDDER = "knowledge.adapters.nothing.Here"
    (found,) = check_embedder(databases=["default"])
    assert found.id == "knowledge.E001"


def test_tables_belong_to_the_owner_and_not_to_this_role(centre):
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_tables WHERE tablename LIKE 'knowledge%%' "
            "AND tableowner = current_user"
        )
        assert cursor.fetchone() == (0,)
