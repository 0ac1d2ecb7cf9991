"""What a scripted vendor does next, in words that belong to no vendor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Says:
    """A reply. `calls` are (tool, arguments); arguments as text are sent as they are.

    `stop` is one of `end`, `calls`, `length`, `refusal`, `pause`, `context`, `unknown`; without it,
    calls end with `calls` and words with `end`. `thinks` adds a block that only this model reads.
    """

    text: str = ""
    calls: tuple[tuple[str, Mapping[str, Any] | str], ...] = ()
    stop: str = ""
    thinks: str = ""
    prompt_tokens: int = 100
    output_tokens: int = 20
    cached_tokens: int = 0
    model: str = ""

    @property
    def ending(self) -> str:
        return self.stop or ("calls" if self.calls else "end")


@dataclass(frozen=True)
class Fault:
    """An HTTP error before anything was said, in the vendor's own envelope."""

    status: int
    kind: str = ""
    message: str = "scripted fault"
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Breaks:
    """A reply that begins with 200 and breaks after its words.

    `how`: `error` (an error inside the stream, of `kind`), `drop` (the connection closes), `clean`
    (the stream ends early as if whole), `noise` (a line that is no JSON), `hang` (nothing more).
    """

    how: str
    text: str = "Your refund "
    kind: str = "overloaded"


Step = Says | Fault | Breaks
