"""What was approved is carried out once, or not at all when anything has changed."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection, transaction

from approvals.models import AuditEntry, Decision, Effect, Proposal
from approvals.registry import Remote, extended
from approvals.services import (
    approve,
    executable,
    execute,
    set_switch,
    verify,
)
from approvals.services.execution import TRIES
from dsupport.contract.errors import DomainError, PortError
from dsupport.contract.principal import Principal, Proof
from dsupport.contract.risk import RiskTier
from dsupport.models import Membership
from tests.approvals.conftest import NOW, ask, hire, run_sql
from tests.conftest import make_tenant

LATER = NOW + timedelta(minutes=5)


def approved(customer, user, action="gifts.high") -> Proposal:
    ask(customer, action)
    proposal = Proposal.objects.get()
    return approve(proposal_id=str(proposal.pk), by=user, shown_hash=proposal.hash, now=LATER)


def carry_out(proposal, now=LATER) -> str:
    return execute(str(proposal.pk), now=now)


def left_behind(proposal) -> None:
    """Have the worker that took it be gone for long."""
    Proposal.objects.filter(pk=proposal.pk).update(taken_at=NOW - timedelta(days=30))


def kinds() -> list[str]:
    return list(AuditEntry.objects.order_by("id").values_list("kind", flat=True))


@pytest.fixture
def ann(tenant):
    return hire(tenant, "ann")


def test_approved_action_is_done_once_under_one_key(desk, customer, ann):
    proposal = approved(customer, ann)
    assert [carry_out(proposal) for _ in range(3)] == ["executed"] * 3
    (done,) = desk.done
    assert (done.key, done.proposal_id, done.snapshot) == (
        str(proposal.pk),
        str(proposal.pk),
        {"paid": 9980},
    )
    stored = Proposal.objects.get()
    assert (stored.status, stored.executed_at) == ("executed", LATER)
    assert stored.result == {"given": 500, "order": "1042"}
    assert Effect.objects.count() == 1
    assert kinds() == ["proposal.pending", "proposal.approved", "proposal.executed"]


def test_what_nobody_has_approved_is_not_done(desk, customer):
    ask(customer, "gifts.high")
    assert carry_out(Proposal.objects.get()) == "pending"
    assert desk.done == []


def change_state(desk, _proposal, _user):
    desk.state = {"paid": 1}


def close_order(desk, _proposal, _user):
    desk.closed = True


def take_role(_desk, _proposal, user):
    Membership.objects.filter(user=user).delete()


def dismiss(_desk, _proposal, user):
    type(user).objects.filter(pk=user.pk).update(is_active=False)


def delete_user(_desk, _proposal, user):
    user.delete()


def switch_off(_desk, proposal, user):
    Membership.objects.filter(user=user).update(role="senior_approver")
    set_switch(name="actions", off=True, tenant=proposal.tenant, by=user, reason="stop", now=LATER)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (change_state, "Its paid is no longer"),
        (close_order, "The order is closed"),
        (take_role, "Only approvers"),
        (dismiss, "may no longer approve"),
        (delete_user, "may no longer approve"),
        (switch_off, "switched off"),
    ],
)
def test_anything_that_has_changed_since_is_a_conflict_and_nothing_is_done(
    desk, customer, ann, change, problem
):
    proposal = approved(customer, ann)
    change(desk, proposal, ann)
    assert carry_out(proposal) == "conflict"
    stored = Proposal.objects.get()
    assert problem in stored.problem
    assert (desk.done, Effect.objects.count()) == ([], 0)
    assert kinds()[-1] == "proposal.conflict"
    assert carry_out(proposal) == "conflict"


def test_changed_policy_is_a_conflict(desk, customer, ann):
    proposal = approved(customer, ann)
    with extended(desk.action("gifts.new", RiskTier.HIGH)):
        assert carry_out(proposal) == "conflict"
    assert "policy" in Proposal.objects.get().problem


def test_decision_of_long_ago_must_be_made_again(desk, customer, ann):
    proposal = approved(customer, ann)
    assert carry_out(proposal, LATER + timedelta(hours=25)) == "conflict"


def test_refusal_of_the_room_while_it_acts_is_a_conflict_and_undone(desk, customer, ann):
    def refuses(*_arguments):
        Decision.objects.count()
        raise DomainError("The order was cancelled.", code="gone")

    with extended(desk.action("gifts.gone", RiskTier.HIGH, execute=refuses)):
        proposal = approved(customer, ann, "gifts.gone")
        assert carry_out(proposal) == "conflict"
    assert Effect.objects.count() == 0


def test_fault_is_undone_tried_again_and_then_left_to_a_person(desk, customer, ann, caplog):
    desk.broken = {"execute"}
    proposal = approved(customer, ann)
    assert carry_out(proposal) == "approved"
    assert executable() == []  # not before a while
    left_behind(proposal)
    assert executable() == [str(proposal.pk)]
    desk.broken = set()
    assert carry_out(proposal) == "executed"
    assert Effect.objects.count() == 1


def test_fault_that_stays_ends_as_a_conflict(desk, customer, ann, caplog):
    desk.broken = {"execute"}
    proposal = approved(customer, ann)
    statuses = [carry_out(proposal) for _ in range(TRIES)]
    assert statuses == ["approved"] * (TRIES - 1) + ["conflict"]
    assert "ZeroDivisionError" in Proposal.objects.get().problem


# --- at somebody else's ---------------------------------------------------------------------


class Bank:
    """Another company: acts once a key, and can be down, mute or unwilling."""

    def __init__(self) -> None:
        self.moved: dict[str, int] = {}
        self.calls: Counter[str] = Counter()
        self.mood = ""
        self.in_transaction: list[bool] = []

    @property
    def remote(self) -> Remote:
        return Remote(call=self._call, look_up=self._look_up)

    def _call(self, _principal, gift, execution):
        self.in_transaction.append(connection.in_atomic_block)
        self.calls[execution.key] += 1
        if self.mood == "down":
            raise PortError("The bank cannot be reached.", retryable=True)
        if self.mood == "unwilling":
            raise PortError("The bank refuses.", code="refused")
        self.moved[execution.key] = gift.amount
        if self.mood == "mute":
            raise PortError("No answer in time.", retryable=True)
        if self.mood == "kills":
            raise KeyboardInterrupt
        return {"receipt": execution.key[:8]}

    def _look_up(self, _principal, _gift, execution):
        if self.mood == "down":
            raise PortError("The bank cannot be reached.", retryable=True)
        return {"receipt": execution.key[:8]} if execution.key in self.moved else None


@pytest.fixture
def bank(desk):
    company = Bank()
    with extended(desk.action("gifts.outside", RiskTier.HIGH, remote=company.remote)):
        yield company


@pytest.fixture
def outside(bank, customer, ann) -> Proposal:
    return approved(customer, ann, "gifts.outside")


def test_other_side_acts_first_and_its_answer_is_recorded(desk, bank, outside):
    assert carry_out(outside) == "executed"
    assert desk.done[0].remote == {"receipt": str(outside.pk)[:8]}
    assert bank.moved == {str(outside.pk): 500}
    assert kinds()[-2:] == ["proposal.executing", "proposal.executed"]


def test_refusal_of_the_other_side_is_a_failure_and_final(desk, bank, outside):
    bank.mood = "unwilling"
    assert carry_out(outside) == "failed"
    bank.mood = ""
    left_behind(outside)
    assert carry_out(outside) == "failed"
    assert (bank.moved, desk.done) == ({}, [])


@pytest.mark.parametrize("mood", ["mute", "down"])
def test_silence_is_looked_up_before_anything_is_sent_again(desk, bank, outside, mood):
    bank.mood = mood
    assert carry_out(outside) == "unknown"
    assert carry_out(outside) == "unknown"  # somebody has just taken it
    bank.mood = ""
    left_behind(outside)
    assert carry_out(outside) == "executed"
    key = str(outside.pk)
    assert bank.moved == {key: 500}
    assert bank.calls[key] == (1 if mood == "mute" else 2)
    assert len(desk.done) == Effect.objects.count() == 1


def test_worker_that_dies_after_the_other_side_acted_is_followed_by_one_that_looks(
    desk, bank, outside
):
    bank.mood = "kills"
    with pytest.raises(KeyboardInterrupt):
        carry_out(outside)
    assert Proposal.objects.get().status == "executing"
    bank.mood = ""
    assert carry_out(outside) == "executing"  # its worker may still live
    left_behind(outside)
    assert executable() == [str(outside.pk)]
    assert carry_out(outside) == "executed"
    assert bank.calls == {str(outside.pk): 1}


def test_worker_that_dies_before_it_has_called_is_followed_by_one_that_calls(desk, bank, outside):
    Proposal.objects.filter(pk=outside.pk).update(status="executing")
    left_behind(outside)
    assert carry_out(outside) == "executed"
    assert bank.calls == {str(outside.pk): 1}


# --- on real commits ------------------------------------------------------------------------


def at_once(number, work):
    def one(index):
        try:
            return work(index)
        finally:
            connection.close()

    with ThreadPoolExecutor(12) as pool:
        return list(pool.map(one, range(number)))


def shop_with_pending(action="gifts.high"):
    shop = make_tenant()
    customer = Principal(shop.pk, Proof.LOGIN, customer_id=7)
    ask(customer, action)
    return shop, Proposal.objects.get()


def test_hundred_people_who_approve_at_once_are_one_decision_and_one_execution(committed_db, desk):
    shop, proposal = shop_with_pending()
    users = [hire(shop, f"user{number}") for number in range(100)]

    def press(index):
        try:
            approve(
                proposal_id=str(proposal.pk),
                by=users[index],
                shown_hash=proposal.hash,
                now=LATER,
            )
        except DomainError as error:
            return error.code
        return execute(str(proposal.pk), now=LATER)

    results = Counter(at_once(100, press))
    assert results == {"executed": 1, "already_decided": 99}
    assert len(desk.done) == Effect.objects.count() == Decision.objects.count() == 1
    assert kinds().count("proposal.approved") == kinds().count("proposal.executed") == 1
    assert verify().ok


def test_workers_that_carry_out_at_once_act_once_and_call_outside_of_transactions(
    committed_db, desk
):
    bank = Bank()
    with extended(desk.action("gifts.outside", RiskTier.HIGH, remote=bank.remote)):
        shop, proposal = shop_with_pending("gifts.outside")
        approve(
            proposal_id=str(proposal.pk),
            by=hire(shop, "ann"),
            shown_hash=proposal.hash,
            now=LATER,
        )
        at_once(24, lambda _: execute(str(proposal.pk), now=LATER))
    assert Proposal.objects.get().status == "executed"
    assert bank.calls == {str(proposal.pk): 1}
    assert bank.in_transaction == [False]
    assert len(desk.done) == Effect.objects.count() == 1


# --- the database says no too ---------------------------------------------------------------

FORGED = """
INSERT INTO approvals_decision (proposal_id, kind, user_id, name, roles, shown_hash, at)
VALUES (%s, 'approve', %s, %s, '{approver}', %s, %s)
"""
EFFECT = """
INSERT INTO approvals_effect (proposal_id, tenant_id, action, at) VALUES (%s, %s, %s, now())
"""


def refused(statement, *parameters) -> bool:
    """Tell whether the application's role may not run a statement."""
    try:
        with transaction.atomic():
            run_sql("default", statement, *parameters)
    except Exception as error:
        return (
            "permission denied" in str(error)
            or "restrict" in type(error.__cause__).__name__.lower()
        )
    return False


