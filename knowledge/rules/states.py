"""Which state may follow which, for articles and for their versions."""

from __future__ import annotations

from collections.abc import Mapping

# What readers may see of an article.
ARTICLE_TRANSITIONS: Mapping[str, frozenset[str]] = {
    "draft": frozenset({"published", "archived"}),
    "published": frozenset({"draft", "archived"}),
    "archived": frozenset({"draft", "published"}),
}

# How far a version has come. A published version stays published: whether it is still the one
# that searches see is told by its live range.
VERSION_TRANSITIONS: Mapping[str, frozenset[str]] = {
    "draft": frozenset({"queued", "superseded"}),
    "queued": frozenset({"published", "failed", "superseded"}),
    "failed": frozenset({"queued", "superseded"}),
    "published": frozenset(),
    "superseded": frozenset(),
}


def before(target: str) -> list[str]:
    """Return the states from which a version may enter a state."""
    return sorted(state for state, nexts in VERSION_TRANSITIONS.items() if target in nexts)
