"""The console shows a shop's articles and searches to its staff, and changes nothing."""

from __future__ import annotations

import pytest
from django.contrib.auth import get_user_model
from django.urls import reverse

from dsupport.models import Membership
from knowledge.models import Article, ArticleVersion, Calibration, RetrievalTrace
from tests.knowledge.conftest import article, open_centre


@pytest.fixture
def editor(centre, client):
    user = get_user_model().objects.create_user("ed", password="x", is_staff=True)
    Membership.objects.create(tenant=centre.tenant, user=user, role="editor")
    client.force_login(user)
    return client


def address(row, page="change"):
    return reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_{page}", args=[row.pk])


def trace_of(centre, query="return window after delivery"):
    return RetrievalTrace.objects.get(pk=centre.search(query).trace_id)


@pytest.mark.parametrize(
    "model", ["article", "articleversion", "retrievaltrace", "calibration", "knowledgeindex"]
)
def test_lists_open_for_the_shops_staff(measured, editor, model):
    trace_of(measured)
    response = editor.get(reverse(f"admin:knowledge_{model}_changelist"))
    assert response.status_code == 200
    assert (
        editor.get(reverse(f"admin:knowledge_{model}_changelist"), {"q": "ret"}).status_code == 200
    )


def test_article_page_shows_text_and_versions_as_text(centre, editor):
    centre.publish(
        article("evil", "Evil", "<script>alert(1)</script>\n\n![x](https://evil.example/)")
    )
    for row in (Article.objects.get(doc_id="evil"), ArticleVersion.objects.get(title="Evil")):
        page = editor.get(address(row)).content.decode()
        assert "&lt;script&gt;alert(1)" in page
        assert "<script>alert(1)" not in page
        assert "https://evil.example" not in page.replace("![x](https://evil.example/)", "")


def test_search_page_shows_scores_filters_and_band(centre, editor):
    trace = trace_of(centre, "<b>return</b> window after delivery")
    page = editor.get(address(trace)).content.decode()
    assert "Return window" in page
    assert f"{trace.hits[0]['score']:.3f}" in page
    assert "public" in page
    assert "<b>return</b>" not in page
    assert reverse("admin:knowledge_retrievaltrace_replay", args=[trace.pk]) in page


def test_replay_page_says_whether_it_is_equal(centre, editor):
    trace = trace_of(centre)
    again = reverse("admin:knowledge_retrievaltrace_replay", args=[trace.pk])
    assert "Equal: the search finds the same" in editor.get(again).content.decode()
    RetrievalTrace.objects.filter(pk=trace.pk).update(hits=[])
    assert "Not equal" in editor.get(again).content.decode()


def test_calibration_page_shows_the_nearest_noise(measured, editor):
    kept = Calibration.objects.get(tenant=measured.tenant)
    page = editor.get(address(kept)).content.decode()
    assert kept.null_scores[0]["question"] in page


def test_other_shops_rows_are_not_found(centre, editor):
    other = open_centre("other")
    trace = trace_of(other)
    rows = [trace]
    for model in (Article, ArticleVersion):
        rows += model.objects.filter(tenant=other.tenant)
    for row in rows:
        assert editor.get(address(row), follow=True).redirect_chain
    again = reverse("admin:knowledge_retrievaltrace_replay", args=[trace.pk])
    assert editor.get(again).status_code == 404
    listed = editor.get(reverse("admin:knowledge_article_changelist")).content.decode()
    assert listed.count("returns") >= 1
    assert f"/{rows[1].pk}/change/" not in listed


def test_staff_without_a_shop_sees_nothing(centre, client):
    client.force_login(get_user_model().objects.create_user("nobody", password="x", is_staff=True))
    trace = trace_of(centre)
    for page in (
        reverse("admin:knowledge_article_changelist"),
        address(trace),
        reverse("admin:knowledge_retrievaltrace_replay", args=[trace.pk]),
    ):
        assert client.get(page).status_code == 403


def test_nothing_can_be_added_changed_or_deleted(centre, editor):
    row = Article.objects.get(doc_id="returns")
    assert editor.get(reverse("admin:knowledge_article_add")).status_code == 403
    assert editor.post(address(row), {"doc_id": "changed"}).status_code == 403
    assert editor.post(address(row, "delete"), {"post": "yes"}).status_code == 403
    row.refresh_from_db()
    assert row.doc_id == "returns"
