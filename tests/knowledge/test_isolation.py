"""Nothing crosses shops, audiences or dates, by any path that reads passages."""

from __future__ import annotations

import ast
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from django.test import Client

from dsupport.contract.principal import Principal, Proof
from dsupport.contract.tools import ToolContext
from dsupport.lib import clock
from knowledge import services
from knowledge.errors import ArticleNotFound, InternalNeedsStaff, TraceNotFound
from knowledge.models import Article, ArticleVersion, Chunk, Embedding, RetrievalTrace
from knowledge.reading import read_article
from knowledge.search import mark_cited, replay
from knowledge.tools import TOOLS, SearchKbArguments
from tests.conftest import NOW
from tests.knowledge.conftest import article, open_centre

ROOT = Path(__file__).resolve().parents[2]
CANARY = "ZEBRA-77"
QUESTIONS = ("ZEBRA-77", "zebra 77", "the secret word of the handbook", "goodwill voucher gesture")

PEOPLE = {
    "anonymous": {},
    "customer": {"proof": Proof.LOGIN, "customer_id": 5},
    "guest": {"proof": Proof.ORDER, "proved_orders": frozenset({5})},
    "program": {"proof": Proof.KEY, "visitor": "key:1"},
}


@pytest.fixture(params=PEOPLE)
def asker(request, centre):
    return Principal(tenant_id=centre.tenant.pk, **PEOPLE[request.param])


def secret(doc_id="hidden", **fields):
    body = f"The secret word of the handbook is {CANARY}. Goodwill voucher gesture."
    return article(doc_id, "Handbook", body, **fields)


def all_that_leaves(centre, asker) -> str:
    """Return everything that every way of searching and reading gives an asker."""
    said = []
    tool = TOOLS[0]
    for question in QUESTIONS:
        found = centre.search(question, principal=asker, k=20)
        said += [repr(found), str(RetrievalTrace.objects.get(pk=found.trace_id).hits)]
        followed = centre.search("and what about that?", principal=asker, history=(question,))
        said.append(repr(followed.ranked))
        said.append(repr(tool.body(SearchKbArguments(query=question), context_of(asker))))
    for question in QUESTIONS[:2]:
        page = Client().get("/api/knowledge/search", {"q": question, "k": 20, "shop": "shop"})
        said.append(page.content.decode())
    for doc_id in ("hidden", "goodwill", "foreign"):
        for version in ("", "?version=1", "?version=2"):
            for address in (f"/api/knowledge/articles/{doc_id}", f"/help/{doc_id}"):
                said.append(Client().get(address + version).content.decode())
    return "".join(said).replace("'query'", "")


def context_of(asker):
    return ToolContext(principal=asker, now=NOW, key="k")


def leaks(text: str) -> bool:
    # The asker's own question may be repeated; the sentence around the canary may not.
    return f"is {CANARY}" in text


@pytest.fixture(autouse=True)
def default_shop(settings):
    settings.DSUPPORT_TENANT = "shop"
    with clock.frozen(NOW):
        yield


def test_canary_itself_is_found_where_it_may_be(centre):
    found = centre.search("ZEBRA-77", principal=centre.staff, audience=("internal",))
    assert leaks(repr(found.hits))


def test_internal_articles_reach_no_customer(centre, asker):
    assert not leaks(all_that_leaves(centre, asker))


def test_other_shops_articles_reach_nobody(centre, asker):
    other = open_centre("other", articles=(secret("foreign"),))
    assert leaks(repr(other.search("ZEBRA-77").ranked))
    assert not leaks(all_that_leaves(centre, asker))
    for person in (asker, centre.staff):
        found = centre.search("ZEBRA-77", principal=person)
        assert "foreign" not in {hit.doc_id for hit in found.ranked}


@pytest.mark.parametrize(
    "fields",
    [
        {"status": "draft"},
        {"effective_from": "2026-10-16"},
    ],
)
def test_articles_that_are_not_out_yet_reach_nobody(centre, fields):
    source = secret(**fields)
    if source.status == "draft":
        services.store_draft(tenant_id=centre.tenant.pk, article=source, actor="e", now=NOW)
    else:
        centre.publish(source)
    assert not leaks(all_that_leaves(centre, centre.guest))
    assert "hidden" not in centre.ids("ZEBRA-77", principal=centre.staff)


