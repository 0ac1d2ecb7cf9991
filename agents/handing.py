"""The ticket that an accepted answer asks for: opened by code, through the gate as any other."""

from __future__ import annotations

from agents.answer import TICKET_HERE, AnswerForm, HandOver
from agents.errors import RunStopped, StopCause
from agents.scope import RunScope
from agents.toolbox import call_tool, validate
from agents.truth import Problem
from dsupport.contract.tools import ToolCall, ToolResult, ToolSpec


def check_hand_over(form: AnswerForm, spec: ToolSpec | None) -> list[Problem]:
    """Return what is wrong with the wish before anybody reads the draft."""
    if form.hand_over is None:
        if TICKET_HERE not in form.answer:
            return []
        return [Problem("bad_hand_over", f"{TICKET_HERE} has no number without hand_over.")]
    if spec is None:
        return [Problem("bad_hand_over", "Nobody can take over here; leave hand_over out.")]
    found = validate(spec, _call(form.hand_over, spec))
    if not isinstance(found, ToolResult):
        return []
    return [Problem("bad_hand_over", f"hand_over: {found.data['message']}")]


def with_ticket(form: AnswerForm, spec: ToolSpec | None, scope: RunScope, place: str) -> AnswerForm:
    """Return the answer with its ticket opened and told; as it is when it asks for none.

    A ticket that this run has opened already is the ticket. Raises `RunStopped` when none can be
    opened: the run then ends with a person on the path that nothing switches off.
    """
    if form.hand_over is None or spec is None:
        return form
    if scope.evidence.tickets:
        answer = form.answer.replace(TICKET_HERE, scope.evidence.tickets[0])
        return form.model_copy(update={"answer": answer, "hand_over": None})
    result = call_tool(spec, _call(form.hand_over, spec), scope, f"{place}/ticket")
    if result.is_error or not result.ticket:
        raise RunStopped(StopCause.CHECKS_FAILED, f"no ticket could be opened: {result.data}")
    told = {
        "answer": _told(form.answer, result.ticket),
        "escalated": True,
        "ticket_id": result.ticket,
        "hand_over": None,
    }
    return form.model_copy(update=told)


def _call(wish: HandOver, spec: ToolSpec) -> ToolCall:
    return ToolCall(id="hand_over", name=spec.name, arguments=wish.model_dump())


def _told(answer: str, ticket: str) -> str:
    if TICKET_HERE in answer:
        return answer.replace(TICKET_HERE, ticket)
    return f"{answer}\n\nYour ticket number is {ticket}."
