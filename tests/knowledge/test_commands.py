"""The commands: one JSON document on stdout, an exit status, and one line on wrong use."""

from __future__ import annotations

import json

import pytest
from django.core.management import CommandError, call_command

from knowledge.models import KnowledgeIndex


@pytest.fixture(autouse=True)
def no_preparation(monkeypatch, settings):
    settings.DSUPPORT_TENANT = "shop"
    monkeypatch.setattr("dsupport.lib.commands.prepare_desk", lambda **_: None)


def run(capsys, *words):
    """Return the exit status of a command and the JSON it printed."""
    status = 0
    try:
        call_command(*words, "--json")
    except SystemExit as end:
        status = end.code
    return status, json.loads(capsys.readouterr().out)


def test_search_prints_hits_cutoff_and_band(centre, capsys):
    status, document = run(
        capsys, "search", "return window after delivery", "-k", "1", "--tenant", "shop"
    )
    assert (status, set(document)) == (0, {"hits", "cutoff", "answerable"})
    assert set(document["hits"][0]) == {"doc_id", "title", "heading", "version", "score", "snippet"}
    assert document["hits"][0]["doc_id"] == "returns"


def test_search_audience_chooses_public_or_internal(centre, capsys):
    words = ("search", "goodwill voucher gesture staff", "--tenant", "shop", "--audience")
    _, internal = run(capsys, *words, "internal")
    _, public = run(capsys, *words, "public")
    assert [hit["doc_id"] for hit in internal["hits"]] == ["goodwill"]
    assert "goodwill" not in [hit["doc_id"] for hit in public["hits"]]


def test_search_for_people_says_what_it_found(centre, capsys):
    call_command("search", "return window after delivery", "--tenant", "shop")
    assert "Returns · Return window" in capsys.readouterr().out
    call_command("search", "xylophone", "--tenant", "shop")
    assert "No article is about this." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("search", " ", "--tenant", "shop"), "empty_query"),
        (("search", "a", "--tenant", "nowhere"), "unknown_shop"),
        (("import_articles", "/nowhere", "--tenant", "shop"), "invalid_input"),
    ],
)
def test_wrong_use_is_one_line_and_status_two(centre, words, code):
    with pytest.raises(CommandError) as caught:
        call_command(*words)
    assert caught.value.returncode == 2
    assert str(caught.value).startswith(code)
    assert "\n" not in str(caught.value)


def test_import_prints_its_report_and_fails_on_refused_rows(centre, capsys, tmp_path):
    (tmp_path / "good.md").write_text("# Wool\n\nWash it by hand.")
    assert run(capsys, "import_articles", str(tmp_path), "--tenant", "shop") == (
        0, {"created": 1, "updated": 0, "unchanged": 0, "refused": []},
    )  # fmt: skip
    (tmp_path / "bad.md").write_text("nothing")
    status, report = run(capsys, "import_articles", str(tmp_path), "--tenant", "shop")
    assert (status, report["unchanged"]) == (1, 1)
    assert report["refused"] == [{"row": "bad.md", "reason": "title is missing"}]


def test_reindex_changes_the_model_then_only_measures(centre, capsys, settings):
    settings.DSUPPORT_EMBEDDER = "tests.knowledge.wide.WideEmbedder"
    assert run(capsys, "reindex") == (
        0, {"embedder": "wide-words/1", "shops": {"shop": "rebuilt"}},
    )  # fmt: skip
    assert KnowledgeIndex.objects.get().active_set.embedder_id == "wide-words/1"
    assert run(capsys, "reindex", "--tenant", "shop")[1]["shops"] == {"shop": "measured"}