def test_raw_sql_makes_no_decision_that_no_approver_made(desk, tenant, customer):
    ask(customer, "gifts.high")
    proposal = Proposal.objects.get()
    eve, ann = hire(tenant, "eve", "operator"), hire(tenant, "ann")
    key, good, bad = str(proposal.pk), proposal.hash, "0" * 64
    assert refused(FORGED, key, eve.pk, "eve", good, LATER)
    assert refused(FORGED, key, ann.pk, "somebody", good, LATER)
    assert refused(FORGED, key, ann.pk, "ann", bad, LATER)
    assert refused(FORGED, key, ann.pk, "ann", good, proposal.expires_at + timedelta(seconds=1))
    update = "UPDATE approvals_proposal SET status = 'approved', decided_at = %s, decided_by = %s"
    assert refused(update, LATER, "ann")
    assert refused("UPDATE approvals_proposal SET status = 'executing'")
    assert refused(EFFECT, key, tenant.pk, "gifts.high")
    assert not refused(FORGED, key, ann.pk, "ann", good, LATER)
    assert refused("UPDATE approvals_decision SET kind = 'reject'")
    assert refused("DELETE FROM approvals_decision")
    assert not refused(update, LATER, "ann")


def test_raw_sql_makes_no_effect_without_a_proposal_that_is_being_carried_out(
    desk, tenant, customer, ann
):
    proposal = approved(customer, ann)
    key = str(proposal.pk)
    assert refused(EFFECT, key, tenant.pk, "gifts.high")
    done = "UPDATE approvals_proposal SET status = %s, executed_at = now()"
    assert refused(done, "executed")
    carry_out(proposal)
    assert refused(EFFECT, key, tenant.pk, "gifts.high")
    assert refused("DELETE FROM approvals_effect")
    assert refused("UPDATE approvals_effect SET action = 'gifts.low'")


