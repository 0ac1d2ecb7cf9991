"""What the gate does with a request: its order, its refusals, its traces."""

from __future__ import annotations

import json
import logging
from datetime import timedelta

import pytest
from django.db import IntegrityError, connection, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from approvals import registry, rules
from approvals.models import AuditEntry, Effect, Proposal
from approvals.rules import OutcomeStatus, ProposalStatus
from approvals.services import verify
from dsupport.contract.principal import Principal, Proof
from dsupport.contract.risk import RiskTier
from dsupport.lib.ids import new_id
from dsupport.models import Switch
from tests.approvals.conftest import NOW, ask, hire, say, turn_down


def last_entry() -> AuditEntry:
    return AuditEntry.objects.order_by("-id")[0]


def detail_of(entry: AuditEntry) -> dict:
    return json.loads(entry.detail)


def turn_off(name: str, tenant=None) -> None:
    Switch.objects.create(
        tenant=tenant, name=name, off=True, changed_by="ann", changed_at=NOW, reason="test"
    )


def test_low_action_runs_and_is_recorded(desk, customer):
    outcome = ask(customer)
    assert outcome.status is OutcomeStatus.EXECUTED
    assert (outcome.tier, outcome.result) == (RiskTier.LOW, {"given": 500, "order": "1042"})
    proposal = Proposal.objects.get()
    assert (proposal.status, proposal.result) == (ProposalStatus.EXECUTED, outcome.result)
    assert (proposal.executed_at, proposal.expires_at, proposal.decided_at) == (NOW, None, None)
    assert proposal.arguments == {"order": "1042", "amount": 500, "note": ""}
    assert proposal.arguments_text == '{"amount":500,"note":"","order":"1042"}'
    assert proposal.description == "Give 500 on order 1042"
    assert Principal.from_json(proposal.principal) == customer
    execution = desk.done[0]
    assert execution.key == execution.proposal_id == str(proposal.pk) == outcome.proposal_id
    entry = last_entry()
    assert (entry.kind, entry.actor) == ("proposal.executed", "customer:7")
    assert entry.subject == f"proposal:{proposal.pk}"
    assert detail_of(entry)["hash"] == proposal.hash


def test_proposal_hash_can_be_computed_again_from_the_row(desk, customer):
    ask(customer, "gifts.high", evidence={"hits": [{"score": 0.5}], "words": ["é\u0301"]})
    row = Proposal.objects.get()
    assert row.evidence_digest == rules.evidence_digest(row.evidence)
    assert row.hash == rules.proposal_hash(
        tenant_id=row.tenant_id,
        owner_key=row.owner_key,
        action=row.action,
        arguments=json.loads(row.arguments_text),
        snapshot=row.snapshot,
        policy_version=row.policy_version,
    )


@pytest.mark.parametrize(
    ("action", "outcome", "status", "kind", "hours"),
    [
        ("gifts.medium", OutcomeStatus.WAITING, "pending", "proposal.pending", 24),
        ("gifts.high", OutcomeStatus.WAITING, "pending", "proposal.pending", 24),
        ("gifts.very_high", OutcomeStatus.PROPOSE_ONLY, "recorded", "proposal.recorded", 720),
    ],
)
def test_higher_tiers_do_nothing_yet(desk, customer, action, outcome, status, kind, hours):
    answer = ask(customer, action)
    assert (answer.status, answer.code) == (outcome, status)
    assert desk.done == []
    proposal = Proposal.objects.get()
    assert (proposal.status, proposal.result, proposal.executed_at) == (status, None, None)
    assert proposal.expires_at == NOW + timedelta(hours=hours)
    assert last_entry().kind == kind


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"order": "1042"}, "invalid_arguments"),
        ({"order": "1042", "amount": "500"}, "invalid_arguments"),
        ({"order": "1042", "amount": 5.0}, "invalid_arguments"),
        ({"order": "1042", "amount": True}, "invalid_arguments"),
        ({"order": "1042", "amount": 5, "customer_id": 8}, "invalid_arguments"),
        ({"order": "10\x0042", "amount": 5}, "invalid_arguments"),
        ({"order": "\ud800", "amount": 5}, "invalid_arguments"),
        ({"order": "1042", "amount": 5, "$x": 1}, "invalid_arguments"),
        ({"order": "1042", 5: 5}, "invalid_arguments"),
        ([], "invalid_arguments"),
        ("order", "invalid_arguments"),
    ],
)
def test_arguments_that_do_not_fit_are_refused_and_audited(desk, customer, arguments, code):
    outcome = ask(customer, arguments=arguments)
    assert (outcome.status, outcome.code) == (OutcomeStatus.REFUSED, code)
    assert not Proposal.objects.exists()
    assert last_entry().kind == "proposal.refused"
    assert detail_of(last_entry())["code"] == code


