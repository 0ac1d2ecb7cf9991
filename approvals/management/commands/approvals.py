"""Look at proposals from a terminal."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from approvals.models import Proposal
from approvals.rules import ProposalStatus
from approvals.services import get_proposal
from dsupport.lib.commands import DeskCommand

_MOST = 200


class Command(DeskCommand):
    help = "List proposals, or show one with its exact arguments, state and evidence."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("what", choices=["list", "show"])
        parser.add_argument("id", nargs="?", help="the proposal to show")
        parser.add_argument("--tenant", help="list one shop's alone, by its slug")
        parser.add_argument("--status", choices=[status.value for status in ProposalStatus])

    def run(self, **options: Any) -> int:
        if options["what"] == "show":
            if not options["id"]:
                raise CommandError("Give the id: approvals show ID", returncode=2)
            self._show(get_proposal(options["id"]), as_json=options["json"])
        else:
            self._list(options)
        return 0

    def _list(self, options: dict[str, Any]) -> None:
        rows = Proposal.objects.select_related("tenant")
        if options["tenant"]:
            rows = rows.filter(tenant__slug=options["tenant"])
        if options["status"]:
            rows = rows.filter(status=options["status"])
        shown = list(rows[:_MOST])
        if options["json"]:
            self.emit([_summary(row) for row in shown])
            return
        if not shown:
            self.stdout.write("No proposals. Try: ask for a person in the chat.")
        for row in shown:
            self.stdout.write(
                f"{row.pk}  {row.created_at:%Y-%m-%d %H:%M}  {row.tier:<9} {row.status:<11} "
                f"{row.description}"
            )

    def _show(self, proposal: Proposal, *, as_json: bool) -> None:
        document = _summary(proposal) | {
            "owner": proposal.owner_key,
            "snapshot": proposal.snapshot,
            "evidence": proposal.evidence,
            "evidence_digest": proposal.evidence_digest,
            "policy": proposal.policy_version,
            "origin": proposal.origin_key,
            "run": proposal.run_id,
            "conversation": proposal.conversation_id,
            "articles": proposal.article_ids,
            "decided_at": proposal.decided_at and proposal.decided_at.isoformat(),
            "decided_by": proposal.decided_by,
            "reason_code": proposal.reason_code,
            "reason": proposal.reason,
            "executed_at": proposal.executed_at and proposal.executed_at.isoformat(),
            "result": proposal.result,
        }
        if as_json:
            self.emit(document)
            return
        for name, value in document.items():
            text = json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else value
            self.stdout.write(f"{name:<16} {'' if text is None else text}")


def _summary(proposal: Proposal) -> dict[str, Any]:
    return {
        "id": str(proposal.pk),
        "tenant": proposal.tenant.slug,
        "action": proposal.action,
        "description": proposal.description,
        "arguments": proposal.arguments,
        "tier": proposal.tier,
        "status": proposal.status,
        "hash": proposal.hash,
        "created_at": proposal.created_at.isoformat(),
        "expires_at": proposal.expires_at and proposal.expires_at.isoformat(),
    }