def test_raw_sql_files_nothing_as_decided(desk, customer):
    ask(customer, "gifts.high")
    columns = [field.column for field in Proposal._meta.concrete_fields]
    same = ", ".join(f'"{c}"' for c in columns if c not in {"id", "origin_key", "status"})
    copy = (
        f"INSERT INTO approvals_proposal (id, origin_key, status, {same}) "
        f"SELECT gen_random_uuid(), gen_random_uuid()::text, %s, {same} FROM approvals_proposal"
    )
    for status in ("approved", "executing", "executed", "rejected", "unknown"):
        assert refused(copy, status)
    assert not refused(copy, "pending")


def test_second_person_of_a_large_amount_cannot_be_left_out_by_raw_sql(desk, tenant, customer):
    from dsupport.lib.money import Money

    sue = hire(tenant, "sue", "admin")
    large = desk.action(
        "gifts.large", RiskTier.HIGH, amount=lambda _gift, _state: Money(10**7, "EUR")
    )
    with extended(large):
        ask(customer, "gifts.large")
        proposal = Proposal.objects.get()
        approve(proposal_id=str(proposal.pk), by=sue, shown_hash=proposal.hash, now=LATER)
        update = "UPDATE approvals_proposal SET status = 'approved', decided_at = %s"
        assert refused(f"{update}, decided_by = 'sue'", LATER)
        assert refused("UPDATE approvals_proposal SET people = 1")
