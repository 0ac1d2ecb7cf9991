"""What the model sees of a conversation, assembled by one pure function within a budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agents.claims import find_claims
from dsupport.contract.llm import ChatMessage, Text

CHARS_PER_TOKEN = 4
HISTORY_TOKENS = 4_000
LOOKED_UP = "<looked-up>"  # begins what code has looked up; nobody else may write it


@dataclass(frozen=True, slots=True)
class Said:
    """One message of the talk. `author` is customer, assistant, staff or system."""

    author: str
    text: str
    ticket: str = ""


def assemble(
    past: Sequence[Said], words: Sequence[str], *, budget_tokens: int = HISTORY_TOKENS
) -> tuple[ChatMessage, ...]:
    """Return the model's messages: the talk so far within the budget, then the current words.

    What does not fit is replaced by a summary made by code. It loses prose, never an order or
    ticket number, an amount, a date or the fact that a ticket was opened. Messages of staff and
    system reach the model as notes of the desk, marked as such. Roles alternate and the last
    message is the customer's, one part for each message sent.
    """
    kept, dropped = _fit(past, budget_tokens * CHARS_PER_TOKEN)
    messages: list[ChatMessage] = []
    if dropped:
        _append(messages, "user", f"[earlier in this talk] {summarise(dropped)}")
    for said in kept:
        role = "assistant" if said.author == "assistant" else "user"
        text = (
            said.text
            if said.author in {"customer", "assistant"}
            else f"[{said.author}] {said.text}"
        )
        _append(messages, role, text)
    if messages and messages[0].role == "assistant":
        messages.insert(0, ChatMessage.user("[the customer opened the chat]"))
    if messages and messages[-1].role == "user":
        messages.append(ChatMessage.assistant("[no answer was given]"))
    messages.append(ChatMessage("user", tuple(Text(_own(word)) for word in words)))
    return tuple(messages)


def _own(words: str) -> str:
    """Return a customer's words, which cannot pass for what the desk looked up."""
    return words.replace(LOOKED_UP, "[looked-up]")


def summarise(dropped: Sequence[Said]) -> str:
    """Return one line with every identifier, amount, date and ticket of the messages."""
    items: dict[str, None] = {}
    for said in dropped:
        if said.ticket:
            items[f"ticket {said.ticket} was opened"] = None
        for claim in find_claims(said.text):
            if claim.kind != "span":
                items[f"{said.author}: {claim.said}"] = None
    head = f"{len(dropped)} messages."
    if not items:
        return head
    shown = list(items)
    return f"{head} Named: {'; '.join(shown)}."


def render_context(context: Mapping[str, Any]) -> str:
    """Return the volatile facts of a turn as text, for adapters that send text to a vendor."""
    lines = [f"{name}: {value}" for name, value in sorted(context.items()) if name != "intents"]
    return "<desk-context>\n" + "\n".join(lines) + "\n</desk-context>"


def _fit(past: Sequence[Said], budget: int) -> tuple[list[Said], list[Said]]:
    kept: list[Said] = []
    used = 0
    for index in range(len(past) - 1, -1, -1):
        used += len(past[index].text)
        if used > budget:
            return kept, list(past[: index + 1])
        kept.insert(0, past[index])
    return kept, []


def _append(messages: list[ChatMessage], role: str, text: str) -> None:
    if messages and messages[-1].role == role:
        messages[-1] = ChatMessage(role, (*messages[-1].parts, Text(text)))
    else:
        messages.append(ChatMessage(role, (Text(text),)))
