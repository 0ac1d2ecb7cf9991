"""From what was served to a final answer, and to a safer one after a refusal."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from agents.adapters.offline import phrases
from agents.adapters.offline.asks import Ask
from agents.adapters.offline.handover import tell_ticket
from agents.adapters.offline.served import Block, Served
from agents.adapters.offline.words import sentences
from agents.adapters.offline.workbench import Workbench

_LIMIT = 5_500
_QUOTED = re.compile(r"['‘“\"]([^'’”\"\n]{2,120})['’”\"]")
_ABOUT_SOURCES = re.compile(
    r"\b(?:source|cite|cited|article|retrieved|passage|evidence)\b", re.IGNORECASE
)


def compose(
    asks: Sequence[Ask], served: Sequence[Served], bench: Workbench, language: str
) -> dict[str, Any]:
    """Return the fields of the answer form."""
    turn = bench.turn
    blocks = _tidy([block for one in served for block in one.blocks])
    ticket = bench.findings.ticket()
    needs = [need for one in served for need in one.needs]
    if ticket is not None:
        blocks = [block for block in blocks if block.kind != "offer"]
        blocks.append(Block(tell_ticket(ticket, needs, turn, language), "ticket"))
    elif needs:
        blocks.append(Block(phrases.NO_TICKET, "ticket"))
    blocks = _safer(blocks, turn.refusals)
    if not blocks:
        blocks = [Block(f"{phrases.SAFE} {phrases.OFFER_PERSON}", "offer")]
    return {
        "answer": "\n\n".join(block.text for block in blocks)[:_LIMIT],
        "intent": _intent(asks[0], blocks),
        "sources": _sources(blocks),
        "confidence": _confidence(asks, served),
        "escalated": ticket is not None,
        "ticket_id": ticket.number if ticket is not None else None,
    }


def compose_reports(asks: Sequence[Ask], bench: Workbench) -> dict[str, Any]:
    """Return an answer made of specialists' reports in prose, which rules cannot read further."""
    ticket = bench.findings.ticket()
    text = "\n\n".join(report.strip() for report in bench.turn.reports)[:_LIMIT]
    blocks = _safer([Block(text, "facts")] if text else [], bench.turn.refusals)
    if ticket is not None:
        blocks.append(Block(tell_ticket(ticket, [], bench.turn), "ticket"))
    if not blocks:
        blocks = [Block(f"{phrases.UNKNOWN} {phrases.OFFER_PERSON}", "offer")]
    search = bench.findings.any_search()
    cited = {
        hit.doc_id: hit.heading for hit in (search.hits if search else ()) if hit.doc_id in text
    }
    return {
        "answer": "\n\n".join(block.text for block in blocks),
        "intent": asks[0].intent,
        "sources": [{"doc_id": doc, "heading": heading} for doc, heading in cited.items()],
        "confidence": 0.5,
        "escalated": ticket is not None,
        "ticket_id": ticket.number if ticket is not None else None,
    }


def _intent(ask: Ask, blocks: Sequence[Block]) -> str:
    """Return the label of an answer: what an article answers is not off topic."""
    answered = any(block.kind == "rules" for block in blocks)
    return ask.second if ask.intent == "other" and answered and ask.second else ask.intent


def _tidy(blocks: list[Block]) -> list[Block]:
    """Drop repetitions; one offer of a person, at the end, is enough."""
    said: set[str] = set()
    fresh = [_unsaid(block, said) for block in blocks if block.kind != "offer"]
    kept = [block for block in fresh if block.text]
    offers = [block for block in blocks if block.kind == "offer"]
    return [*kept, *offers[:1]]


def _unsaid(block: Block, said: set[str]) -> Block:
    """Return a block without the sentences that were said already; a list of orders stays whole."""
    parts = [block.text] if "\n" in block.text else sentences(block.text)
    new = [part for part in parts if part not in said]
    said.update(parts)
    return block if len(new) == len(parts) else Block(" ".join(new), block.kind, block.source)


def _sources(blocks: Sequence[Block]) -> list[dict[str, str]]:
    cited = {
        (block.source.doc_id, block.source.heading): None
        for block in blocks
        if block.source is not None and block.source.doc_id
    }
    return [{"doc_id": doc_id, "heading": heading} for doc_id, heading in cited]


def _confidence(asks: Sequence[Ask], served: Sequence[Served]) -> float:
    """Return how sure the least sure part of the answer is."""
    parts = [
        min(one.sure, max(ask.p, 0.9 if _rests_on_evidence(one) else 0.0))
        for ask, one in zip(asks, served, strict=True)
    ]
    return round(max(0.0, min([*parts, 0.99])), 2)


def _rests_on_evidence(served: Served) -> bool:
    return any(block.kind in {"facts", "rules"} for block in served.blocks)


def _safer(blocks: list[Block], refusals: Sequence[str]) -> list[Block]:
    """Leave out what was refused; after a second refusal, everything but facts and the ticket."""
    if not refusals:
        return blocks
    problems = "\n".join(refusals)
    refused = {phrase.strip() for phrase in _QUOTED.findall(problems) if phrase.strip()}
    kept = [_without(block, refused) for block in blocks]
    kept = [block for block in kept if block.text]
    changed = [block.text for block in kept] != [block.text for block in blocks]
    if not changed and _ABOUT_SOURCES.search(problems):
        kept = [block for block in kept if block.kind != "rules"]
        changed = len(kept) != len(blocks)
    if not changed or len(refusals) > 1:
        kept = [block for block in kept if block.kind in {"ticket", "offer"}] or (
            [block for block in kept if block.kind == "talk"]
        )
    if kept and all(block.kind in {"offer", "ticket"} for block in kept) and kept != blocks:
        kept = [Block(phrases.SAFE), *kept]
    return kept


def _without(block: Block, refused: set[str]) -> Block:
    """Return a block without the sentences that hold refused words. The ticket stays told."""
    if block.kind == "ticket" or not any(phrase in block.text for phrase in refused):
        return block
    paragraphs = []
    for line in block.text.split("\n"):
        kept = [part for part in sentences(line) if not any(phrase in part for phrase in refused)]
        paragraphs.append(" ".join(kept))
    text = "\n".join(part for part in paragraphs if part)
    return Block(text, block.kind, block.source)
