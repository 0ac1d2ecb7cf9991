"""The port on a vendor: attempts within the run's time, a place among others, each one booked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from time import monotonic
from typing import Protocol

from dsupport.contract.errors import PortError
from dsupport.contract.llm import ModelReply, ModelRequest, Usage
from dsupport.lib.gateway import CallPolicy, Gateway, Room


class Vendor(Protocol):
    """One attempt at a model of somebody else's. It neither retries nor waits."""

    name: str

    def ask(self, request: ModelRequest, seconds: float) -> ModelReply: ...


@dataclass(frozen=True, slots=True)
class Booking:
    """What one attempt came to. `code` is empty when it brought a reply.

    `usage` of a failed attempt is what it may have cost: it may have been carried out and billed
    all the same.
    """

    provider: str
    role: str
    model: str
    code: str
    usage: Usage
    seconds: float


@dataclass
class Spent:
    """What the failed attempts of one call may have cost. They are no turns of the model."""

    usage: Usage = field(default_factory=Usage)

    def add(self, usage: Usage) -> None:
        self.usage += replace(usage, model_calls=0)


@dataclass(frozen=True)
class Metered:
    """A vendor behind the port. `PortError` when no attempt brought a reply in time."""

    vendor: Vendor
    gateway: Gateway
    policy: CallPolicy
    room: Room
    book: Callable[[Booking], None]

    def next(self, request: ModelRequest) -> ModelReply:
        return self._ask(request)

    def structured(self, request: ModelRequest) -> ModelReply:
        return self._ask(replace(request, tools=()))

    def _ask(self, request: ModelRequest) -> ModelReply:
        ends = monotonic() + request.deadline
        spent = Spent()
        with self.room.place(request.deadline):
            try:
                reply = self.gateway.call(
                    self.vendor.name,
                    partial(self._attempt, request, spent),
                    policy=self.policy,
                    deadline=ends - monotonic(),
                )
            except PortError as error:
                raise Unanswered(error, spent.usage) from error
        return replace(reply, usage=reply.usage + spent.usage)

    def _attempt(self, request: ModelRequest, spent: Spent, seconds: float) -> ModelReply:
        began = monotonic()

        def booked(code: str, usage: Usage, model: str = "") -> None:
            took = monotonic() - began
            self.book(Booking(self.vendor.name, request.role, model, code, usage, took))

        try:
            reply = self.vendor.ask(request, seconds)
        except PortError as error:
            usage: Usage = getattr(error, "usage", Usage())
            spent.add(usage)
            booked(error.code, usage)
            raise
        booked("", reply.usage, reply.model)
        return reply


class Unanswered(PortError):
    """Say that no attempt brought a reply, and what they may have cost together."""

    def __init__(self, last: PortError, usage: Usage) -> None:
        super().__init__(
            last.message, code=last.code, retryable=last.retryable, retry_after=last.retry_after
        )
        self.usage = usage
