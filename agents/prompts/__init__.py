"""The prompts, as files that are reviewed like code. A run records the hash of each it used."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt's text, the version its author gave it and the SHA-256 of the whole file."""

    role: str
    version: str
    text: str
    sha256: str


@cache
def load_prompt(role: str) -> Prompt:
    """Return the prompt of a role from `<role>.md`, whose first line is `version: N`."""
    raw = (Path(__file__).parent / f"{role}.md").read_text(encoding="utf-8")
    first, _, text = raw.partition("\n")
    name, _, version = first.partition(":")
    if name != "version" or not version.strip():
        raise ValueError(f"{role}.md must begin with a line such as 'version: 1'")
    return Prompt(role, version.strip(), text.strip(), hashlib.sha256(raw.encode()).hexdigest())
