"""A customer's yes is bound to what was shown, and used once."""

from __future__ import annotations

from datetime import timedelta

import pytest

from approvals.errors import AlreadyDecided, DecisionTooLate, ProposalNotFound, ShownDiffers
from approvals.models import AuditEntry, Confirmation, Proposal
from approvals.rules import CONFIRM_WITHIN, Origin, OutcomeStatus
from approvals.services import ask_customer, confirm, decline, open_cards
from dsupport.contract.errors import DomainError
from dsupport.contract.principal import Principal, Proof
from tests.approvals.conftest import NOW, ask, run_sql
from tests.approvals.test_execution import refused

LATER = NOW + timedelta(minutes=5)


def show(customer, *, key="run/1", amount=500, action="gifts.high", now=NOW):
    return ask_customer(
        principal=customer,
        action=action,
        arguments={"order": "1042", "amount": amount},
        origin=Origin(key=key, run_id="run", conversation_id="talk"),
        evidence={"words": ["please"]},
        now=now,
    )


def yes(customer, card, *, shown=None, now=LATER):
    return confirm(
        principal=customer, confirmation_id=card.id, shown_hash=shown or card.hash, now=now
    )


def test_card_asks_for_nothing_yet(desk, customer):
    card = show(customer)
    assert card.title == "Give 500 on order 1042"
    assert card.warning == "This cannot be undone."
    assert not Proposal.objects.exists()
    (found,) = open_cards(principal=customer, conversation_id="talk", now=LATER)
    assert str(found.pk) == card.id


def test_yes_asks_for_exactly_what_was_shown(desk, customer):
    card = show(customer)
    outcome = yes(customer, card)
    assert outcome.status is OutcomeStatus.WAITING
    proposal = Proposal.objects.get()
    assert (proposal.hash, proposal.evidence["words"]) == (card.hash, ["please"])
    assert Confirmation.objects.get().proposal == proposal
    assert open_cards(principal=customer, conversation_id="talk", now=LATER) == []
    kinds = list(AuditEntry.objects.order_by("id").values_list("kind", flat=True))
    assert kinds == ["confirmation.asked", "proposal.pending", "confirmation.confirmed"]


@pytest.mark.parametrize("first", ["yes", "no"])
def test_card_is_answered_once(desk, customer, first):
    card = show(customer)
    if first == "yes":
        yes(customer, card)
    else:
        decline(principal=customer, confirmation_id=card.id, now=LATER)
    with pytest.raises(AlreadyDecided):
        yes(customer, card)
    with pytest.raises(AlreadyDecided):
        decline(principal=customer, confirmation_id=card.id, now=LATER)
    assert Proposal.objects.count() == (first == "yes")


def test_yes_to_something_else_is_no_yes(desk, customer):
    card, other = show(customer), show(customer, amount=900, key="run/2")
    with pytest.raises(AlreadyDecided, match="superseded"):
        yes(customer, card)
    with pytest.raises(ShownDiffers):
        yes(customer, other, shown=card.hash)
    assert not Proposal.objects.exists()
    assert yes(customer, other).status is OutcomeStatus.WAITING


def test_state_that_changed_under_the_card_is_refused(desk, customer):
    card = show(customer)
    desk.state = {"paid": 1}
    outcome = yes(customer, card)
    assert (outcome.status, outcome.code) == (OutcomeStatus.REFUSED, "shown_differs")
    assert not Proposal.objects.exists()


def test_card_is_the_askers_own_and_does_not_wait_for_ever(desk, customer):
    card = show(customer)
    stranger = Principal(customer.tenant_id, Proof.LOGIN, customer_id=8)
    with pytest.raises(ProposalNotFound):
        yes(stranger, card)
    with pytest.raises(ProposalNotFound):
        decline(principal=customer, confirmation_id="nonsense", now=LATER)
    with pytest.raises(DecisionTooLate):
        yes(customer, card, now=NOW + CONFIRM_WITHIN)


def test_what_the_gate_would_refuse_is_not_shown(desk, customer):
    desk.closed = True
    with pytest.raises(DomainError) as closed:
        show(customer)
    assert closed.value.code == "order_closed"
    assert not Confirmation.objects.exists()


def test_what_waits_already_is_found_again_by_the_yes(desk, customer):
    ask(customer, "gifts.high", key="earlier")
    outcome = yes(customer, show(customer))
    assert outcome.status is OutcomeStatus.DUPLICATE
    assert Proposal.objects.count() == 1


def test_table_keeps_what_was_shown_and_the_answer(desk, customer):
    card = show(customer)
    assert refused("UPDATE approvals_confirmation SET hash = repeat('0', 64)")
    assert refused("UPDATE approvals_confirmation SET card = '{}'")
    assert refused("DELETE FROM approvals_confirmation")
    yes(customer, card)
    assert refused("UPDATE approvals_confirmation SET proposal_id = NULL")
    assert refused("UPDATE approvals_confirmation SET status = 'declined', proposal_id = NULL")
    run_sql("default", "UPDATE approvals_confirmation SET answered_at = now()")
