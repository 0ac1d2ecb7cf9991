"""Everything that is computed of an article before it may be stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from dsupport.lib.canonical import digest
from knowledge.embedding import embed_documents
from knowledge.models import ArticleVersion, Chunk, Embedding, EmbeddingSet
from knowledge.ports import Embedder
from knowledge.rules.articles import ArticleSource
from knowledge.rules.chunking import split_article, with_context
from knowledge.rules.words import find_identifiers, find_stems


@dataclass(frozen=True, slots=True)
class Piece:
    """A chunk that is not stored yet."""

    kind: str
    ordinal: int
    heading: str
    anchor: str
    text: str
    indexed_text: str


@dataclass(frozen=True, slots=True)
class Prepared:
    """The pieces of an article with the vectors that one model made of them."""

    pieces: Sequence[Piece]
    vectors: Sequence[Sequence[float]]
    embedder_id: str
    dims: int


def hash_article(article: ArticleSource) -> str:
    """Return the hash of all that an author can change."""
    return digest("article/1", asdict(article))


def source_of(version: ArticleVersion, doc_id: str) -> ArticleSource:
    """Return a stored version as its author wrote it."""
    return ArticleSource(
        doc_id=doc_id,
        title=version.title,
        body=version.body,
        topic=version.topic,
        language=version.language,
        audience=version.audience,
        effective_from=version.effective_from,
        effective_until=version.effective_until,
        sample_questions=tuple(version.sample_questions),
    )


def prepare(article: ArticleSource, embedder: Embedder, *, tenant_id: int) -> Prepared:
    """Cut an article into pieces and embed them. Slow; never inside a transaction."""
    pieces = [
        Piece(
            Chunk.Kind.PASSAGE, passage.ordinal, passage.heading, passage.anchor, passage.text,
            with_context(article.title, passage.heading, passage.text),
        )
        for passage in split_article(article.title, article.body)
    ] or [_title_alone(article)]  # fmt: skip
    pieces += [
        Piece(Chunk.Kind.QUESTION, ordinal, "", "", question, question)
        for ordinal, question in enumerate(article.sample_questions)
    ]
    vectors = embed_documents(
        embedder, [piece.indexed_text for piece in pieces], tenant_id=tenant_id
    )
    return Prepared(pieces, vectors, embedder.id, embedder.dims)


def store_chunks(version: ArticleVersion, prepared: Prepared, target: EmbeddingSet) -> None:
    """Store the pieces of a version with their vectors, within the caller's transaction."""
    chunks = Chunk.objects.bulk_create(
        Chunk(
            tenant_id=version.tenant_id,
            version=version,
            kind=piece.kind,
            ordinal=piece.ordinal,
            heading=piece.heading[:400],
            anchor=piece.anchor[:400],
            text=piece.text,
            indexed_text=piece.indexed_text,
            stems=find_stems(piece.indexed_text, version.language),
            identifiers=find_identifiers(piece.indexed_text),
        )
        for piece in prepared.pieces
    )
    Embedding.objects.bulk_create(
        Embedding(
            tenant_id=version.tenant_id,
            set=target,
            chunk=chunk,
            dims=prepared.dims,
            vector=vector,
        )
        for chunk, vector in zip(chunks, prepared.vectors, strict=True)
    )


def _title_alone(article: ArticleSource) -> Piece:
    """Return the one piece of an article whose text is nothing but marks, such as a rule."""
    return Piece(Chunk.Kind.PASSAGE, 0, "", "", article.title, article.title)
