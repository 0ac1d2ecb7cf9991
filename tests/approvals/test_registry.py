from __future__ import annotations

import pytest
from pydantic import BaseModel, ConfigDict

from approvals import registry
from approvals.errors import IdentityRequired, UnknownAction
from approvals.registry import RegistrationError
from dsupport.contract.principal import Principal, Proof
from dsupport.contract.risk import RiskTier
from tests.approvals.conftest import Desk


class Loose(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Open(BaseModel):
    model_config = ConfigDict(strict=True)


@pytest.mark.parametrize(
    ("tier", "fields", "why"),
    [
        (None, {}, "tier"),
        (RiskTier.VERY_HIGH, {"execute": lambda *_: {}}, "no executor"),
        (RiskTier.LOW, {"execute": None}, "needs an executor"),
        (RiskTier.MEDIUM, {"execute": None}, "needs an executor"),
        (RiskTier.HIGH, {"execute": None}, "needs an executor"),
        (RiskTier.LOW, {"arguments": Loose}, "strict"),
        (RiskTier.LOW, {"arguments": Open}, "unknown fields"),
        (RiskTier.MEDIUM, {"always_on": True}, "only a LOW action"),
        (RiskTier.VERY_HIGH, {"always_on": True}, "only a LOW action"),
    ],
)
def test_register_what_must_not_exist_is_refused(tier, fields, why):
    action = Desk().action("gifts.odd", tier, **fields)
    with registry.extended(), pytest.raises(RegistrationError, match=why):
        registry.register(action)


@pytest.mark.parametrize("name", ["gift", "Gifts.low", "gifts.low.x", "gifts. low", "", "a.b\n"])
def test_register_name_of_another_form_is_refused(name):
    with registry.extended(), pytest.raises(RegistrationError, match="name"):
        registry.register(Desk().action(name, RiskTier.LOW))


def test_register_twice_is_refused(desk):
    with pytest.raises(RegistrationError, match="twice"):
        registry.register(desk.action("gifts.low", RiskTier.LOW))


def test_get_action_unknown_name_says_what_to_do():
    with pytest.raises(UnknownAction, match="Hand over"):
        registry.get_action("gifts.none")


def test_extended_leaves_nothing_behind(desk):
    before = registry.all_actions()
    with registry.extended(desk.action("gifts.more", RiskTier.LOW)):
        assert registry.find_action("gifts.more") is not None
    assert registry.all_actions() == before


def test_policy_version_changes_with_a_tier(desk):
    with registry.extended(desk.action("gifts.more", RiskTier.MEDIUM)):
        one = registry.policy_version()
    with registry.extended(desk.action("gifts.more", RiskTier.HIGH)):
        other = registry.policy_version()
    assert len({registry.policy_version(), one, other}) == 3


def test_identity_anonymous_is_refused_by_default():
    stranger = Principal(tenant_id=1, visitor="v")
    with pytest.raises(IdentityRequired):
        registry.require_identity(stranger, None)
    registry.require_identity(Principal(1, Proof.LOGIN, customer_id=1), None)
    registry.require_identity(stranger.with_proved_order(5), None)


def test_shipped_actions_have_tier_and_no_executor_above_high():
    for action in registry.all_actions():
        assert registry.find_problem(action) is None
        assert (action.execute is None) == (action.tier is RiskTier.VERY_HIGH)
