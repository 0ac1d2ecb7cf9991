"""Lengths of time in the fewest words that people need."""

from __future__ import annotations

from datetime import timedelta


def short_span(span: timedelta) -> str:
    """Return a span to the unit that matters, such as `40 s`, `12 min`, `5 h` or `3 d`."""
    seconds = max(0, int(span.total_seconds()))
    if seconds < 60:
        return f"{seconds} s"
    if seconds < 3_600:
        return f"{seconds // 60} min"
    return f"{seconds // 3_600} h" if seconds < 2 * 86_400 else f"{seconds // 86_400} d"
