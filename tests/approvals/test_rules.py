from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from approvals import rules
from approvals.rules import (
    LIVE,
    TRANSITIONS,
    Counts,
    EntryFacts,
    Limits,
    ProposalStatus,
    entry_hash,
    proposal_hash,
)
from dsupport.contract.errors import LimitReached
from dsupport.contract.risk import RiskTier

NOW = datetime(2026, 10, 15, 9, 0, tzinfo=UTC)

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=12)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(texts.filter(lambda key: not key.startswith("$")), inner, max_size=3)
    ),
    max_leaves=6,
)
documents = st.dictionaries(
    st.sampled_from(["order", "amount", "note", "items"]), values, max_size=4
)


def _hash(**changes):
    parts = {
        "tenant_id": 1,
        "owner_key": "customer:7",
        "action": "gifts.low",
        "arguments": {"amount": 500},
        "snapshot": {"paid": 9980},
        "policy_version": "abc",
    }
    return proposal_hash(**{**parts, **changes})


@given(documents, documents)
def test_hash_same_content_other_order_is_stable(arguments, snapshot):
    backwards = dict(reversed(arguments.items()))
    state = dict(reversed(snapshot.items()))
    assert _hash(arguments=arguments, snapshot=snapshot) == _hash(
        arguments=backwards, snapshot=state
    )


@given(documents, documents)
def test_hash_other_arguments_differs(one, other):
    from dsupport.lib.canonical import canonical_json

    same = canonical_json(one) == canonical_json(other)
    assert (_hash(arguments=one) == _hash(arguments=other)) is same
    assert (_hash(snapshot=one) == _hash(snapshot=other)) is same


@pytest.mark.parametrize(
    "change",
    [
        {"tenant_id": 2},
        {"owner_key": "customer:8"},
        {"action": "gifts.high"},
        {"arguments": {"amount": 501}},
        {"arguments": {"amount": "500"}},
        {"arguments": {"amount": 500, "note": ""}},
        {"snapshot": {"paid": 9981}},
        {"policy_version": "abd"},
    ],
)
def test_hash_any_part_changed_differs(change):
    assert _hash(**change) != _hash()


def test_hash_value_is_pinned():
    # A change of this value makes every waiting proposal undecidable: it needs a new domain.
    assert _hash() == "b8be056c988a3c50f912fd20e2aafc31a6d198cae81213cc724256a71317a1e3"


def test_transitions_every_status_appears():
    assert set(TRANSITIONS) == set(ProposalStatus)
    assert {target for targets in TRANSITIONS.values() for target in targets} <= set(ProposalStatus)


def test_transitions_live_statuses_can_end():
    assert all(TRANSITIONS[status] for status in LIVE)
    assert not any(TRANSITIONS[status] for status in set(ProposalStatus) - LIVE)


@pytest.mark.parametrize("source", ["conversation", "article", "customer", "tenant"])
def test_limits_reached_names_the_source(source):
    limits = Limits(conversation=3, article=3, customer=3, tenant=3)
    rules.check_limits(Counts(**{source: 2}), limits)
    with pytest.raises(LimitReached) as refused:
        rules.check_limits(Counts(**{source: 3}), limits)
    assert refused.value.code == f"limit:{source}"


def test_limits_popular_article_does_not_stop_low():
    rules.check_limits(Counts(article=10_000), rules.limits_for(RiskTier.LOW))
    with pytest.raises(LimitReached):
        rules.check_limits(Counts(article=10), rules.limits_for(RiskTier.MEDIUM))


def test_tiers_counted_low_apart_from_the_rest():
    assert rules.tiers_counted_with(RiskTier.LOW) == {RiskTier.LOW}
    for tier in set(RiskTier) - {RiskTier.LOW}:
        assert rules.tiers_counted_with(tier) == set(RiskTier) - {RiskTier.LOW}


def test_expiry_follows_the_tier():
    assert rules.expiry(RiskTier.LOW, NOW) is None
    assert rules.expiry(RiskTier.HIGH, NOW) == NOW + timedelta(hours=24)


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("model", True),
        ("actions", True),
        ("action:orders.refund", True),
        ("tool:search_kb", True),
        ("tool:", False),
        ("Model", False),
        ("action:x y", False),
        ("action:a\n", False),
        ("", False),
    ],
)
def test_switch_names(name, known):
    assert rules.is_switch_name(name) is known


@pytest.mark.parametrize(
    ("role", "may_stop", "may_start"),
    [
        ("admin", True, True),
        ("operator", True, True),
        ("senior_approver", True, False),
        ("approver", True, False),
        ("editor", False, False),
        ("auditor", False, False),
    ],
)
def test_switch_roles_stopping_is_wider_than_starting(role, may_stop, may_start):
    assert rules.may_switch(off=True, roles=[role], is_superuser=False) is may_stop
    assert rules.may_switch(off=False, roles=[role], is_superuser=False) is may_start


def test_switch_unread_writes_count_as_off():
    assert rules.stands_off_unread("actions")
    assert rules.stands_off_unread("action:orders.refund")
    assert rules.stands_off_unread("model")
    assert not rules.stands_off_unread("tool:search_kb")


@st.composite
def entries(draw):
    return EntryFacts(
        tenant_id=draw(st.none() | st.integers(1, 3)),
        seq=draw(st.integers(1, 12)),
        at=draw(st.datetimes(timezones=st.just(UTC))),
        recorded_at=NOW,
        kind=draw(st.text("ab:1", max_size=3)),
        actor=draw(st.text("ab:1", max_size=3)),
        subject=draw(st.text("ab:1", max_size=3)),
        detail=draw(st.text("ab:1é", max_size=3)),
        prev_hash="0" * 64,
    )


@given(entries(), entries())
def test_entry_hash_two_entries_never_run_together(one, other):
    assert (entry_hash(one) == entry_hash(other)) is (one == other)


def test_entry_hash_zone_does_not_matter():
    from dataclasses import replace
    from zoneinfo import ZoneInfo

    entry = EntryFacts(1, 1, NOW, NOW, "a", "b", "c", "{}", "0" * 64)
    elsewhere = replace(entry, at=NOW.astimezone(ZoneInfo("Asia/Tokyo")))
    assert entry_hash(elsewhere) == entry_hash(entry)
