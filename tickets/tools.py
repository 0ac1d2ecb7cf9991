"""Handing over to a person, by a model's wish or by code."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from approvals.services import Origin, Outcome, OutcomeStatus, propose
from dsupport.contract.principal import Principal
from dsupport.contract.tools import (
    ErrorCategory,
    ToolArguments,
    ToolContext,
    ToolResult,
    ToolSpec,
)
from dsupport.lib.canonical import digest
from tickets.rules import Reason, order_name
from tickets.schemas import MAX_ORDER_NUMBER, MAX_SUMMARY, OrderNumber, Summary

log = logging.getLogger(__name__)


class CreateTicketArguments(ToolArguments):
    reason: Literal[
        "customer_request",
        "no_answer",
        "unsupported_request",
        "policy_restriction",
        "tool_failure",
        "limit_reached",
        "checks_failed",
        "complaint",
        "action_needed",
    ] = Field(description="Why a person is needed.")
    summary: Summary = Field(
        description="What the customer wants and what was found out, in two or three sentences."
    )
    order_number: OrderNumber | None = Field(
        default=None, description="The order it is about, when it is about one."
    )


def create_ticket(arguments: CreateTicketArguments, context: ToolContext) -> ToolResult:
    """Open a ticket for the asker, or find the one that is open for the same problem."""
    outcome = propose(
        principal=context.principal,
        action="tickets.create",
        arguments={**arguments.model_dump(), "conversation_id": context.conversation_id},
        origin=_origin(context.key, context.run_id, context.conversation_id, context.evidence),
        evidence={"words": list(context.customer_words), **context.evidence},
        now=context.now,
    )
    return _answer(outcome)


def escalate(
    *,
    principal: Principal,
    reason: str,
    summary: str,
    order_number: str | None,
    conversation_id: str,
    run_id: str,
    key: str,
    now: datetime,
    evidence: Mapping[str, Any],
) -> ToolResult:
    """Hand over to a person because code decided so: a limit, a failed check, a button.

    No switch and no limit stops this. `reason` is one of `tickets.rules.Reason`; `key` names the
    place in the run, so that a repeated call finds the same ticket. The result is an error only
    when the desk itself is out of order.
    """
    arguments = {
        "reason": _known_reason(reason),
        "summary": _fit(summary),
        "order_number": order_name(order_number)[:MAX_ORDER_NUMBER] or None,
        "conversation_id": conversation_id,
    }

    def attempt(under: str) -> Outcome:
        return propose(
            principal=principal,
            action="tickets.escalate",
            arguments=arguments,
            origin=_origin(under, run_id, conversation_id, evidence),
            evidence=evidence,
            now=now,
        )

    outcome = attempt(key)
    if outcome.code == "key_conflict":  # other words under the same key are another request
        outcome = attempt(digest("escalation/1", [key, arguments]))
    elif outcome.code == "gate_failed":  # a deadlock or a lost connection may not come twice
        outcome = attempt(key)
    return _answer(outcome)


def _known_reason(reason: str) -> Reason:
    try:
        return Reason(reason)
    except ValueError:
        log.error("Code escalated for %r, which is no reason for a ticket", reason)
        return Reason.ACTION_NEEDED


def _fit(summary: str) -> str:
    """Return a summary that is accepted whatever a code path has put into it."""
    printable = "".join(char for char in summary if char.isprintable() or char in "\n\t")
    return printable.strip()[:MAX_SUMMARY] or "Handed over without a summary."


def _origin(key: str, run_id: str, conversation_id: str, evidence: Mapping[str, Any]) -> Origin:
    return Origin(
        key=key, run_id=run_id, conversation_id=conversation_id, article_ids=_articles(evidence)
    )


def _articles(evidence: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the ids of the articles that the evidence says were read: the `doc_id` of `hits`."""
    names = [hit.get("doc_id", "") for hit in evidence.get("hits", ())]
    return tuple(dict.fromkeys(str(name) for name in names if name))


_CATEGORIES = {
    "limit": ErrorCategory.LIMIT,
    "switched_off": ErrorCategory.FORBIDDEN,
    "switches_unreadable": ErrorCategory.UNAVAILABLE,
    "gate_failed": ErrorCategory.UNAVAILABLE,
    "key_conflict": ErrorCategory.CONFLICT,
}


def _answer(outcome: Outcome) -> ToolResult:
    ticket = str(outcome.result.get("ticket", ""))
    if outcome.status is OutcomeStatus.REFUSED or not ticket:
        category = _CATEGORIES.get(outcome.code.partition(":")[0], ErrorCategory.INVALID_INPUT)
        return ToolResult.error(category, outcome.code, outcome.message)
    return ToolResult(data=dict(outcome.result), ticket=ticket)


TOOLS: tuple[ToolSpec, ...] = (
    ToolSpec(
        name="create_ticket",
        description=(
            "Hand over to a person by opening a ticket. Use it when the customer asks for a "
            "person, complains, or needs something you cannot find or do. One problem has one "
            "ticket: when one is open already, its number is returned. Tell the customer the "
            "number."
        ),
        arguments=CreateTicketArguments,
        body=create_ticket,
        writes=True,
        progress="Opening a ticket for a person…",
    ),
)
