"""What one wish comes to: pieces of an answer, and what a person has to do."""

from __future__ import annotations

from dataclasses import dataclass, field

from agents.adapters.offline.handover import Need
from agents.adapters.offline.quotes import Quote


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of an answer. `kind` is facts, rules, talk or offer; rules carry what they quote."""

    text: str
    kind: str = "talk"
    source: Quote | None = None


@dataclass
class Served:
    """What one wish comes to. `sure` caps the confidence of the answer."""

    blocks: list[Block] = field(default_factory=list)
    needs: list[Need] = field(default_factory=list)
    sure: float = 1.0

    def say(self, text: str, kind: str = "talk") -> None:
        if text:
            self.blocks.append(Block(text, kind))

    def cite(self, quote: Quote | None, lead: str = "") -> None:
        if quote is not None and quote.text:
            text = f"{lead} {quote.text}" if lead else quote.text
            self.blocks.append(Block(text, "rules", quote))
