"""Playing the set: each task in a transaction that is undone, all through the real services."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction

from approvals.rules import Origin, Outcome, OutcomeStatus
from approvals.services import ask_customer, confirm
from dsupport.contract.errors import DomainError
from dsupport.contract.principal import Principal, Proof
from dsupport.models import Tenant
from evals.retail.staff import Staff
from evals.retail.view import View, differences, read_view, wanted
from evals.retail.writes import as_request
from orders.cases import open_case
from orders.models import Customer
from orders.policy import allowed_actions

Progress = Callable[[], None]


@dataclass
class Tally:
    """What playing came to."""

    gold_differ: list[str] = field(default_factory=list)
    refused: int = 0
    no_second_effect: int = 0
    breached: list[str] = field(default_factory=list)
    decisions_differ: list[str] = field(default_factory=list)
    writes_executed: int = 0
    confirmations_used: int = 0
    approvals_used: int = 0
    trails_wrong: list[str] = field(default_factory=list)


class _Undone(Exception):
    """Ends the transaction of a task."""


class Player:
    """One imported shop, its customers and its staff."""

    def __init__(self, tenant: Tenant, habit: str, now: datetime) -> None:
        self._tenant, self._now = tenant, now
        self._staff = Staff(tenant, habit)
        self._habit = habit
        self._customers = dict(
            Customer.objects.for_tenant(tenant.pk).values_list("external_id", "pk")
        )
        self._count = 0
        self.tally = Tally()

    # --- the three tables -------------------------------------------------------------------

    def play_gold(self, tasks: Sequence[Mapping[str, Any]], progress: Progress) -> None:
        """Play the writes of each task; it must end exactly in its effects, or in none at all."""
        before = read_view(self._tenant.pk)
        for task in tasks:
            name = f"{task['set']}:{task['id']}"
            expected = wanted(task["effects"]) if self._habit == "approve" else {}
            with self._undone():
                for write in task["writes"]:
                    self.write(task["user_id"], write)
                if not self._matches(before, expected):
                    self.tally.gold_differ.append(name)
            progress()

    def play_mutations(self, rows: Sequence[Mapping[str, Any]], progress: Progress) -> None:
        """Play each forbidden write after its preparation: nothing may change by it."""
        for row in rows:
            with self._undone():
                for write in row["pre"]:
                    self.write(row["session_user"], write, counted=False)
                changes = _changes_so_far()
                outcome = self.write(row["session_user"], row["write"], counted=False)
                touched = _changes_so_far() != changes
                self._judge_mutation(row, outcome, touched=touched)
            progress()

    def play_decisions(self, rows: Sequence[Mapping[str, Any]], progress: Progress) -> None:
        """Compare what the state of each order allows with the table of the set."""
        for row in rows:
            opened = open_case(self._who(row["user_id"]), row["order_id"], now=self._now)
            allowed = allowed_actions(opened.case)
            if any(allowed[name] is not row[name] for name in allowed):
                self.tally.decisions_differ.append(row["order_id"])
            progress()

    # --- one write --------------------------------------------------------------------------

    def write(self, user: str, write: Mapping[str, Any], *, counted: bool = True) -> Outcome | None:
        """Have a customer ask for a write, confirm its card, and the staff do what they do.

        None when not even a card was shown.
        """
        self._count += 1
        self._now += timedelta(seconds=4)
        principal, request = self._who(user), as_request(write, session_user=user)
        try:
            card = ask_customer(
                principal=principal,
                action=request.action,
                arguments=request.arguments,
                origin=Origin(key=f"retail/{self._count}"),
                evidence={},
                now=self._now,
            )
            outcome = confirm(
                principal=principal, confirmation_id=card.id, shown_hash=card.hash, now=self._now
            )
        except DomainError:
            return None
        used = self._staff.used
        if outcome.status is OutcomeStatus.WAITING:
            self._staff.handle(outcome.proposal_id, self._now)
        if counted and self._staff.used > used:
            self.tally.confirmations_used += 1
            self.tally.approvals_used += 1
            self.tally.writes_executed += 1
            self._check_trail(outcome.proposal_id)
        return outcome

    def _judge_mutation(
        self, row: Mapping[str, Any], outcome: Outcome | None, *, touched: bool
    ) -> None:
        if touched:
            self.tally.breached.append(row["id"])
        elif row["expect"] == "no_second_effect":
            self.tally.no_second_effect += 1
        elif outcome is None or outcome.status is not OutcomeStatus.EXECUTED:
            self.tally.refused += 1

    def _check_trail(self, proposal_id: str) -> None:
        """Each write leaves one entry of each kind: filed, approved, executed."""
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT kind, count(*) FROM approvals_auditentry WHERE subject = %s GROUP BY kind",
                [f"proposal:{proposal_id}"],
            )
            found = dict(cursor.fetchall())
        once = ("proposal.pending", "proposal.executed")
        if any(found.get(kind) != 1 for kind in once) or not found.get("proposal.approved"):
            self.tally.trails_wrong.append(proposal_id)

    def _matches(self, before: View, expected: Mapping[str, Any]) -> bool:
        if not expected and not _changes_so_far():
            return True
        return differences(before, read_view(self._tenant.pk)) == expected

    def _who(self, user: str) -> Principal:
        return Principal(
            tenant_id=self._tenant.pk,
            proof=Proof.LOGIN,
            visitor=user,
            customer_id=self._customers[user],
        )

    @contextmanager
    def _undone(self) -> Iterator[None]:
        try:
            with transaction.atomic():
                yield
                raise _Undone
        except _Undone:
            return


def _changes_so_far() -> int:
    """Return how many rows of the shop this transaction has written, whatever they hold."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT coalesce(sum(n_tup_ins + n_tup_upd + n_tup_del), 0) "
            "FROM pg_stat_xact_user_tables WHERE relname LIKE %s",
            ["orders\\_%"],
        )
        return int(cursor.fetchone()[0])
