"""What knowledge needs from outside: something that turns text into vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Embedder(Protocol):
    """A model that places texts so that close meanings have a small angle.

    `id` names model, file and tokeniser together: vectors are comparable when and only when
    their ids are equal, and reading it loads nothing. Vectors have unit length and `dims`
    numbers, and the vector of a text does not depend on the texts beside it. A text without a
    word raises `EmbeddingRefused`; trouble with the model itself raises `PortError`.
    """

    id: str
    dims: int

    def embed_queries(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one vector for each question."""
        ...

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one vector for each passage."""
        ...
