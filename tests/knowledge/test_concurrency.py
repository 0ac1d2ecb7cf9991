"""Searches while articles are being published see the old article or the new one, never a mix."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from threading import Barrier, Event

import pytest
from django.db import connections

from knowledge import services
from knowledge.models import ArticleVersion, Chunk, Embedding, KnowledgeIndex
from tests.conftest import NOW
from tests.knowledge.conftest import article, open_centre

PARTS = 6


def edition(number: int):
    """Return an edition whose every passage and question carries its number."""
    body = "\n\n".join(
        f"## Part {part}\n\n" + " ".join([f"lantern edition{number} part{part}"] * 20)
        for part in range(PARTS)
    )
    questions = [f"lantern question edition{number}"]
    return article("lantern", f"Lantern edition{number}", body, sample_questions=questions)


@pytest.fixture
def open_shop(committed_db):
    centre = open_centre(articles=(edition(1),))
    yield centre
    connections.close_all()


def in_thread(work):
    try:
        return work()
    finally:
        connections.close_all()


def test_search_during_publications_sees_whole_editions(open_shop):
    done = Event()

    def keep_searching():
        seen = []
        while not done.is_set() or not seen:
            found = open_shop.search("lantern part3").ranked
            seen.append([(hit.doc_id, hit.version, hit.title, hit.text) for hit in found])
        return seen

    def keep_publishing():
        try:
            for number in range(2, 8):
                open_shop.publish(edition(number))
        finally:
            done.set()

    with ThreadPoolExecutor(3) as pool:
        searches = [pool.submit(in_thread, keep_searching) for _ in range(2)]
        pool.submit(in_thread, keep_publishing).result(timeout=120)
        results = [seen for search in searches for seen in search.result(timeout=120)]
    assert {len(hits) for hits in results} == {1}
    for ((doc_id, version, title, text),) in results:
        assert (doc_id, title) == ("lantern", f"Lantern edition{version}")
        assert f"edition{version} " in text
        assert text.count("edition") == text.count(f"edition{version} ")
    assert open_shop.search("lantern part3").ranked[0].version == 7


def test_publications_at_once_are_taken_one_after_the_other(open_shop):
    start = Barrier(4)

    def publish(number):
        start.wait(timeout=60)
        return open_shop.publish(edition(number)).version

    with ThreadPoolExecutor(4) as pool:
        jobs = [pool.submit(in_thread, lambda n=n: publish(n)) for n in range(2, 6)]
        versions = sorted(job.result(timeout=120) for job in jobs)
    assert versions == [2, 3, 4, 5]
    rows = ArticleVersion.objects.for_tenant(open_shop.tenant.pk)
    assert rows.live().count() == 1
    ranges = sorted(rows.values_list("live_from", "live_until"), key=lambda pair: pair[0])
    assert all(ends == begins for (_, ends), (begins, _) in pairwise(ranges))


def test_workers_on_the_same_version_publish_it_once(open_shop):
    open_shop.edit(edition(2))
    version = ArticleVersion.objects.for_tenant(open_shop.tenant.pk).get(number=2)
    before = KnowledgeIndex.objects.get(tenant=open_shop.tenant).version
    start = Barrier(3)

    def index():
        start.wait(timeout=60)
        return services.index_version(version_id=version.pk, now=NOW).status

    with ThreadPoolExecutor(3) as pool:
        jobs = [pool.submit(in_thread, index) for _ in range(3)]
        statuses = sorted(job.result(timeout=120) for job in jobs)
    assert statuses.count("updated") == 1
    assert KnowledgeIndex.objects.get(tenant=open_shop.tenant).version == before + 1
    chunks = Chunk.objects.for_tenant(open_shop.tenant.pk).filter(version=version)
    assert Embedding.objects.filter(chunk__in=chunks).count() == chunks.count() == PARTS + 1


def test_first_publications_of_a_shop_at_once_share_one_set(committed_db):
    centre = open_centre(articles=())
    start = Barrier(3)

    def publish(number):
        start.wait(timeout=60)
        return centre.publish(replace(edition(number), doc_id=f"lantern-{number}")).status

    with ThreadPoolExecutor(3) as pool:
        jobs = [pool.submit(in_thread, lambda n=n: publish(n)) for n in range(3)]
        assert [job.result(timeout=120) for job in jobs] == ["created"] * 3
    assert set(Embedding.objects.values_list("set_id", flat=True)) == {
        KnowledgeIndex.objects.get(tenant=centre.tenant).active_set_id
    }
    assert len(centre.search("lantern part1").ranked) == 3
