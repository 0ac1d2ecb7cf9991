"""What knowledge needs from outside: something that turns text into vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, Self, runtime_checkable


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


@dataclass(frozen=True, slots=True)
class Attempted:
    """One attempt at a hosted model. `code` is empty when it brought vectors.

    `tokens` are the service's own count, or an estimate where it told none; `cost` is in millionths
    of a dollar. A failed attempt may have been carried out and billed all the same.
    """

    embedder_id: str
    purpose: str  # query or document
    texts: int
    tokens: int
    cost: int
    code: str
    ms: int


@runtime_checkable
class Billed(Protocol):
    """An embedder that asks somebody else over a network, who may want money for it."""

    def billed(self, book: Callable[[Attempted], None]) -> Self:
        """Return the same model, whose attempts are told to `book`, failed ones too."""
        ...

    def problems(self) -> list[str]:
        """Return what keeps the model from being asked, or from being counted; in words."""
        ...
