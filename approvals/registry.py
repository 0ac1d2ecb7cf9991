"""The consequential actions that exist, each with its tier and what the gate needs to know."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import datetime
from functools import cache
from typing import Any

from pydantic import BaseModel

from approvals.errors import IdentityRequired, UnknownAction
from approvals.rules import LIFETIME, limits_for
from dsupport.contract.principal import Principal
from dsupport.contract.risk import RiskTier
from dsupport.lib.canonical import digest
from dsupport.lib.money import Money

_NAME = re.compile(r"[a-z][a-z0-9_]{0,30}\.[a-z][a-z0-9_]{0,30}")


class RegistrationError(Exception):
    """An action that must not exist as it is; the desk does not start with it."""


def require_identity(principal: Principal, _arguments: Any) -> None:
    """Refuse an asker about whom nothing has been established."""
    if principal.is_anonymous:
        raise IdentityRequired("Sign in, or prove the order with its number and e-mail, first.")


def allow_anybody(_principal: Principal, _arguments: Any) -> None:
    """Let every visitor ask for this."""


def without_amount(_arguments: Any, _state: Mapping[str, Any]) -> Money | None:
    return None


def without_rules(_principal: Principal, _arguments: Any, _now: datetime) -> Sequence[RuleVerdict]:
    return ()


def without_changes(_arguments: Any, _state: Mapping[str, Any]) -> Sequence[Change]:
    return ()


@dataclass(frozen=True, slots=True)
class Execution:
    """What an executor gets beside the typed arguments.

    `key` is the idempotency key of the effect: the proposal's id, the same for life. `snapshot`
    is the state that was decided on. `remote` is what the other side of a port answered, for an
    action that has one.
    """

    proposal_id: str
    key: str
    now: datetime
    run_id: str
    conversation_id: str
    evidence: Mapping[str, Any]
    snapshot: Mapping[str, Any] = field(default_factory=dict)
    remote: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RuleVerdict:
    """One rule of the shop and whether it holds, in words for the person who decides."""

    name: str
    holds: bool
    text: str


@dataclass(frozen=True, slots=True)
class Change:
    """One line of the table of before and after, in words for people."""

    what: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Remote:
    """The part of an action that happens at somebody else's, such as money paid back.

    `call` runs outside any transaction and returns what the other side answered, as plain JSON;
    asked again with the same `Execution.key` it acts no second time. It raises `PortError`: a
    retryable one leaves it unknown whether anything happened, another one says that nothing did.
    `look_up` asks what became of a key: the same answer, or None when nothing happened.
    """

    call: Callable[[Principal, Any, Execution], Mapping[str, Any]]
    look_up: Callable[[Principal, Any, Execution], Mapping[str, Any] | None]


Executor = Callable[[Principal, Any, Execution], Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """A consequential operation, as the room that owns it describes it to the gate.

    `arguments` is a strict pydantic model that forbids unknown fields. `permit` tells whether
    this asker may ask at all; `validate` whether the state allows it now; both raise a
    `DomainError`. `snapshot` returns the state a decision rests on, as plain JSON; `current`
    reads the same state again (under locks) when an approved proposal is carried out, and any
    difference is a conflict. `describe` makes the one sentence that people read; no word in it
    comes from a model. `execute` acts inside the gate's transaction and returns plain JSON; it
    is None exactly for `VERY_HIGH`. `undo` says how it can be taken back, None when it cannot.
    `intent_key` is equal for two requests that want the same thing. `amount` is the money that a
    decision is about, `verdicts` are the shop's rules one by one, `changes` the table of before
    and after for a state such as `snapshot` returns. `assess`, where given, is `validate` and
    `snapshot` of one reading. With `remote`, the other side acts first and
    `execute` records it. `always_on` exempts a `LOW`
    action from switches and limits: handing over to a person must always work.
    """

    name: str
    tier: RiskTier | None
    arguments: type[BaseModel]
    validate: Callable[[Principal, Any, datetime], None]
    snapshot: Callable[[Principal, Any], Mapping[str, Any]]
    describe: Callable[[Any, Mapping[str, Any]], str]
    current: Callable[[Principal, Any], Mapping[str, Any]]
    intent_key: Callable[[Principal, Any], str]
    execute: Executor | None = None
    undo: str | None = None
    permit: Callable[[Principal, Any], None] = field(default=require_identity)
    always_on: bool = False
    amount: Callable[[Any, Mapping[str, Any]], Money | None] = field(default=without_amount)
    verdicts: Callable[[Principal, Any, datetime], Sequence[RuleVerdict]] = field(
        default=without_rules
    )
    changes: Callable[[Any, Mapping[str, Any]], Sequence[Change]] = field(default=without_changes)
    remote: Remote | None = None
    assess: Callable[[Principal, Any, datetime], Mapping[str, Any]] | None = None

    def read_allowed(
        self, principal: Principal, arguments: Any, now: datetime
    ) -> Mapping[str, Any]:
        """Return the state that allows it now, or raise as `validate` does."""
        if self.assess is not None:
            return self.assess(principal, arguments, now)
        self.validate(principal, arguments, now)
        return self.snapshot(principal, arguments)


_actions: dict[str, Action] = {}


def register(action: Action) -> None:
    """Add an action at start-up; raise `RegistrationError` when it must not exist."""
    if action.name in _actions:
        raise RegistrationError(f"{action.name} is registered twice")
    problem = find_problem(action)
    if problem:
        raise RegistrationError(f"{action.name}: {problem}")
    _actions[action.name] = action
    policy_version.cache_clear()


def find_problem(action: Action) -> str | None:
    """Return why an action must not be registered, or None."""
    config = action.arguments.model_config
    checks = (
        (_NAME.fullmatch(action.name) is None, "the name is not of the form room.verb"),
        (action.tier is None, "an action needs a risk tier"),
        (
            action.tier is RiskTier.VERY_HIGH and action.execute is not None,
            "a VERY_HIGH action is only proposed, so it has no executor",
        ),
        (
            action.tier not in {None, RiskTier.VERY_HIGH} and action.execute is None,
            "an action below VERY_HIGH needs an executor",
        ),
        (config.get("extra") != "forbid", "its arguments must forbid unknown fields"),
        (not config.get("strict"), "its arguments must be strict"),
        (
            action.always_on and action.tier is not RiskTier.LOW,
            "only a LOW action is beyond switches and limits",
        ),
    )
    return next((problem for wrong, problem in checks if wrong), None)


def get_action(name: str) -> Action:
    """Return a registered action; raise `UnknownAction` when there is none of this name."""
    action = _actions.get(name)
    if action is None:
        raise UnknownAction(f"There is no action {name!r}. Hand over to a person.")
    return action


def find_action(name: str) -> Action | None:
    return _actions.get(name)


def all_actions() -> tuple[Action, ...]:
    """Return every registered action, by name."""
    return tuple(_actions[name] for name in sorted(_actions))


@cache
def policy_version() -> str:
    """Return what names the policy in force: tiers, argument schemas, limits and lifetimes.

    It is part of every proposal's hash, so a decision never outlives the rules it was made under.
    """
    actions = {
        action.name: {
            "tier": action.tier,
            "schema": json.dumps(action.arguments.model_json_schema(), sort_keys=True),
            "always_on": action.always_on,
        }
        for action in all_actions()
    }
    limits = {tier.value: asdict(limits_for(tier)) for tier in RiskTier}
    lifetimes = {tier.value: int(span.total_seconds()) for tier, span in LIFETIME.items()}
    return digest("policy/1", {"actions": actions, "limits": limits, "lifetimes": lifetimes})[:16]


@contextmanager
def extended(*actions: Action) -> Iterator[None]:
    """Have more actions for the length of a block, as evaluations and tests need."""
    before = dict(_actions)
    try:
        for action in actions:
            register(action)
        yield
    finally:
        _actions.clear()
        _actions.update(before)
        policy_version.cache_clear()
