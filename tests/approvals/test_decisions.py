"""What people may decide, on what, and what becomes of a second word."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import AnonymousUser
from hypothesis import given
from hypothesis import strategies as st

from approvals import policy
from approvals.errors import (
    AlreadyDecided,
    AmountTooLarge,
    DecisionForbidden,
    DecisionTooLate,
    OwnMatter,
    ProposalNotFound,
    ShownDiffers,
    TooFast,
    UnknownReason,
)
from approvals.models import AuditEntry, Decision, Proposal
from approvals.policy import Decider, is_enough, people_needed
from approvals.registry import extended
from approvals.rules import OutcomeStatus
from approvals.services import approve, cancel, claim, edit, expire_due, reject
from dsupport.contract.principal import Principal, Proof
from dsupport.contract.risk import RiskTier
from dsupport.lib.money import Money
from tests.approvals.conftest import NOW, ask, hire
from tests.conftest import make_tenant

LATER = NOW + timedelta(minutes=5)


@pytest.fixture
def pending(desk, customer) -> Proposal:
    ask(customer, "gifts.high")
    return Proposal.objects.get()


@pytest.fixture
def ann(tenant):
    return hire(tenant, "ann")


def agree(proposal, user, *, shown=None, now=LATER):
    return approve(
        proposal_id=str(proposal.pk), by=user, shown_hash=shown or proposal.hash, now=now
    )


def refuse(proposal, user, *, code="not_eligible", reason="Too late.", now=LATER):
    return reject(proposal_id=str(proposal.pk), by=user, reason_code=code, reason=reason, now=now)


def kinds() -> list[str]:
    return list(AuditEntry.objects.order_by("id").values_list("kind", flat=True))


def worth(desk, minor, currency="EUR"):
    """Return an action whose proposals are about an amount."""
    amount = Money(minor, currency)
    return desk.action("gifts.worth", RiskTier.HIGH, amount=lambda _gift, _state: amount)


def test_approver_agrees_to_what_was_shown_and_it_is_on_record(pending, ann):
    assert agree(pending, ann).status == "approved"
    stored = Proposal.objects.get()
    assert (stored.status, stored.decided_by, stored.decided_at) == ("approved", "ann", LATER)
    word = Decision.objects.get()
    assert (word.name, word.roles, word.shown_hash) == ("ann", ["approver"], pending.hash)
    assert kinds()[-1] == "proposal.approved"


def test_rejection_has_a_reason_from_the_list_and_words(pending, ann):
    for code, reason in (("mood", "No."), ("other", "  "), ("other", "x" * 1_001)):
        with pytest.raises(UnknownReason):
            refuse(pending, ann, code=code, reason=reason)
    assert refuse(pending, ann).status == "rejected"
    stored = Proposal.objects.get()
    assert (stored.reason_code, stored.reason) == ("not_eligible", "Too late.")


@pytest.mark.parametrize("second", [agree, refuse])
@pytest.mark.parametrize("first", [agree, refuse])
def test_second_decision_changes_nothing_and_says_who_was_first(
    tenant, pending, ann, first, second
):
    first(pending, ann)
    before = Proposal.objects.values().get()
    with pytest.raises(AlreadyDecided, match="by ann"):
        second(pending, hire(tenant, "bob"))
    assert Proposal.objects.values().get() == before


def test_something_else_was_shown(pending, ann):
    with pytest.raises(ShownDiffers):
        agree(pending, ann, shown="0" * 64)
    assert Proposal.objects.get().status == "pending"
    assert not Decision.objects.exists()


def test_time_to_decide_is_over_at_the_moment_it_ends(pending, ann):
    for decide in (agree, refuse):
        with pytest.raises(DecisionTooLate):
            decide(pending, ann, now=pending.expires_at)
    assert agree(pending, ann, now=pending.expires_at - timedelta(microseconds=1))


@pytest.mark.parametrize("role", ["operator", "editor", "auditor", ""])
def test_other_roles_decide_nothing(tenant, pending, role):
    user = hire(tenant, "eve", role)
    for decide in (agree, refuse):
        with pytest.raises(DecisionForbidden):
            decide(pending, user)


def test_approver_of_another_shop_decides_nothing(pending):
    stranger = hire(make_tenant("other"), "eve", "admin")
    with pytest.raises(DecisionForbidden):
        agree(pending, stranger)


@pytest.mark.parametrize("change", [{"is_active": False}, {"is_staff": False}])
def test_rights_are_read_in_the_transaction_that_decides(pending, ann, change):
    type(ann).objects.filter(pk=ann.pk).update(**change)
    with pytest.raises(DecisionForbidden):
        agree(pending, ann)


def test_nobody_signed_in_decides_nothing(pending):
    with pytest.raises(DecisionForbidden):
        agree(pending, AnonymousUser())


@pytest.mark.parametrize("superuser", [False, True])
def test_nobody_decides_what_they_asked_for_themselves(desk, tenant, superuser):
    user = hire(tenant, "ann", "admin", is_superuser=superuser)
    asker = Principal(tenant_id=tenant.pk, proof=Proof.STAFF, staff_id=user.pk)
    ask(asker, "gifts.high")
    proposal = Proposal.objects.get()
    for decide in (agree, refuse):
        with pytest.raises(OwnMatter):
            decide(proposal, user)
    assert agree(proposal, hire(tenant, "bob")).status == "approved"


def test_amount_above_an_approvers_own_needs_a_senior_one(desk, tenant, customer, ann):
    with extended(worth(desk, 50_001)):
        ask(customer, "gifts.worth")
        proposal = Proposal.objects.get()
        with pytest.raises(AmountTooLarge):
            agree(proposal, ann)
        assert agree(proposal, hire(tenant, "sue", "senior_approver")).status == "approved"


def test_large_amount_waits_for_a_second_person(desk, tenant, customer, ann):
    sue = hire(tenant, "sue", "senior_approver")
    with extended(worth(desk, 200_001)):
        ask(customer, "gifts.worth")
        proposal = Proposal.objects.get()
        assert proposal.people == 2
        assert agree(proposal, sue).status == "pending"
        with pytest.raises(OwnMatter, match="second person"):
            agree(proposal, sue)
        assert agree(proposal, ann).status == "approved"
    assert Proposal.objects.get().decided_by == "ann"


def test_one_no_is_enough_against_a_yes(desk, tenant, customer, ann):
    with extended(worth(desk, 200_001)):
        ask(customer, "gifts.worth")
        proposal = Proposal.objects.get()
        agree(proposal, hire(tenant, "sue", "admin"))
        assert refuse(proposal, ann).status == "rejected"


def test_nobody_approves_faster_than_anybody_reads(desk, tenant, ann):
    for number in range(policy.PACE + 1):
        asker = Principal(tenant.pk, Proof.LOGIN, customer_id=100 + number)
        ask(asker, "gifts.high", key=f"k{number}", conversation=f"talk{number}")
    *first, last = Proposal.objects.order_by("created_at", "id")
    for proposal in first:
        agree(proposal, ann)
    with pytest.raises(TooFast):
        agree(last, ann)
    assert agree(last, ann, now=LATER + timedelta(seconds=61)).status == "approved"


def test_asker_takes_a_request_back_and_nobody_else_does(pending, customer, ann):
    stranger = Principal(customer.tenant_id, Proof.LOGIN, customer_id=8)
    with pytest.raises(ProposalNotFound):
        cancel(principal=stranger, proposal_id=str(pending.pk), now=LATER)
    done = cancel(principal=customer, proposal_id=str(pending.pk), now=LATER)
    assert done.status == "cancelled"
    with pytest.raises(AlreadyDecided):
        agree(pending, ann)


def test_claim_is_shown_and_keeps_nobody_from_deciding(tenant, pending, ann):
    assert claim(proposal_id=str(pending.pk), by=ann, now=LATER).claimed_by == "ann"
    assert claim(proposal_id=str(pending.pk), by=ann, now=LATER).claimed_by == ""
    claim(proposal_id=str(pending.pk), by=ann, now=LATER)
    assert agree(pending, hire(tenant, "bob")).status == "approved"


def test_edit_makes_a_new_proposal_that_its_editor_may_not_approve(tenant, pending, ann):
    outcome = edit(
        proposal_id=str(pending.pk), by=ann, arguments={"order": "1042", "amount": 300}, now=LATER
    )
    assert outcome.status is OutcomeStatus.WAITING
    new = Proposal.objects.get(pk=outcome.proposal_id)
    assert (new.arguments["amount"], new.edited_by) == (300, "ann")
    assert Proposal.objects.get(pk=pending.pk).status == "superseded"
    for decide in (agree, refuse):
        with pytest.raises(OwnMatter):
            decide(new, ann)
    assert agree(new, hire(tenant, "bob")).status == "approved"


def test_edit_that_the_gate_refuses_leaves_the_old_one(desk, pending, ann):
    outcome = edit(
        proposal_id=str(pending.pk), by=ann, arguments={"order": "1042", "amont": 3}, now=LATER
    )
    assert outcome.code == "invalid_arguments"
    assert Proposal.objects.get().status == "pending"


def test_what_nobody_decided_in_time_expires_once(pending, ann):
    assert expire_due(now=LATER) == 0
    assert expire_due(now=pending.expires_at) == 1
    assert expire_due(now=pending.expires_at) == 0
    assert kinds().count("proposal.expired") == 1
    with pytest.raises(AlreadyDecided):
        agree(pending, ann)


def test_proposal_that_does_not_exist_is_said_to(ann):
    for wrong in ("nonsense", "0198f000-0000-7000-8000-000000000000"):
        with pytest.raises(ProposalNotFound):
            approve(proposal_id=wrong, by=ann, shown_hash="0" * 64, now=NOW)


amounts = st.builds(Money, st.integers(0, 10**7), st.sampled_from(["EUR", "JPY", "XTS"]))
people = st.lists(
    st.builds(
        Decider,
        st.integers(1, 4),
        st.just("x"),
        st.sampled_from([frozenset({"approver"}), frozenset({"senior_approver"})]),
    ),
    max_size=4,
)


@given(amounts, people)
def test_more_money_never_needs_fewer_people(amount, agreed):
    more = Money(amount.minor + 1, amount.currency)
    assert people_needed(more) >= people_needed(amount)
    if is_enough(agreed, more):
        assert is_enough(agreed, amount)
    if is_enough(agreed, amount):
        assert len({decider.user_id for decider in agreed}) >= people_needed(amount)


@given(amounts, people)
def test_one_person_alone_is_never_two(amount, agreed):
    same = [Decider(1, "x", decider.roles) for decider in agreed]
    if people_needed(amount) > 1:
        assert not is_enough(same, amount)
