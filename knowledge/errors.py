"""What knowledge refuses, and why."""

from __future__ import annotations

from dsupport.contract.errors import Conflict, Forbidden, InvalidInput, NotFound


class ArticleRefused(InvalidInput):
    """An article that cannot be stored as it is; the message names the field."""

    code = "article_refused"


class EmbeddingRefused(InvalidInput):
    """A vector that would make every comparison meaningless: zero, NaN or of the wrong size."""

    code = "embedding_refused"


class EmbedderMismatch(Conflict):
    """The stored vectors come from a model that is not available here."""

    code = "embedder_mismatch"


class InternalNeedsStaff(Forbidden):
    code = "internal_needs_staff"


class EmptyQuery(InvalidInput):
    code = "empty_query"


class ArticleNotFound(NotFound):
    code = "article_not_found"


class TraceNotFound(NotFound):
    code = "trace_not_found"


class VersionNotWaiting(Conflict):
    """A version that cannot be indexed from the state it is in."""

    code = "version_not_waiting"
