"""The gate where many ask at once, on real commits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.db import connection

from approvals import rules
from approvals.errors import AlreadyDecided
from approvals.models import AuditEntry, Proposal
from approvals.rules import OutcomeStatus
from approvals.services import approve, edit, is_off, verify
from dsupport.contract.principal import Principal, Proof
from tests.approvals.conftest import NOW, ask, hire, run_sql
from tests.conftest import make_tenant


def at_once(number: int, work: Callable[[int], Any]) -> list[Any]:
    """Run a piece of work many times in threads, each with its own connection."""

    def one(index: int) -> Any:
        try:
            return work(index)
        finally:
            connection.close()

    with ThreadPoolExecutor(12) as pool:
        return list(pool.map(one, range(number)))


def test_same_key_at_once_acts_once(committed_db, desk):
    customer = Principal(make_tenant().pk, Proof.LOGIN, customer_id=7)
    outcomes = at_once(24, lambda _: ask(customer))
    statuses = Counter(outcome.status for outcome in outcomes)
    assert statuses == {OutcomeStatus.EXECUTED: 1, OutcomeStatus.DUPLICATE: 23}
    assert len({outcome.proposal_id for outcome in outcomes}) == 1
    assert len(desk.done) == Proposal.objects.count() == AuditEntry.objects.count() == 1


def test_same_intent_at_once_waits_once(committed_db, desk):
    customer = Principal(make_tenant().pk, Proof.LOGIN, customer_id=7)
    outcomes = at_once(24, lambda index: ask(customer, "gifts.high", key=f"k{index}"))
    statuses = Counter(outcome.status for outcome in outcomes)
    assert statuses[OutcomeStatus.WAITING] == Proposal.objects.count() == 1
    # Duplicates are not rows, so none of them counts against a limit.
    assert statuses[OutcomeStatus.DUPLICATE] == 23


def test_limit_at_once_is_never_passed(committed_db, desk):
    shop = make_tenant().pk
    people = [Principal(shop, Proof.LOGIN, customer_id=number) for number in range(1, 31)]
    outcomes = at_once(
        30,
        lambda index: ask(
            people[index],
            "gifts.high",
            key=f"k{index}",
            conversation=f"talk{index}",
            articles=("poisoned",),
        ),
    )
    waiting = [outcome for outcome in outcomes if outcome.status is OutcomeStatus.WAITING]
    assert len(waiting) == Proposal.objects.count() == rules.DECIDED_LIMITS.article
    assert verify().ok


def test_switches_unreadable_stop_writes_and_leave_reading(committed_db, desk, caplog):
    shop = make_tenant().pk
    customer = Principal(shop, Proof.LOGIN, customer_id=7)
    role = connection.settings_dict["USER"]
    run_sql("owner", f'REVOKE SELECT ON dsupport_switch FROM "{role}"')
    assert ask(customer).code == "switches_unreadable"
    assert desk.done == []
    assert AuditEntry.objects.get().kind == "proposal.refused"
    assert is_off("actions", shop)
    assert is_off("model", shop)
    assert not is_off("tool:search_kb", shop)
    assert ask(customer, "gifts.always", key="b").status is OutcomeStatus.EXECUTED


def test_edits_and_an_approval_at_once_leave_one_request_that_counts(committed_db, desk):
    """Whoever comes first wins; the others hear so, and nothing waits beside what was decided."""
    tenant = make_tenant()
    people = [hire(tenant, f"p{number}") for number in range(8)]
    for turn in range(6):
        customer = Principal(tenant.pk, Proof.LOGIN, customer_id=turn + 1)  # within the limits
        wanted = {"order": f"o{turn}", "amount": 500}
        asked = ask(customer, "gifts.high", wanted, key=f"k{turn}", conversation=f"talk{turn}")
        old = Proposal.objects.get(pk=asked.proposal_id)

        def decide(index: int, old: Proposal = old) -> object:
            try:
                if index % 2:
                    return approve(
                        proposal_id=str(old.pk), by=people[index], shown_hash=old.hash, now=NOW
                    )
                changed = {**old.arguments, "amount": 100 + index}
                return edit(proposal_id=str(old.pk), by=people[index], arguments=changed, now=NOW)
            except AlreadyDecided as refused:
                return refused

        results = at_once(8, decide)
        assert sum(isinstance(result, AlreadyDecided) for result in results) == 7
        rows = Proposal.objects.filter(arguments__order=f"o{turn}")
        found = sorted(row.status for row in rows)
        assert found in (["approved"], ["pending", "superseded"])
    assert verify().ok
