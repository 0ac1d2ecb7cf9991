from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dsupport.contract.errors import PortError
from dsupport.lib.gateway import Attempt, BreakerState, CallPolicy, Gateway

DEFAULT = CallPolicy()


class World:
    """A clock that moves when somebody sleeps or works, and a service with a scripted mood."""

    def __init__(self, *, luck: float = 1.0) -> None:
        self.time = 0.0
        self.slept: list[float] = []
        self.timeouts: list[float] = []
        self.script: list[PortError | Exception | str] = []
        self.takes = 0.0
        self.gateway = Gateway(clock=lambda: self.time, sleep=self.sleep, random=lambda: luck)

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time += seconds

    def service(self, timeout: float) -> str:
        self.timeouts.append(timeout)
        self.time += self.takes
        answer = self.script.pop(0) if self.script else "fine"
        if isinstance(answer, Exception):
            raise answer
        return answer

    def call(
        self,
        *,
        policy: CallPolicy = DEFAULT,
        deadline: float = 60.0,
        on_attempt: Callable[[Attempt], None] | None = None,
    ) -> str:
        return self.gateway.call(
            "parcels", self.service, policy=policy, deadline=deadline, on_attempt=on_attempt
        )


def away(*, retry_after: float | None = None) -> PortError:
    return PortError("away", retryable=True, retry_after=retry_after)


def test_call_that_succeeds_returns_its_result() -> None:
    world = World()
    assert world.call() == "fine"
    assert world.slept == []


def test_retryable_failure_is_tried_again_after_growing_pauses() -> None:
    world = World()
    world.script = [away(), away(), "fine"]
    assert world.call(policy=CallPolicy(attempts=3, backoff=0.5)) == "fine"
    assert world.slept == [0.5, 1.0]


def test_pause_never_passes_the_longest_backoff() -> None:
    world = World()
    world.script = [*(away() for _ in range(5)), "fine"]
    policy = CallPolicy(attempts=6, backoff=1.0, longest_backoff=3.0, trip_after=99)
    assert world.call(policy=policy) == "fine"
    assert world.slept == [1.0, 2.0, 3.0, 3.0, 3.0]


def test_pause_is_random_between_nothing_and_the_backoff() -> None:
    world = World(luck=0.25)
    world.script = [away(), "fine"]
    world.call(policy=CallPolicy(backoff=2.0))
    assert world.slept == [0.5]


def test_refusal_is_not_tried_again() -> None:
    world = World()
    world.script = [PortError("no such number", code="not_found")]
    with pytest.raises(PortError) as caught:
        world.call()
    assert caught.value.code == "not_found"
    assert len(world.timeouts) == 1


def test_attempts_used_up_raise_the_last_failure() -> None:
    world = World()
    world.script = [away(), away(), PortError("gone", code="timeout", retryable=True)]
    with pytest.raises(PortError) as caught:
        world.call(policy=CallPolicy(attempts=3))
    assert caught.value.code == "timeout"
    assert len(world.timeouts) == 3


def test_bug_in_the_adapter_passes_through_at_once() -> None:
    world = World()
    world.script = [KeyError("oops"), "fine"]
    with pytest.raises(KeyError):
        world.call()
    assert len(world.timeouts) == 1
    assert world.gateway.breaker("parcels").state is BreakerState.CLOSED


def test_wish_to_wait_is_honoured_within_the_deadline() -> None:
    world = World()
    world.script = [away(retry_after=7.0), "fine"]
    assert world.call(deadline=10.0) == "fine"
    assert world.slept == [7.0]


def test_wish_to_wait_beyond_the_deadline_ends_the_call_without_sleeping() -> None:
    world = World()
    world.script = [away(retry_after=171.0), "fine"]
    with pytest.raises(PortError) as caught:
        world.call(deadline=60.0)
    assert caught.value.retry_after == 171.0
    assert world.slept == []
    assert len(world.timeouts) == 1


@pytest.mark.parametrize(("wish", "rest"), [(171.0, 171.0), (86_400.0, 600.0)])
def test_who_asks_for_more_patience_than_there_is_is_left_alone_so_long(wish, rest) -> None:
    world = World()
    world.script = [away(retry_after=wish)]
    for _ in range(3):
        with pytest.raises(PortError):
            world.call(deadline=60.0)
    assert len(world.timeouts) == 1
    world.time += rest
    assert world.call() == "fine"
    assert world.gateway.breaker("parcels").state is BreakerState.CLOSED


def test_timeout_of_an_attempt_shrinks_with_the_deadline() -> None:
    world = World()
    world.takes = 4.0
    world.script = [away(), away(), away()]
    with pytest.raises(PortError):
        world.call(policy=CallPolicy(timeout=5.0, backoff=0.0), deadline=9.0)
    assert world.timeouts == [5.0, 5.0, 1.0]


def test_no_time_left_makes_no_attempt() -> None:
    world = World()
    with pytest.raises(PortError) as caught:
        world.call(deadline=0.0)
    assert caught.value.code == "timeout"
    assert world.timeouts == []


def test_every_attempt_is_reported_with_its_outcome() -> None:
    world = World()
    world.takes = 2.0
    world.script = [away(), "fine"]
    seen: list[Attempt] = []
    world.call(on_attempt=seen.append)
    assert [(one.number, one.seconds, one.error is None) for one in seen] == [
        (1, 2.0, False),
        (2, 2.0, True),
    ]


