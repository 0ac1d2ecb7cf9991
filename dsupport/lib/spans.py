"""Lengths of time in the fewest words that people need."""

from __future__ import annotations

from datetime import timedelta

NO_BREAK = "\N{NO-BREAK SPACE}"


def short_span(span: timedelta) -> str:
    """Return a span to the unit that matters, such as `40 s`, `12 min`, `5 h` or `3 d`.

    The figure and its unit stay on one line.
    """
    seconds = max(0, int(span.total_seconds()))
    if seconds < 60:
        return f"{seconds}{NO_BREAK}s"
    if seconds < 3_600:
        return f"{seconds // 60}{NO_BREAK}min"
    if seconds < 2 * 86_400:
        return f"{seconds // 3_600}{NO_BREAK}h"
    return f"{seconds // 86_400}{NO_BREAK}d"