def test_arguments_deep_beyond_reading_are_refused_and_audited(desk, customer):
    nested: list = []
    for _ in range(5_000):
        nested = [nested]
    outcome = ask(customer, arguments={"order": nested, "amount": 1})
    assert outcome.status is OutcomeStatus.REFUSED
    assert last_entry().kind == "proposal.refused"


@pytest.mark.parametrize(
    ("key", "conversation", "code"),
    [
        ("", "talk", "invalid_origin"),
        ("k" * 201, "talk", "invalid_origin"),
        ("k\x00", "talk", "invalid_arguments"),
        ("k", "t" * 65, "invalid_origin"),
    ],
)
def test_origin_that_cannot_be_kept_is_refused(desk, customer, key, conversation, code):
    assert ask(customer, key=key, conversation=conversation).code == code
    assert desk.done == []


def test_unknown_action_and_shop_are_refused_and_audited(desk, customer):
    assert ask(customer, "gifts.none").code == "unknown_action"
    assert last_entry().subject == "action:gifts.none"
    assert ask(Principal(9_999, Proof.LOGIN, customer_id=7)).code == "unknown_shop"
    assert last_entry().tenant_id == 9_999


def test_action_without_a_tier_never_passes(desk, customer, caplog):
    untiered = desk.action("gifts.odd", RiskTier.LOW)
    with registry.extended(untiered):
        object.__setattr__(untiered, "tier", None)  # as if registration had let it through
        outcome = ask(customer, "gifts.odd")
        object.__setattr__(untiered, "tier", RiskTier.LOW)
    assert (outcome.status, outcome.code) == (OutcomeStatus.REFUSED, "gate_failed")
    assert desk.done == []
    caplog.clear()


def test_anonymous_asker_is_refused(desk, tenant):
    stranger = Principal(tenant_id=tenant.pk, visitor="v1")
    assert ask(stranger).code == "identity_required"
    assert ask(stranger, "gifts.always").status is OutcomeStatus.EXECUTED


# One row for each step: what is wrong with the request, and the code of the step that must win
# over all the wrongs of the steps after it.
STEPS = [
    ("unknown", "unknown_action"),
    ("arguments", "invalid_arguments"),
    ("origin", "invalid_origin"),
    ("replay", "key_conflict"),
    ("identity", "identity_required"),
    ("state", "order_closed"),
    ("switch", "switched_off"),
    ("limit", "limit:conversation"),
    ("rejected", "already_rejected"),
]


