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


REQUESTED = "I have passed your request on. A person decides; you will hear of it here."
DECLINED = "All right. Nothing was changed."
# Why staff said no, as a customer reads it. Words of staff stay inside.
_TURNED_DOWN = {
    "not_eligible": "The shop's rules do not allow it.",
    "wrong_details": "Some of its details are not right.",
    "wrong_amount": "The amount is not right.",
    "no_evidence": "We need to know more first.",
    "done_elsewhere": "It has been taken care of already.",
    "withdrawn": "It was withdrawn.",
}


def refused_text(why: str) -> str:
    """Return the message after a yes that came too late or to something that has changed."""
    return f"This could not be asked for. {why}"


def progress_text(status: str, title: str, reason_code: str) -> str:
    """Return what a customer hears when a request has moved on, by its status."""
    said = {
        "approved": f"A person has agreed: {title}. It is being carried out.",
        "executing": f"Being carried out: {title}.",
        "unknown": f"Being carried out: {title}.",
        "executed": f"Done: {title}.",
        "rejected": f"A person has decided against it: {title}. "
        f"{_TURNED_DOWN.get(reason_code, '')}".strip(),
        "expired": f"Nobody decided in time, so nothing was done: {title}. Please ask again.",
        "cancelled": f"Withdrawn, nothing was done: {title}.",
        "superseded": f"A person has changed the details and passed it on: {title}.",
        "conflict": f"Something had changed meanwhile, so nothing was done: {title}. "
        "Please ask again.",
        "failed": f"It could not be carried out, and nothing was done: {title}. "
        "A person will look at it.",
    }
    return said.get(status, f"{title}: {status}.")


NOT_DELIVERED = "I could not finish this, and could not reach our team either. Please write again."