def test_breaker_opens_after_failures_in_a_row() -> None:
    world = World()
    policy = CallPolicy(attempts=1, trip_after=3, rest=30.0)
    world.script = [away(), away(), away()]
    for _ in range(3):
        with pytest.raises(PortError):
            world.call(policy=policy)
    with pytest.raises(PortError) as caught:
        world.call(policy=policy)
    assert caught.value.code == "circuit_open"
    assert caught.value.retry_after == 30.0
    assert len(world.timeouts) == 3


def test_breaker_that_opens_during_a_call_ends_its_attempts() -> None:
    world = World()
    world.script = [away() for _ in range(9)]
    with pytest.raises(PortError) as caught:
        world.call(policy=CallPolicy(attempts=9, trip_after=2, backoff=0.1))
    assert caught.value.code == "unavailable"
    assert len(world.timeouts) == 2


def test_success_between_failures_keeps_the_breaker_closed() -> None:
    world = World()
    policy = CallPolicy(attempts=1, trip_after=2)
    for _ in range(5):
        world.script = [away(), "fine"]
        with pytest.raises(PortError):
            world.call(policy=policy)
        assert world.call(policy=policy) == "fine"
    assert world.gateway.breaker("parcels").state is BreakerState.CLOSED


def test_refusals_do_not_open_the_breaker() -> None:
    world = World()
    policy = CallPolicy(attempts=1, trip_after=1)
    world.script = [PortError("wrong request") for _ in range(5)]
    for _ in range(5):
        with pytest.raises(PortError):
            world.call(policy=policy)
    assert world.call(policy=policy) == "fine"


def test_rested_breaker_closes_after_one_success() -> None:
    world = World()
    policy = CallPolicy(attempts=1, trip_after=1, rest=30.0)
    world.script = [away()]
    with pytest.raises(PortError):
        world.call(policy=policy)
    assert world.gateway.breaker("parcels").state is BreakerState.OPEN
    world.time += 30.0
    assert world.call(policy=policy) == "fine"
    assert world.gateway.breaker("parcels").state is BreakerState.CLOSED


def test_rested_breaker_opens_again_after_one_failure() -> None:
    world = World()
    policy = CallPolicy(attempts=1, trip_after=5, rest=30.0)
    world.script = [away() for _ in range(6)]
    for _ in range(5):
        with pytest.raises(PortError):
            world.call(policy=policy)
    world.time += 31.0
    with pytest.raises(PortError):
        world.call(policy=policy)
    with pytest.raises(PortError) as caught:
        world.call(policy=policy)
    assert caught.value.code == "circuit_open"


def test_rested_breaker_lets_one_call_try_at_a_time() -> None:
    world = World()
    policy = CallPolicy(attempts=1, trip_after=1, rest=1.0)
    world.script = [away()]
    with pytest.raises(PortError):
        world.call(policy=policy)
    world.time += 2.0
    inside, leave = threading.Event(), threading.Event()

    def slow(_timeout: float) -> str:
        inside.set()
        assert leave.wait(5)
        return "back"

    answers: list[str] = []
    probe = threading.Thread(
        target=lambda: answers.append(
            world.gateway.call("parcels", slow, policy=policy, deadline=60.0)
        )
    )
    probe.start()
    assert inside.wait(5)
    assert world.gateway.breaker("parcels").state is BreakerState.HALF_OPEN
    with pytest.raises(PortError) as caught:
        world.call(policy=policy)
    leave.set()
    probe.join(5)
    assert caught.value.code == "circuit_open"
    assert answers == ["back"]
    assert world.call(policy=policy) == "fine"


def test_bug_while_trying_gives_the_admission_back() -> None:
    world = World()
    policy = CallPolicy(attempts=1, trip_after=1, rest=1.0)
    world.script = [away(), KeyError("oops")]
    with pytest.raises(PortError):
        world.call(policy=policy)
    world.time += 2.0
    with pytest.raises(KeyError):
        world.call(policy=policy)
    assert world.call(policy=policy) == "fine"


def test_breakers_of_two_services_are_apart() -> None:
    world = World()
    policy = CallPolicy(attempts=1, trip_after=1)
    world.script = [away()]
    with pytest.raises(PortError):
        world.call(policy=policy)
    answer = world.gateway.call("letters", world.service, policy=policy, deadline=1.0)
    assert answer == "fine"


def test_forgotten_breakers_are_closed() -> None:
    world = World()
    policy = CallPolicy(attempts=1, trip_after=1)
    world.script = [away()]
    with pytest.raises(PortError):
        world.call(policy=policy)
    world.gateway.forget()
    assert world.call(policy=policy) == "fine"


@pytest.mark.parametrize(
    "wrong", [{"attempts": 0}, {"trip_after": 0}, {"timeout": 0}, {"rest": -1}]
)
def test_policy_that_makes_no_sense_is_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError):
        CallPolicy(**wrong)


@settings(deadline=None)
@given(
    deadline=st.floats(0.1, 30),
    takes=st.floats(0, 5),
    waits=st.lists(st.none() | st.floats(0, 40), max_size=8),
    attempts=st.integers(1, 6),
)
def test_call_never_sleeps_past_its_deadline(
    deadline: float, takes: float, waits: list[float | None], attempts: int
) -> None:
    world = World()
    world.takes = takes
    world.script = [away(retry_after=wait) for wait in waits]
    policy = CallPolicy(attempts=attempts, timeout=5.0, trip_after=50)
    with contextlib.suppress(PortError):
        world.call(policy=policy, deadline=deadline)
    assert len(world.timeouts) <= attempts
    assert sum(world.slept) < deadline
    assert all(0 < timeout <= deadline for timeout in world.timeouts)
    # What an attempt itself takes is the adapter's to bound, by the timeout it is given.
    assert world.time <= deadline + takes