@pytest.mark.parametrize("first", range(len(STEPS)), ids=[step for step, _ in STEPS])
def test_gate_earliest_wrong_decides(desk, tenant, customer, first):
    wrong = {step for step, _ in STEPS[first:]}
    asker = customer
    if "identity" in wrong:
        asker = Principal(tenant_id=tenant.pk, visitor="v1")
    if "replay" in wrong:
        with registry.extended(desk.action("gifts.free", RiskTier.LOW, permit=lambda *_: None)):
            ask(asker, "gifts.free", key="used", conversation="other")
    if "rejected" in wrong and "identity" not in wrong:
        ask(asker, "gifts.medium", key="first")
        turn_down(asker, origin_key="first")
    if "limit" in wrong:
        fill("talk", "gifts.medium", rules.DECIDED_LIMITS.conversation, customer)
    if "switch" in wrong:
        turn_off("actions")
    desk.closed = "state" in wrong
    key = "" if "origin" in wrong else "used" if "replay" in wrong else "fresh"
    arguments = {"bad": 1} if "arguments" in wrong else None
    before = Proposal.objects.count()
    done = len(desk.done)
    action = "gifts.none" if "unknown" in wrong else "gifts.medium"

    outcome = ask(asker, action, arguments, key=key)

    assert (outcome.status, outcome.code) == (OutcomeStatus.REFUSED, STEPS[first][1])
    assert Proposal.objects.count() == before
    assert len(desk.done) == done
    assert (last_entry().kind, detail_of(last_entry())["code"]) == (
        "proposal.refused",
        STEPS[first][1],
    )


def fill(conversation: str, action: str, number: int, principal: Principal, **fields) -> None:
    """Store proposals of a source, each of another wish."""
    tier = registry.get_action(action).tier
    rows = []
    for index in range(number):
        low = tier is RiskTier.LOW
        defaults = {
            "status": "executing" if low else "pending",
            "expires_at": None if low else NOW + timedelta(days=1),
            "created_at": NOW - timedelta(minutes=5),
            "owner_key": principal.owner_key,
        }
        rows.append(
            Proposal(
                **{
                    "id": new_id(),
                    "tenant_id": principal.tenant_id,
                    "principal": {},
                    "action": action,
                    "tier": tier,
                    "arguments": {},
                    "arguments_text": "{}",
                    "snapshot": {},
                    "evidence": {},
                    "evidence_digest": "0" * 64,
                    "policy_version": "x",
                    "hash": "0" * 64,
                    "description": "A gift",
                    "intent_key": f"filled/{index}",
                    "origin_key": f"filled/{action}/{conversation}/{index}/{new_id()}",
                    "conversation_id": conversation,
                    **defaults,
                    **fields,
                }
            )
        )
    Proposal.objects.bulk_create(rows)


@pytest.mark.parametrize(
    ("source", "number", "fields"),
    [
        ("conversation", 10, {}),
        ("article", 10, {"conversation_id": "x", "owner_key": "customer:9"}),
        ("customer", 20, {"conversation_id": "x"}),
        ("tenant", 2_000, {"conversation_id": "x", "owner_key": "customer:9"}),
    ],
)
def test_limit_of_each_source_counts_from_the_table(desk, customer, source, number, fields):
    fields = {"article_ids": ["kb-5"] if source == "article" else [], **fields}
    fill("talk", "gifts.medium", number - 1, customer, **fields)
    one = {"order": "1", "amount": 1}
    assert ask(customer, "gifts.medium", one, key="a", articles=("kb-5",)).code == "pending"
    two = {"order": "2", "amount": 1}
    outcome = ask(customer, "gifts.medium", two, key="b", articles=("kb-5",))
    assert outcome.code == f"limit:{source}"


def test_limit_old_requests_do_not_count(desk, customer):
    fill("talk", "gifts.medium", 30, customer, created_at=NOW - timedelta(hours=25))
    assert ask(customer, "gifts.medium").status is OutcomeStatus.WAITING


def test_limit_classes_and_always_on_count_apart(desk, customer):
    fill("talk", "gifts.medium", 10, customer)
    assert ask(customer, "gifts.low", key="a").status is OutcomeStatus.EXECUTED
    fill("talk", "gifts.always", 30, customer)
    assert ask(customer, "gifts.low", key="b").status is OutcomeStatus.EXECUTED
    fill("talk", "gifts.low", 20, customer)
    assert ask(customer, "gifts.low", key="c").code == "limit:conversation"
    assert ask(customer, "gifts.always", key="d").status is OutcomeStatus.EXECUTED


