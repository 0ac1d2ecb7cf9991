"""Many articles from files: told row by row, and the same again changes nothing."""

from __future__ import annotations

import json

import pytest

from dsupport.contract.errors import InvalidInput
from knowledge import services
from knowledge.models import Article, ArticleVersion, Calibration, KnowledgeIndex
from tests.conftest import NOW, make_tenant
from tests.knowledge.conftest import HelpCentre


@pytest.fixture
def shop(db):
    return HelpCentre(make_tenant())


def load(shop, path, **fields):
    return services.import_articles(
        tenant_id=shop.tenant.pk, path=path, actor="importer", now=NOW, **fields
    )


@pytest.fixture
def folder(tmp_path):
    files = {
        "returns.md": "---\ntitle: Returns\n---\n## Window\n\nReturn it within thirty days.",
        "care/wool.md": "# Wool care\n\nWash wool by hand in cold water.",
        "broken.md": "---\ntitle: Broken\naudence: internal\n---\nSecret.",
        "binary.md": b"\xff\xfe\x00",
        "draft.md": "---\ntitle: Plans\nstatus: draft\n---\nNot yet.",
        "twice.md": "---\ntitle: Again\nid: returns\n---\nThe same id.",
        "notes.txt": "not an article",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return tmp_path


def test_folder_is_imported_and_broken_files_are_told(shop, folder):
    report = load(shop, folder)
    assert {name: report[name] for name in ("created", "updated", "unchanged")} == {
        "created": 3, "updated": 0, "unchanged": 0,
    }  # fmt: skip
    reasons = {item["row"]: item["reason"] for item in report["refused"]}
    assert set(reasons) == {"broken.md", "binary.md", "twice.md"}
    assert "audence" in reasons["broken.md"]
    assert "UTF-8" in reasons["binary.md"]
    assert "returns.md" in reasons["twice.md"]
    assert set(Article.objects.values_list("doc_id", "status")) == {
        ("returns", "published"), ("care/wool", "published"), ("draft", "draft"),
    }  # fmt: skip
    assert Calibration.objects.filter(tenant=shop.tenant).count() == 1
    assert shop.ids("how do I wash wool")[0] == "care/wool"


def test_folder_again_changes_nothing(shop, folder):
    load(shop, folder)
    before = KnowledgeIndex.objects.get(tenant=shop.tenant).version
    report = load(shop, folder)
    assert (report["created"], report["updated"], report["unchanged"]) == (0, 0, 3)
    assert KnowledgeIndex.objects.get(tenant=shop.tenant).version == before
    assert Calibration.objects.count() == 1


def test_folder_changed_file_is_updated_and_told(shop, folder):
    load(shop, folder)
    (folder / "returns.md").write_text("---\ntitle: Returns\n---\nWithin sixty days.")
    told = []
    report = load(shop, folder, on_progress=lambda done, total: told.append((done, total)))
    assert (report["updated"], report["unchanged"]) == (1, 2)
    assert told == [(number, 6) for number in range(1, 7)]
    version = ArticleVersion.objects.for_tenant(shop.tenant.pk).live()
    assert version.get(article__doc_id="returns").created_by == "importer"


def test_folder_after_an_import_that_was_cut_short_is_measured(shop, folder):
    def crash(done, total):
        if done == total:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        load(shop, folder, on_progress=crash)
    assert not Calibration.objects.exists()
    assert load(shop, folder)["unchanged"] == 3
    assert Calibration.objects.count() == 1


@pytest.mark.parametrize("whole_folder", [True, False])
def test_json_lines_are_imported_with_their_line_numbers(shop, tmp_path, whole_folder):
    rows = [
        {"id": "a/1", "title": "Returns", "text": "Return it within thirty days."},
        {"id": "b", "title": "Internal: fraud", "content": "Look at the address."},
        {"id": "c", "title": "No text"},
    ]
    path = tmp_path / "articles.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows) + "\n\n{broken\n")
    report = load(shop, tmp_path if whole_folder else path)
    assert report["created"] == 2
    assert [item["row"] for item in report["refused"]] == ["articles.jsonl:3", "articles.jsonl:5"]
    assert ArticleVersion.objects.get(article__doc_id="b").audience == "internal"


def test_one_markdown_file_is_imported(shop, folder):
    assert load(shop, folder / "returns.md")["created"] == 1


@pytest.mark.parametrize("name", ["nowhere", "nowhere.jsonl", ""])
def test_path_without_articles_is_refused(shop, tmp_path, name):
    with pytest.raises(InvalidInput):
        load(shop, tmp_path / name)
