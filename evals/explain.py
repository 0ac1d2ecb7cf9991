"""One question, months later: who asked, what was shown, who decided, what was done, by what."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

from agents.models import Message, Run
from approvals.models import AuditEntry, Confirmation, Decision, Proposal
from dsupport.contract.errors import NotFound
from tickets.models import Ticket

_MOST = 200


class NothingKnown(NotFound):
    code = "nothing_known"


def explain(name: str) -> dict[str, Any]:
    """Return all that is on record about a thing, by its id as people see it."""
    name = name.strip()
    if name.startswith("audit:"):
        return _from_audit(name.removeprefix("audit:"))
    if name.upper().startswith("TKT-"):
        return _of_ticket(name.upper())
    key = _uuid(name)
    proposal = Proposal.objects.filter(pk=key).first()
    if proposal is not None:
        return _of_proposal(proposal)
    card = Confirmation.objects.filter(pk=key).first()
    if card is not None:
        return {"card": _card(card), "audit": _audit(f"confirmation:{card.pk}")}
    run = Run.objects.for_worker(key).first()
    if run is not None:
        return _of_run(run)
    raise NothingKnown(f"Nothing is known of {name}. Give a proposal, card, run or ticket.")


def _of_proposal(proposal: Proposal) -> dict[str, Any]:
    run = Run.objects.for_worker(UUID(proposal.run_id)).first() if proposal.run_id else None
    card = Confirmation.objects.filter(proposal=proposal).first()
    return {
        "asked": {
            "who": proposal.owner_key,
            "established": proposal.principal.get("proof"),
            "words": proposal.evidence.get("words", []),
            "at": proposal.created_at,
            "edited_by": proposal.edited_by,
        },
        "shown": _card(card) if card else "no card: it was not asked in the chat",
        "proposed": {
            "id": str(proposal.pk),
            "what": proposal.description,
            "action": proposal.action,
            "arguments": proposal.arguments,
            "state": proposal.snapshot,
            "tier": proposal.tier,
            "amount": str(proposal.amount) if proposal.amount else None,
            "people_needed": proposal.people,
            "hash": proposal.hash,
            "evidence_digest": proposal.evidence_digest,
            "policy": proposal.policy_version,
            "expires_at": proposal.expires_at,
        },
        "decided": [
            {
                "who": word.name,
                "roles": word.roles,
                "said": word.kind,
                "hash": word.shown_hash,
                "at": word.at,
            }
            for word in Decision.objects.for_proposal(proposal)
        ],
        "carried_out": {
            "status": proposal.status,
            "key": str(proposal.pk),
            "at": proposal.executed_at,
            "result": proposal.result,
            "problem": proposal.problem,
            "reason": proposal.reason_code,
        },
        "versions": run.manifest if run else {},
        "audit": _audit(f"proposal:{proposal.pk}"),
    }


def _of_run(run: Run) -> dict[str, Any]:
    said = Message.objects.for_run(run)
    proposals = Proposal.objects.for_tenant(run.tenant_id).filter(run_id=str(run.pk))
    return {
        "run": {
            "id": str(run.pk),
            "status": run.status,
            "ending": run.ending,
            "provider": run.provider,
            "architecture": run.architecture,
            "model_calls": run.model_calls,
            "cost_usd": run.cost / 1_000_000,
            "from": run.created_at,
            "to": run.finished_at,
        },
        "said": [f"{message.author}: {message.text}" for message in said],
        "proposals": [f"{p.pk} {p.status} {p.description}" for p in proposals],
        "versions": run.manifest,
    }


def _of_ticket(number: str) -> dict[str, Any]:
    tickets = Ticket.objects.for_tenants(None).filter(number=number).select_related("queue")
    if not tickets:
        raise NothingKnown(f"There is no ticket {number}. Check its number.")
    opened = Proposal.objects.filter(result__ticket=number)
    return {
        "tickets": [f"{row.tenant} {row.number} {row.subject}, in {row.queue}" for row in tickets],
        "opened_by": [f"{p.pk} {p.action} for {p.owner_key}, run {p.run_id}" for p in opened],
        "audit": [line for p in opened for line in _audit(f"proposal:{p.pk}")],
    }


def _from_audit(number: str) -> dict[str, Any]:
    entry = AuditEntry.objects.filter(pk=int(number) if number.isdigit() else -1).first()
    if entry is None:
        raise NothingKnown(f"There is no audit entry {number}. Give its number: audit:12.")
    kind, _, name = entry.subject.partition(":")
    about = explain(name) if kind in {"proposal", "confirmation"} else {}
    return {"entry": _entry(entry), **about}


def _card(card: Confirmation) -> dict[str, Any]:
    return {
        "id": str(card.pk),
        "title": card.card.get("title"),
        "lines": [f"{each['label']}: {each['value']}" for each in card.card.get("lines", [])],
        "hash": card.hash,
        "answer": card.status,
        "at": card.answered_at,
    }


def _audit(subject: str) -> list[str]:
    rows = AuditEntry.objects.filter(subject=subject).order_by("id")[:_MOST]
    return [_entry(row) for row in rows]


def _entry(row: AuditEntry) -> str:
    detail = json.dumps(json.loads(row.detail), ensure_ascii=False)
    return f"{row.pk} {row.at.isoformat()} {row.kind} by {row.actor} {detail} [{row.hash[:12]}]"


def _uuid(name: str) -> UUID:
    try:
        return UUID(name)
    except ValueError:
        raise NothingKnown(
            f"{name!r} is no id. Give a proposal, card or run by its id, a ticket as TKT-…, or an "
            "audit entry as audit:12."
        ) from None