def test_limit_poisoned_article_leads_to_few_proposals(desk, tenant):
    waiting = 0
    for number in range(50):
        victim = Principal(tenant.pk, Proof.LOGIN, customer_id=100 + number)
        outcome = ask(
            victim,
            "gifts.high",
            key=f"k{number}",
            conversation=f"talk{number}",
            articles=("poisoned", f"kb-{number}"),
        )
        waiting += outcome.status is OutcomeStatus.WAITING
    assert waiting == rules.DECIDED_LIMITS.article


def test_same_origin_key_gets_the_recorded_outcome(desk, customer):
    first = ask(customer)
    desk.closed = True  # what the first passage did may have changed the state
    turn_off("actions")
    again = ask(customer)
    assert again.status is OutcomeStatus.DUPLICATE
    assert (again.proposal_id, again.result, again.code) == (
        first.proposal_id,
        first.result,
        "executed",
    )
    assert len(desk.done) == Proposal.objects.count() == 1


@pytest.mark.parametrize("change", ["arguments", "action", "asker"])
def test_same_origin_key_for_another_request_is_refused(desk, customer, change):
    ask(customer)
    asker = Principal(customer.tenant_id, Proof.LOGIN, customer_id=8)
    outcome = ask(
        asker if change == "asker" else customer,
        "gifts.medium" if change == "action" else "gifts.low",
        {"order": "1042", "amount": 501} if change == "arguments" else None,
    )
    assert outcome.code == "key_conflict"
    assert outcome.result == {}
    assert len(desk.done) == 1


def test_same_origin_key_in_another_shop_is_another_request(desk, customer):
    from tests.conftest import make_tenant

    ask(customer)
    elsewhere = Principal(make_tenant("other").pk, Proof.LOGIN, customer_id=7)
    assert ask(elsewhere).status is OutcomeStatus.EXECUTED


def test_same_intent_while_the_first_waits_is_a_duplicate(desk, customer):
    first = ask(customer, "gifts.high", key="a")
    again = ask(customer, "gifts.high", {"order": "1042", "amount": 999}, key="b")
    assert (again.status, again.proposal_id) == (OutcomeStatus.DUPLICATE, first.proposal_id)
    assert last_entry().kind == "proposal.duplicate"
    other = Principal(customer.tenant_id, Proof.LOGIN, customer_id=8)
    assert ask(other, "gifts.high", key="c").status is OutcomeStatus.WAITING


def test_same_intent_after_the_first_expired_is_new(desk, customer):
    ask(customer, "gifts.high", key="a")
    later = NOW + timedelta(hours=24)
    assert ask(customer, "gifts.high", key="b", now=later).status is OutcomeStatus.WAITING


def test_rejected_request_is_not_put_again_until_the_state_changes(desk, customer):
    ask(customer, "gifts.high", key="a")
    turn_down(customer)
    assert ask(customer, "gifts.high", key="b").code == "already_rejected"
    desk.state = {"paid": 1}
    assert ask(customer, "gifts.high", key="c").status is OutcomeStatus.WAITING


def test_rejected_request_may_be_put_in_another_conversation(desk, customer):
    ask(customer, "gifts.high", key="a")
    turn_down(customer)
    outcome = ask(customer, "gifts.high", key="b", conversation="new")
    assert outcome.status is OutcomeStatus.WAITING


@pytest.mark.parametrize("where", ["validate", "snapshot", "describe", "execute"])
def test_gate_exception_refuses_and_leaves_only_its_audit(desk, customer, caplog, where):
    desk.broken = {where}
    with caplog.at_level(logging.ERROR):
        outcome = ask(customer)
    assert (outcome.status, outcome.code) == (OutcomeStatus.REFUSED, "gate_failed")
    assert "ZeroDivisionError" in caplog.text
    assert not Proposal.objects.exists()
    assert [entry.kind for entry in AuditEntry.objects.all()] == ["proposal.refused"]
    desk.broken = set()
    assert ask(customer).status is OutcomeStatus.EXECUTED  # the key was not used up


