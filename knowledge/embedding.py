"""Getting vectors that can be trusted, from the model that made the ones beside them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from django.utils.module_loading import import_string

from dsupport.lib import wiring
from knowledge.errors import EmbedderMismatch
from knowledge.metered import for_shop
from knowledge.ports import Embedder
from knowledge.rules.scoring import check_vectors

# Models that can still be asked about the vectors they made after the setting has changed.
_SHIPPED = (
    "knowledge.adapters.minilm.MiniLM",
    "knowledge.adapters.memory.HashEmbedder",
    "knowledge.adapters.hosted.Voyage",
    "knowledge.adapters.hosted.OpenAICompatible",
)
_OFF_TOPIC: dict[str, list[list[float]]] = {}


def configured_embedder() -> Embedder:
    """Return the embedder that the settings name."""
    embedder: Embedder = wiring.load("DSUPPORT_EMBEDDER")
    return embedder


def get_embedder(embedder_id: str) -> Embedder:
    """Return the model of this id: the configured one, or a shipped one.

    While a shop is being embedded anew, searches still ask the model of the old vectors.
    """
    for embedder in (configured_embedder(), *_shipped()):
        if embedder.id == embedder_id:
            return embedder
    raise EmbedderMismatch(
        f"The vectors of this shop were made by {embedder_id}, which is not available here. "
        "Run `manage.py reindex` to make new ones."
    )


def embed_documents(
    embedder: Embedder, texts: Sequence[str], *, tenant_id: int
) -> list[list[float]]:
    """Return one checked unit vector for each passage; raise `EmbeddingRefused` otherwise.

    What a hosted model costs is booked on the shop, and none is asked whose budget is spent.
    """
    vectors = for_shop(embedder, tenant_id).embed_documents(texts) if texts else []
    check_vectors(vectors, count=len(texts), dims=embedder.dims)
    return vectors


def embed_query(embedder: Embedder, text: str, *, tenant_id: int) -> list[float]:
    """Return the checked unit vector of a question."""
    return embed_queries(embedder, [text], tenant_id=tenant_id)[0]


def embed_queries(embedder: Embedder, texts: Sequence[str], *, tenant_id: int) -> list[list[float]]:
    """Return one checked unit vector for each question."""
    vectors = for_shop(embedder, tenant_id).embed_queries(texts)
    check_vectors(vectors, count=len(texts), dims=embedder.dims)
    return vectors


@cache
def off_topic_questions() -> tuple[str, ...]:
    """Return the shipped questions that no help centre answers."""
    lines = Path(__file__).with_name("data").joinpath("off_topic.txt").read_text(encoding="utf-8")
    return tuple(line for line in lines.splitlines() if line and not line.startswith("#"))


def off_topic_vectors(embedder_id: str, *, tenant_id: int) -> Sequence[list[float]]:
    """Return the vectors of the off-topic questions, made once for each model and process.

    The shop that is first to need them pays for them.
    """
    if embedder_id not in _OFF_TOPIC:
        embedder = get_embedder(embedder_id)
        _OFF_TOPIC[embedder_id] = embed_queries(
            embedder, off_topic_questions(), tenant_id=tenant_id
        )
    return _OFF_TOPIC[embedder_id]


@cache
def _shipped() -> tuple[Embedder, ...]:
    return tuple(import_string(path)() for path in _SHIPPED)
