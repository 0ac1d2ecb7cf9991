"""What code says when a run ends without an answer. Plain words, and always what happens next."""

from __future__ import annotations

from collections.abc import Sequence

from agents.errors import StopCause

# Why a person takes over, from the closed list of ticket reasons.
TICKET_REASON: dict[StopCause, str] = {
    StopCause.TURNS: "limit_reached",
    StopCause.TIME: "limit_reached",
    StopCause.TOKENS: "limit_reached",
    StopCause.MONEY: "limit_reached",
    StopCause.REFUSAL: "policy_restriction",
    StopCause.TRUNCATED: "tool_failure",
    StopCause.CONTEXT_FULL: "limit_reached",
    StopCause.UNKNOWN_STOP: "tool_failure",
    StopCause.EMPTY_REPLY: "tool_failure",
    StopCause.REPEATED_CALL: "tool_failure",
    StopCause.CHECKS_FAILED: "checks_failed",
    StopCause.MODEL_DOWN: "tool_failure",
}
_WHY: dict[StopCause, str] = {
    StopCause.TURNS: "This took more steps than I may take.",
    StopCause.TIME: "This took longer than I may take.",
    StopCause.TOKENS: "This needed more reading than I may do.",
    StopCause.MONEY: "This needed more than I may spend on one question.",
    StopCause.REFUSAL: "I cannot help with this.",
    StopCause.CONTEXT_FULL: "Our talk has become too long for me to follow safely.",
    StopCause.CHECKS_FAILED: "I could not put together an answer that holds up to our checks.",
}
_MOST = 2  # orders and articles that are named; the ticket holds them all
_WHY_ELSE = "Something went wrong on my side."


def hand_over_text(cause: StopCause | None, ticket: str, opens: str) -> str:
    """Return the message for a hand-over; `opens` is empty while the desk is open."""
    why = _WHY.get(cause, _WHY_ELSE) if cause is not None else _WHY_ELSE
    return f"{why} I have passed your question to a person.\n\n{ticket_text(ticket, opens)}"


def person_text(ticket: str, opens: str) -> str:
    """Return the message after the customer asked for a person."""
    return f"I have passed this talk to a person.\n\n{ticket_text(ticket, opens)}"


def ticket_text(ticket: str, opens: str) -> str:
    """Return the number to keep and when somebody will read it."""
    when = (
        f"Our team is back {opens} and answers here."
        if opens
        else "Our team is at work now and answers here."
    )
    return f"Your ticket number is {ticket}. {when}"


def passed_on(orders: Sequence[str], titles: Sequence[str]) -> str:
    """Return what a person finds with the ticket, said by code: the talk and what was looked up."""
    parts = ["this conversation"]
    if orders:
        parts.append(f"what I found about order {' and '.join(orders[:_MOST])}")
    if titles:
        parts.append("what our help says under " + " and ".join(f"“{t}”" for t in titles[:_MOST]))
    said = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
    return f"{said[0].upper()}{said[1:]}."


def cancelled_text(tickets: list[str]) -> str:
    """Return the message after a cancellation: what was already done stays done, and is told."""
    if not tickets:
        return "Stopped. Nothing was changed."
    return f"Stopped. Ticket {tickets[0]} had already been opened and stays open."


NOT_DELIVERED = "I could not finish this, and could not reach our team either. Please write again."