def test_gate_failed_query_leaves_the_callers_transaction_whole(desk, customer, caplog):
    def break_connection(*_arguments):
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1/0")

    with (
        registry.extended(desk.action("gifts.broken", RiskTier.LOW, execute=break_connection)),
        transaction.atomic(),
    ):
        assert ask(customer, "gifts.broken").code == "gate_failed"
        assert Proposal.objects.count() == 0
    assert last_entry().kind == "proposal.refused"


def test_effect_without_audit_does_not_happen(desk, customer, caplog):
    far = NOW.replace(year=2300)  # the table refuses such an entry
    outcome = ask(customer, now=far)
    assert (outcome.status, outcome.code) == (OutcomeStatus.REFUSED, "gate_failed")
    assert "could not be recorded" in caplog.text
    assert not Proposal.objects.exists()
    assert not AuditEntry.objects.exists()


def test_executor_result_that_cannot_be_kept_undoes_the_effect(desk, customer, caplog):
    with registry.extended(
        desk.action("gifts.float", RiskTier.LOW, execute=lambda *_: {"share": 0.5})
    ):
        assert ask(customer, "gifts.float").code == "gate_failed"
    assert not Proposal.objects.exists()


def test_refusal_keeps_personal_data_out_of_the_chain(desk, customer):
    ask(customer, arguments={"order": "emma@example.com", "amount": "x"})
    assert "emma@example.com" not in last_entry().detail
    assert "[email]" in last_entry().detail


@pytest.mark.parametrize("name", ["actions", "action:gifts.low"])
@pytest.mark.parametrize("own", [True, False])
def test_switch_off_stops_the_action_alone(desk, tenant, customer, name, own):
    turn_off(name, tenant if own else None)
    assert ask(customer).code == "switched_off"
    assert ask(customer, "gifts.always", key="b").status is OutcomeStatus.EXECUTED
    assert desk.done[0].key


def test_switch_of_another_shop_or_action_does_not_matter(desk, customer):
    from tests.conftest import make_tenant

    turn_off("actions", make_tenant("other"))
    turn_off("action:gifts.high")
    turn_off("model")
    assert ask(customer).status is OutcomeStatus.EXECUTED


@settings(
    max_examples=30,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    st.dictionaries(
        st.sampled_from(["order", "amount", "note", "extra"]),
        st.text(max_size=5) | st.integers() | st.floats() | st.none() | st.lists(st.integers()),
    )
)
def test_gate_whatever_is_asked_answers_and_the_chain_holds(desk, customer, arguments):
    outcome = ask(customer, arguments=arguments, key=str(new_id()))
    assert outcome.status in {OutcomeStatus.EXECUTED, OutcomeStatus.REFUSED}
    assert outcome.code != "gate_failed"
    assert outcome.message
    assert verify().ok


# --- what the table itself refuses ----------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        {"status": "granted"},
        {"status": "executed"},
        {"executed_at": NOW},
        {"decided_at": NOW},
        {"decided_by": "ann"},
        {"status": "approved"},
        {"hash": "0" * 63},
        {"arguments": {"amount": 1}},
        {"arguments_text": "{}"},
        {"snapshot": {}},
        {"evidence": {}},
        {"evidence_digest": "1" * 64},
        {"owner_key": "customer:8"},
        {"action": "gifts.low"},
        {"tier": "LOW"},
        {"policy_version": "y"},
        {"description": "Give nothing"},
        {"expires_at": NOW + timedelta(days=9)},
        {"origin_key": "other"},
        {"principal": {}},
        {"status": "recorded"},
        {"status": "executing", "decided_at": NOW, "decided_by": "ann"},
    ],
)
def test_table_refuses_to_change_what_was_asked(desk, customer, change):
    ask(customer, "gifts.high")
    with pytest.raises(IntegrityError), transaction.atomic():
        Proposal.objects.update(**change)


