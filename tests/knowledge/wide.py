"""A second model for tests: the shipped fake on more axes, under another name."""

from __future__ import annotations

from knowledge.adapters.memory import HashEmbedder


class WideEmbedder(HashEmbedder):
    id = "wide-words/1"
    dims = 300