def test_waiting_version_reaches_nobody(centre):
    centre.edit(secret())
    assert not leaks(all_that_leaves(centre, centre.guest))


def test_expired_article_is_not_found_any_more(centre):
    centre.publish(secret(effective_until="2026-10-15"))
    assert "hidden" in centre.ids("ZEBRA-77")
    assert "hidden" not in centre.ids("ZEBRA-77", now=NOW + timedelta(days=1))


def test_article_made_internal_takes_its_public_past_along(centre):
    centre.publish(secret())
    centre.publish(secret(audience="internal"))
    assert not leaks(all_that_leaves(centre, centre.guest))


def test_article_back_in_draft_takes_its_public_past_along(centre):
    centre.publish(secret())
    draft = replace(secret(), status="draft")
    services.store_draft(tenant_id=centre.tenant.pk, article=draft, actor="e", now=NOW)
    assert not leaks(all_that_leaves(centre, centre.guest))


def test_internal_search_without_staff_is_refused(centre, asker):
    with pytest.raises(InternalNeedsStaff):
        centre.search("goodwill", principal=asker, audience=("public", "internal"))


def test_querysets_give_no_internal_or_foreign_row(centre, asker):
    other = open_centre("other", articles=(secret("foreign"),))
    for model, path in (
        (ArticleVersion, ""),
        (Chunk, "version__"),
        (Embedding, "chunk__version__"),
    ):
        rows = model.objects.for_principal(asker)
        assert rows.exists()
        assert not rows.filter(**{f"{path}audience": "internal"}).exists()
        assert not rows.filter(tenant=other.tenant).exists()
        assert (
            model.objects.for_principal(centre.staff)
            .filter(**{f"{path}audience": "internal"})
            .exists()
        )
    assert set(Article.objects.for_principal(asker).values_list("doc_id", flat=True)) == {
        "returns", "shipping",
    }  # fmt: skip


def test_traces_are_for_the_shops_staff_alone(centre):
    found = centre.search("return window", principal=centre.guest, run_id="r1")
    stranger = Principal(tenant_id=open_centre("other").tenant.pk, proof=Proof.STAFF, staff_id=1)
    for person in (centre.guest, stranger):
        assert not RetrievalTrace.objects.for_principal(person).exists()
        with pytest.raises(TraceNotFound):
            replay(found.trace_id, principal=person)
    assert mark_cited(principal=stranger, run_id="r1", cited=[("returns", "")]) == 0


def test_missing_and_hidden_articles_are_refused_in_the_same_words(centre):
    messages = set()
    for doc_id in ("goodwill", "no-such-article"):
        with pytest.raises(ArticleNotFound) as caught:
            read_article(principal=centre.guest, doc_id=doc_id, now=NOW)
        messages.add((caught.value.code, caught.value.message, caught.value.status))
    assert len(messages) == 1


_SCOPED = {"for_principal", "for_tenant", "bulk_create"}
_TABLES = {"Chunk", "Embedding"}


def unscoped_reads(source: str) -> list[str]:
    """Return the uses of a passage table's manager that do not begin with a scope."""
    tree = ast.parse(source)
    allowed = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr in _SCOPED
    }
    return [
        f"line {node.lineno}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and node.attr in {"objects", "_default_manager", "_base_manager"}
        and isinstance(node.value, ast.Name)
        and node.value.id in _TABLES
        and id(node) not in allowed
    ]


def test_every_read_of_passages_begins_with_a_scope():
    files = [
        path
        for room in ("knowledge", "agents", "evals", "dsupport")
        for path in (ROOT / room).rglob("*.py")
    ]
    assert len(files) > 30
    breaches = {str(path): unscoped_reads(path.read_text()) for path in files}
    assert {path: lines for path, lines in breaches.items() if lines} == {}


def test_planted_read_without_a_scope_is_found():
    planted = (
        "rows = Chunk.objects.filter(pk=1)\nfine = Chunk.objects.for_principal(p).filter(pk=1)"
    )
    assert unscoped_reads(planted) == ["line 1"]
