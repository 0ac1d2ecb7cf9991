"""Look at proposals and decide on them from a terminal, by the console's own services."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management.base import CommandError
from django.utils.module_loading import import_string

from approvals.fatigue import Decided, Habit, habits_of
from approvals.models import Decision, Proposal
from approvals.policy import Reason
from approvals.rules import ProposalStatus
from approvals.services import approve, get_proposal, reject
from dsupport.contract.errors import DomainError
from dsupport.lib import clock
from dsupport.lib.commands import DeskCommand
from dsupport.lib.scratch import scratch_database
from dsupport.lib.spans import short_span

_MOST = 200


class Command(DeskCommand):
    help = (
        "List proposals, show one with its exact arguments, state and evidence, decide on one by "
        "the console's own services, or report how people decide."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "what", choices=["list", "show", "approve", "reject", "report", "prove"]
        )
        parser.add_argument("id", nargs="?", help="the proposal to show or decide on")
        parser.add_argument("--by", metavar="USER", help="the member of staff who decides")
        parser.add_argument("--hash", help="of exactly what was shown, to approve it")
        parser.add_argument("--reason", help="why it is rejected, in words")
        parser.add_argument(
            "--code", choices=list(Reason), default=Reason.OTHER.value, help="why, by a code"
        )
        parser.add_argument("--tenant", help="list one shop's alone, by its slug")
        parser.add_argument("--days", type=int, default=30, help="report on this many days (30)")
        parser.add_argument("--status", choices=[status.value for status in ProposalStatus])

    def run(self, **options: Any) -> int:
        what = options["what"]
        if what == "list":
            self._list(options)
            return 0
        if what == "report":
            self._report(options)
            return 0
        if what == "prove":
            return self._prove(as_json=options["json"])
        if not options["id"]:
            raise CommandError(f"Give the id: approvals {what} ID", returncode=2)
        if what == "show":
            self._show(get_proposal(options["id"]), as_json=options["json"])
            return 0
        return self._decide(options)

    def _prove(self, *, as_json: bool) -> int:
        """Try every way in with the agent's own powers, in a database of its own."""
        with scratch_database():
            found = import_string(settings.DSUPPORT_PROVER)()
        document = found.document()
        if as_json:
            self.emit(document)
        else:
            self.stdout.write(f"{document['tried']} ways in were tried of {document['exist']}.")
            for name in document["breached"]:
                self.stdout.write(f"BREACHED: {name}")
            self.stdout.write("PASS" if found.passed else "FAIL")
        return 0 if found.passed else 1

    def _decide(self, options: dict[str, Any]) -> int:
        """Approve or reject; exit 1 when it is refused, with the reason."""
        needed = {"approve": ("by", "hash"), "reject": ("by", "reason")}[options["what"]]
        missing = [f"--{name}" for name in needed if not options[name]]
        if missing:
            raise CommandError(f"{options['what']} needs {' and '.join(missing)}.", returncode=2)
        common = {"proposal_id": options["id"], "by": _user(options["by"]), "now": clock.now()}
        try:
            if options["what"] == "approve":
                done = approve(**common, shown_hash=options["hash"])
            else:
                done = reject(**common, reason_code=options["code"], reason=options["reason"])
        except DomainError as error:
            self.stderr.write(f"{error.code}: {error.message}")
            return 1
        if options["json"]:
            self.emit(_summary(done))
        else:
            self.stdout.write(f"{done.pk} is {done.status}: {done.description}")
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

    def _report(self, options: dict[str, Any]) -> None:
        """Say how everybody decided lately: how soon, how often yes, how close together."""
        rows = Decision.objects.filter(at__gte=clock.now() - timedelta(days=options["days"]))
        if options["tenant"]:
            rows = rows.filter(proposal__tenant__slug=options["tenant"])
        habits = habits_of(
            Decided(row.name, row.proposal.created_at, row.at, row.kind == Decision.Kind.APPROVE)
            for row in rows.select_related("proposal").iterator()
        )
        if options["json"]:
            self.emit([_habit(habit) for habit in habits])
            return
        if not habits:
            self.stdout.write(f"Nobody has decided anything in {options['days']} days.")
        for habit in habits:
            self.stdout.write(
                f"{habit.name:<20} {habit.decisions:>5} decided  {habit.share:>4.0%} approved  "
                f"after {short_span(habit.median_wait)}  {'; '.join(habit.warnings)}".rstrip()
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


def _user(name: str) -> Any:
    found = get_user_model().objects.filter(username=name).first()
    if found is None:
        raise CommandError(f"There is no user {name!r}. Name a member of staff.", returncode=2)
    return found


def _habit(habit: Habit) -> dict[str, Any]:
    return {
        "name": habit.name,
        "decisions": habit.decisions,
        "approved": habit.approved,
        "rapid": habit.rapid,
        "median_wait_seconds": habit.median_wait.total_seconds(),
        "warnings": habit.warnings,
    }


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
