"""How a request on one order becomes an action: read, judged, described and done the same way."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from approvals.registry import Action, Change, Execution, Remote, RuleVerdict
from dsupport.contract.principal import Principal
from dsupport.contract.risk import RiskTier
from dsupport.lib.canonical import digest
from dsupport.lib.money import Money
from orders.cases import Opened, open_case, state_of
from orders.changes import Bookings
from orders.errors import RuleBroken
from orders.policy import Ruling, first_broken
from orders.rules import order_key

State = Mapping[str, Any]


def no_methods(_arguments: Any) -> Collection[str]:
    return ()


def nothing_more(_opened: Opened, _arguments: Any) -> State:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """One kind of request on an order.

    `judge` gives the rules; `methods` the payment methods it names; `more` what else of the state
    it rests on; `words`, `changes` and `amount` speak from arguments and state alone; `apply`
    acts, under locks. `whole_order` makes a second request on the order the same request.
    """

    name: str
    tier: RiskTier
    arguments: type[Any]
    judge: Callable[[Opened, Any], Sequence[Ruling]]
    words: Callable[[Any, State], str]
    changes: Callable[[Any, State], Sequence[Change]]
    apply: Callable[[Opened, Any, Bookings], None]
    undo: str | None
    amount: Callable[[Any, State], Money | None]
    methods: Callable[[Any], Collection[str]] = no_methods
    more: Callable[[Opened, Any], State] = nothing_more
    whole_order: bool = True
    remote: Remote | None = None


def as_action(plan: Plan) -> Action:
    """Return the action that the gate knows for a plan."""
    reader = _Reader(plan)
    return Action(
        name=plan.name,
        tier=plan.tier,
        arguments=plan.arguments,
        validate=reader.validate,
        snapshot=reader.snapshot,
        current=reader.current,
        assess=reader.assess,
        describe=plan.words,
        execute=reader.execute,
        undo=plan.undo,
        intent_key=reader.intent,
        amount=plan.amount,
        verdicts=reader.verdicts,
        changes=plan.changes,
        remote=plan.remote,
    )


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads the order that a request names, for whatever the gate wants to know of it."""

    plan: Plan

    def assess(self, principal: Principal, arguments: Any, now: datetime) -> State:
        """Return the state that allows it, from one reading."""
        opened = open_case(principal, arguments.order_number, now=now)
        self._check(opened, arguments)
        return self._state(opened, arguments)

    def validate(self, principal: Principal, arguments: Any, now: datetime) -> None:
        self._check(open_case(principal, arguments.order_number, now=now), arguments)

    def verdicts(
        self, principal: Principal, arguments: Any, now: datetime
    ) -> Sequence[RuleVerdict]:
        opened = open_case(principal, arguments.order_number, now=now)
        return [RuleVerdict(*rule) for rule in self.plan.judge(opened, arguments)]

    def snapshot(self, principal: Principal, arguments: Any) -> State:
        return self._state(open_case(principal, arguments.order_number), arguments)

    def current(self, principal: Principal, arguments: Any) -> State:
        return self._state(open_case(principal, arguments.order_number, lock=True), arguments)

    def execute(self, principal: Principal, arguments: Any, execution: Execution) -> State:
        opened = open_case(principal, arguments.order_number, now=execution.now, lock=True)
        bookings = Bookings(opened.order, execution.key, execution.now)
        self.plan.apply(opened, arguments, bookings)
        return {"order": opened.order.number, "done": self.plan.name, **execution.remote}

    def intent(self, principal: Principal, arguments: Any) -> str:
        key = f"{principal.owner_key}/{order_key(arguments.order_number)}"
        if self.plan.whole_order:
            return key
        return f"{key}/{digest('orders/intent/1', arguments.model_dump(mode='json'))}"

    def _check(self, opened: Opened, arguments: Any) -> None:
        broken = first_broken(self.plan.judge(opened, arguments))
        if broken is not None:
            raise RuleBroken(broken.name, broken.text)

    def _state(self, opened: Opened, arguments: Any) -> State:
        state = state_of(opened, methods=self.plan.methods(arguments))
        return {**state, **self.plan.more(opened, arguments)}
