"""The database refuses vectors that mean nothing, and rows that cross shops or models."""

from __future__ import annotations

import math

import pytest
from django.db import DatabaseError, connection, transaction

from knowledge.models import (
    ArticleVersion,
    Chunk,
    Embedding,
    EmbeddingSet,
    KnowledgeIndex,
)
from tests.conftest import NOW
from tests.knowledge.conftest import open_centre


def one_hot(dims: int) -> list[float]:
    return [1.0] + [0.0] * (dims - 1)


@pytest.fixture
def bare_chunk(centre):
    """Give a live passage that has no vector, with the set that its vector belongs to."""
    chunk = Chunk.objects.for_tenant(centre.tenant.pk).live().filter(kind="passage").first()
    Embedding.objects.filter(chunk=chunk).delete()
    return chunk, EmbeddingSet.objects.get(tenant=centre.tenant)


def store(chunk, target, **changes):
    """Store a vector and check at once what the database would check at the commit."""
    fields = {"tenant_id": chunk.tenant_id, "dims": 256, "vector": one_hot(256), **changes}
    at_once(lambda: Embedding.objects.create(set=target, chunk=chunk, **fields))


def at_once(change):
    with transaction.atomic():
        change()
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")


def test_vector_of_the_set_is_stored(bare_chunk):
    store(*bare_chunk)
    with pytest.raises(DatabaseError, match="one_vector_per_chunk_and_set"):
        store(*bare_chunk)


@pytest.mark.parametrize(
    ("changes", "constraint"),
    [
        ({"vector": [0.0] * 256}, "vector_has_unit_length"),
        ({"vector": [0.5] * 256}, "vector_has_unit_length"),
        ({"vector": [math.nan] * 256}, "NaN"),
        ({"vector": [math.inf] + [0.0] * 255}, "infinite"),
        ({"vector": one_hot(384)}, "vector_has_its_dims"),
        ({"vector": one_hot(384), "dims": 384}, "vector_fits_its_set"),
        ({"vector": None}, "null value"),
    ],
)
def test_vector_that_means_nothing_is_refused(bare_chunk, changes, constraint):
    with pytest.raises(DatabaseError, match=constraint):
        store(*bare_chunk, **changes)


def test_vector_of_another_shop_is_refused(bare_chunk):
    chunk, target = bare_chunk
    other = open_centre("other")
    foreign = EmbeddingSet.objects.get(tenant=other.tenant)
    with pytest.raises(DatabaseError, match="vector_fits_its_set"):
        store(chunk, foreign)
    with pytest.raises(DatabaseError, match="vector_fits_its_set"):
        store(chunk, target, tenant_id=other.tenant.pk)
    with pytest.raises(DatabaseError, match="vector_in_shop_of_chunk"):
        store(chunk, foreign, tenant_id=other.tenant.pk)


def test_index_cannot_use_another_shops_vectors(centre):
    other = open_centre("other")
    foreign = EmbeddingSet.objects.get(tenant=other.tenant)
    use_foreign = KnowledgeIndex.objects.filter(tenant=centre.tenant).update
    with pytest.raises(DatabaseError, match="index_in_shop_of_set"):
        at_once(lambda: use_foreign(active_set=foreign))


def test_model_of_a_set_in_force_cannot_be_deleted(centre):
    in_force = EmbeddingSet.objects.filter(tenant=centre.tenant)
    with pytest.raises(DatabaseError):
        at_once(lambda: in_force._raw_delete("default"))


@pytest.mark.parametrize(
    ("changes", "constraint"),
    [
        ({"live_until": 0}, "live_range_runs_forward"),
        ({"audience": "all"}, "audience_is_known"),
        ({"state": "live"}, "version_state_is_known|live_versions_are_published"),
        ({"state": "draft"}, "live_versions_are_published"),
        ({"published_at": None}, "live_versions_are_published"),
    ],
)
def test_version_that_cannot_be_is_refused(centre, changes, constraint):
    with pytest.raises(DatabaseError, match=constraint), transaction.atomic():
        ArticleVersion.objects.filter(tenant=centre.tenant).update(**changes)


def test_article_has_one_live_version(centre):
    version = ArticleVersion.objects.for_tenant(centre.tenant.pk).first()
    version.pk, version.number = None, 9
    with pytest.raises(DatabaseError, match="one_live_version_per_article"), transaction.atomic():
        version.save(force_insert=True)


def test_published_at_is_kept_with_the_version(centre):
    published = ArticleVersion.objects.for_tenant(centre.tenant.pk).live()
    assert set(published.values_list("published_at", flat=True)) == {NOW}
