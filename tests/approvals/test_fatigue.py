"""The report on approvers tells a decision from a reflex."""

from __future__ import annotations

import io
import json
from datetime import timedelta

from django.core.management import call_command
from hypothesis import given
from hypothesis import strategies as st

from approvals.fatigue import Decided, habits_of
from approvals.management.commands import approvals
from approvals.models import Proposal
from approvals.services import approve, reject
from dsupport.lib import clock
from tests.approvals.conftest import NOW, ask, hire

SECOND = timedelta(seconds=1)


def word(name: str, at: float, *, yes: bool = True, asked: float = -60) -> Decided:
    return Decided(name, NOW + SECOND * asked, NOW + SECOND * at, yes)


def test_rapid_approvals_are_counted_for_the_person_who_gave_them():
    said = [word("ann", 0), word("bob", 1), word("ann", 4), word("ann", 6, yes=False)]
    ann, bob = habits_of(said)
    assert (ann.name, ann.decisions, ann.approved, ann.rapid) == ("ann", 3, 2, 1)
    assert (bob.rapid, bob.share, bob.median_wait) == (0, 1.0, timedelta(seconds=61))
    assert ann.warnings == ["approvals within 5 s of another decision: 1"]


def test_a_yes_to_everything_is_said_once_there_is_enough_of_it():
    few = habits_of(word("ann", 60 * n) for n in range(19))
    many = habits_of(word("ann", 60 * n) for n in range(20))
    mixed = habits_of(word("ann", 60 * n, yes=n > 0) for n in range(20))
    assert few[0].warnings == []
    assert many[0].warnings == ["nearly everything is approved"]
    assert mixed[0].warnings == []


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 600), st.booleans()), max_size=40))
def test_every_word_is_counted_once_in_any_order(rows):
    said = [word(name, at, yes=yes) for name, at, yes in rows]
    habits = habits_of(said)
    assert habits == habits_of(sorted(said, key=lambda one: (one.name, one.at)))
    assert sum(habit.decisions for habit in habits) == len(rows)
    assert all(habit.rapid <= habit.approved <= habit.decisions for habit in habits)


def test_command_reports_on_the_last_days(desk, tenant, customer):
    now = clock.now()
    ann = hire(tenant, "ann")
    for number, yes in enumerate([True, False]):
        asked = {"order": f"o{number}", "amount": number + 1}
        done = ask(customer, "gifts.high", asked, key=f"k{number}", now=now - timedelta(hours=2))
        row = Proposal.objects.get(pk=done.proposal_id)
        if yes:
            approve(proposal_id=str(row.pk), by=ann, shown_hash=row.hash, now=now)
        else:
            reject(proposal_id=str(row.pk), by=ann, reason_code="other", reason="no", now=now)
    out = io.StringIO()
    command = approvals.Command()
    command.needs_desk = False  # the test has prepared the desk
    call_command(command, "report", "--json", stdout=out)
    (found,) = json.loads(out.getvalue())
    assert (found["name"], found["decisions"], found["approved"]) == ("ann", 2, 1)
    assert found["median_wait_seconds"] == 7_200
