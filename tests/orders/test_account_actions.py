"""Credits, e-mail addresses and the end of an account: asked for, decided, done once or never."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import transaction

from approvals import registry
from approvals.models import Proposal
from approvals.rules import Origin, OutcomeStatus
from approvals.services import Outcome, approve, execute, propose
from dsupport.contract.principal import Principal, Proof
from orders.models import Customer, Order, Payment, PaymentMethod
from orders.policy import judge_credit, judge_email
from tests.approvals.conftest import hire

NOW = datetime(2026, 10, 15, 9, 0, tzinfo=UTC)


@pytest.fixture
def lena(tenant) -> Customer:
    return Customer.objects.create(
        tenant=tenant,
        external_id="lena",
        first_name="Lena",
        last_name="Vos",
        email="lena@example.org",
        currency="EUR",
    )


@pytest.fixture
def order(tenant, lena) -> Order:
    order = Order.objects.create(
        tenant=tenant,
        customer=lena,
        number="1042",
        number_key="1042",
        status="delivered",
        currency="EUR",
        total_minor=9980,
    )
    method = PaymentMethod.objects.create(
        customer=lena, external_id="card", kind="card", currency="EUR"
    )
    Payment.objects.create(
        order=order,
        reference="p1",
        kind="payment",
        method=method,
        amount_minor=9980,
        currency="EUR",
        status="completed",
        at=NOW,
    )
    return order


@pytest.fixture
def asker(tenant, lena) -> Principal:
    return Principal(tenant.pk, Proof.LOGIN, customer_id=lena.pk)


def wish(asker: Principal, action: str, key: str = "k", **arguments: Any) -> Outcome:
    return propose(
        principal=asker,
        action=action,
        arguments=arguments,
        origin=Origin(key=key, run_id="r", conversation_id="t"),
        evidence={"words": ["please"]},
        now=NOW,
    )


def carry_out(tenant, outcome: Outcome, name: str = "ann") -> Proposal:
    proposal = Proposal.objects.get(pk=outcome.proposal_id)
    approve(proposal_id=str(proposal.pk), by=hire(tenant, name), shown_hash=proposal.hash, now=NOW)
    execute(str(proposal.pk), now=NOW)
    return Proposal.objects.get(pk=proposal.pk)


def credit(asker: Principal, amount: str = "5.00", key: str = "k", **fields: Any) -> Outcome:
    wanted = {"order_number": "1042", "amount": amount, "reason": "late", **fields}
    return wish(asker, "orders.goodwill_credit", key, **wanted)


def balances(lena: Customer) -> list[int]:
    cards = PaymentMethod.objects.for_tenant(lena.tenant_id).filter(customer=lena, kind="gift_card")
    return [card.balance_minor for card in cards]


def test_credit_waits_and_then_stands_on_a_new_gift_card_once(tenant, order, lena, asker):
    outcome = credit(asker)
    assert (outcome.status, balances(lena)) == (OutcomeStatus.WAITING, [])
    done = carry_out(tenant, outcome)
    assert (done.status, str(done.amount), balances(lena)) == ("executed", "€5.00", [500])
    execute(str(done.pk), now=NOW)
    assert balances(lena) == [500]
    assert credit(asker, key="again").code == "first_credit"


def test_credit_goes_on_the_gift_card_that_is_there(tenant, order, lena, asker):
    PaymentMethod.objects.create(
        customer=lena, external_id="g", kind="gift_card", currency="EUR", balance_minor=250
    )
    other = PaymentMethod.objects.create(
        customer=lena, external_id="u", kind="gift_card", currency="USD", balance_minor=9
    )
    done = carry_out(tenant, credit(asker))
    change = registry.get_action(done.action).changes(
        registry.get_action(done.action).arguments.model_validate(done.arguments), done.snapshot
    )
    assert [(each.before, each.after) for each in change] == [("€2.50", "€7.50")]
    assert sorted(balances(lena)) == [9, 750]
    other.refresh_from_db()
    assert other.balance_minor == 9


@pytest.mark.parametrize(
    ("amount", "code"),
    [
        ("24.96", "within_credit"),
        ("0", "positive"),
        ("0.001", "positive"),
        ("-1.00", "invalid_arguments"),
        ("1e3", "invalid_arguments"),
        (5, "invalid_arguments"),
    ],
)
def test_credit_of_a_wrong_amount_is_refused(order, asker, amount, code):
    assert credit(asker, amount).code == code
    assert not Proposal.objects.filter(status="pending").exists()


def test_credit_up_to_a_quarter_is_allowed(order, asker):
    assert credit(asker, "24.95").status is OutcomeStatus.WAITING


def test_a_spent_card_between_decision_and_deed_is_a_conflict(tenant, order, lena, asker):
    card = PaymentMethod.objects.create(
        customer=lena, external_id="g", kind="gift_card", currency="EUR", balance_minor=250
    )
    outcome = credit(asker)
    PaymentMethod.objects.filter(pk=card.pk).update(balance_minor=100)
    assert carry_out(tenant, outcome).status == "conflict"
    assert balances(lena) == [100]


def test_unpaid_orders_and_guests_get_no_credit(tenant, order, asker):
    guest = Principal(tenant.pk, Proof.ORDER, visitor="v", proved_orders=frozenset({order.pk}))
    assert credit(guest).code == "identity_required"
    Payment.objects.filter(order=order).update(status="failed")
    assert credit(asker, key="b").code == "paid"


def test_email_is_changed_when_a_person_agrees(tenant, lena, asker):
    outcome = wish(asker, "orders.change_email", email=" Lena.Vos@example.org ")
    assert outcome.status is OutcomeStatus.WAITING
    done = carry_out(tenant, outcome)
    lena.refresh_from_db()
    assert (done.status, lena.email) == ("executed", "Lena.Vos@example.org")
    assert done.result["from"] == "lena@example.org"


@pytest.mark.parametrize("email", ["lena", "lena@", "a b@example.org", "l\u0435na@example.org", ""])
def test_what_is_no_address_is_refused(lena, asker, email):
    assert wish(asker, "orders.change_email", email=email).code == "invalid_arguments"


def test_somebody_elses_address_is_refused_without_saying_that_there_is_one(tenant, lena, asker):
    Customer.objects.create(tenant=tenant, external_id="b", email="bob@example.org", currency="EUR")
    refused = wish(asker, "orders.change_email", email="BOB@example.org")
    assert refused.code == "email_free"
    for word in ("other", "another", "exists", "taken", "bob"):
        assert word not in refused.message.casefold()


def test_address_that_somebody_took_meanwhile_is_not_given_twice(tenant, lena, asker):
    outcome = wish(asker, "orders.change_email", email="new@example.org")
    Customer.objects.create(tenant=tenant, external_id="b", email="new@example.org", currency="EUR")
    assert carry_out(tenant, outcome).status in {"conflict", "failed"}
    lena.refresh_from_db()
    assert lena.email == "lena@example.org"


def test_erasure_is_recorded_for_a_person_and_no_code_performs_it(tenant, order, lena, asker):
    outcome = wish(asker, "orders.erase_customer")
    assert outcome.status is OutcomeStatus.PROPOSE_ONLY
    row = Proposal.objects.get(pk=outcome.proposal_id)
    assert (row.status, row.description) == (
        "recorded",
        "Erase the account of Lena Vos and what is known of it",
    )
    assert registry.get_action("orders.erase_customer").execute is None
    execute(str(row.pk), now=NOW)
    assert Customer.objects.filter(tenant=tenant, pk=lena.pk).exists()


def test_accounts_rules_are_pure_and_explain_themselves(order, asker):
    from orders.cases import open_case

    with transaction.atomic():
        case = open_case(asker, "1042").case
    assert [rule.holds for rule in judge_credit(case, 2495, False)] == [True] * 4
    assert [rule.holds for rule in judge_email("a@b.c", "a@b.c", free=False)] == [False, False]