def test_table_a_decision_is_made_once(desk, tenant, customer):
    ask(customer, "gifts.high")
    say(Proposal.objects.get(), "approve", hire(tenant, "ann"))
    Proposal.objects.update(status="approved", decided_at=NOW, decided_by="ann")
    with pytest.raises(IntegrityError, match="decision is made once"), transaction.atomic():
        Proposal.objects.update(decided_by="bob")


def move(rows, status, people) -> None:
    """Take a proposal to a status, with all that the table wants to see for it."""
    fields = {}
    if status in people:
        fields = {"decided_at": NOW, "decided_by": people[status].username}
    if status == "executed":
        fields = {"executed_at": NOW}
        proposal = rows.get()
        if proposal.status in {"executing", "unknown"}:
            Effect.objects.create(
                proposal=proposal, tenant_id=proposal.tenant_id, action=proposal.action, at=NOW
            )
    rows.update(status=status, **fields)


# How a proposal that waits gets to a status, by allowed steps.
PATHS = {
    "approved": ["approved"],
    "rejected": ["rejected"],
    "expired": ["expired"],
    "cancelled": ["cancelled"],
    "superseded": ["superseded"],
    "conflict": ["conflict"],
    "executing": ["approved", "executing"],
    "executed": ["approved", "executing", "executed"],
    "failed": ["approved", "executing", "failed"],
    "unknown": ["approved", "executing", "unknown"],
}


@pytest.mark.parametrize("old", list(ProposalStatus))
def test_table_knows_the_same_transitions_as_the_rules(desk, tenant, customer, old):
    first = "recorded" if old == "recorded" else "pending"
    action = "gifts.very_high" if old == "recorded" else "gifts.high"
    people = {"approved": hire(tenant, "ann"), "rejected": hire(tenant, "bob")}
    for new in set(ProposalStatus) - {old}:
        fill(new, action, 1, customer, status=first)
        rows = Proposal.objects.filter(conversation_id=new)
        if first == "pending":
            say(rows.get(), "approve", people["approved"])
            say(rows.get(), "reject", people["rejected"])
        for step in PATHS.get(old, []):
            move(rows, step, people)
        assert rows.get().status == old
        allowed = new in rules.TRANSITIONS[old]
        try:
            with transaction.atomic():
                move(rows, new, people)
        except IntegrityError:
            assert not allowed, f"{old} to {new} is allowed by the rules alone"
        else:
            assert allowed, f"{old} to {new} is allowed by the table alone"


def test_table_very_high_never_runs(desk, customer):
    ask(customer, "gifts.very_high")
    for status in ("approved", "executing", "executed", "pending"):
        with pytest.raises(IntegrityError), transaction.atomic():
            Proposal.objects.update(
                status=status, decided_at=NOW, decided_by="ann", executed_at=NOW
            )


@pytest.mark.parametrize("statement", ["DELETE FROM", "TRUNCATE"])
def test_table_application_role_removes_no_proposal(desk, customer, statement):
    ask(customer)
    with (
        pytest.raises(Exception, match="permission denied"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(f"{statement} approvals_proposal")


def test_proposals_are_seen_by_their_asker_alone(desk, customer):
    ask(customer)
    other = Principal(customer.tenant_id, Proof.LOGIN, customer_id=8)
    elsewhere = Principal(customer.tenant_id + 1, Proof.LOGIN, customer_id=7)
    assert Proposal.objects.for_principal(customer).count() == 1
    assert Proposal.objects.for_principal(other).count() == 0
    assert Proposal.objects.for_principal(elsewhere).count() == 0
