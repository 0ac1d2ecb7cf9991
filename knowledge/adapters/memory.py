"""A deterministic embedder without a model: texts are close when they share words."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

from knowledge.errors import EmbeddingRefused
from knowledge.rules.words import find_stems


class HashEmbedder:
    """Hash the stems of a text, and each pair of neighbours, onto the axes of a small space."""

    id = "hashed-words/1"
    dims = 256

    def embed_queries(self, texts: Sequence[str]) -> list[list[float]]:
        return [self._embed(text) for text in texts]

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        return [self._embed(text) for text in texts]

    def _embed(self, text: str) -> list[float]:
        vector = [0.0] * self.dims
        for feature, weight in _features(text):
            number = int.from_bytes(hashlib.sha256(feature.encode()).digest()[:4])
            vector[number % self.dims] += weight if number & 0x8000_0000 else -weight
        length = math.sqrt(sum(value * value for value in vector))
        if not length:
            raise EmbeddingRefused("a text without a word has no meaning to compare")
        return [value / length for value in vector]


def _features(text: str) -> Iterator[tuple[str, float]]:
    """Yield words and, at less weight, pairs; a text of marks alone is taken by its characters."""
    stems = find_stems(text) or list(text.casefold().split())
    yield from ((stem, 1.0) for stem in stems)
    yield from ((f"{first} {second}", 0.5) for first, second in pairwise(stems))
