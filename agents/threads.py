"""Running the calls of one turn beside each other, and a tool within its time."""

from __future__ import annotations

import contextvars
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from concurrent.futures import TimeoutError as FutureTimeout
from functools import partial
from typing import Any, TypeVar

from dsupport.contract.errors import PortError
from dsupport.contract.tools import ToolContext, ToolResult, ToolSpec

Item = TypeVar("Item")
_NO_LIMIT = 10_000
_GLANCE = 0.05  # seconds; what takes longer is told and recorded as under way


class Threads:
    """Parallel work in threads. `release` runs at the end of each, to give connections back.

    Threads are kept and used again. There is no limit that work could wait at for work that
    waits for it: how many run at once follows from the runs of a process and their tools.
    """

    def __init__(self, release: Callable[[], None]) -> None:
        self._release = release
        self._pool = ThreadPoolExecutor(_NO_LIMIT, thread_name_prefix="tools")

    def __call__(self, work: Sequence[Callable[[], Item]]) -> list[Item]:
        """Run all of it and return the results in the order given; the first failure is raised.

        The caller's thread takes the first piece. Everything has ended when this returns,
        failure or not: nothing goes on unseen.
        """
        others = [self._submit(item) for item in work[1:]]
        try:
            first = [item() for item in work[:1]]
        finally:
            wait(others)
        return [*first, *(future.result() for future in others)]

    def act(
        self, spec: ToolSpec, arguments: Any, context: ToolContext, linger: Callable[[], None]
    ) -> ToolResult:
        """Run a tool's body and wait no longer than its limit, unless it writes.

        A reading tool that is too slow is left behind and becomes an error result. A writing
        one is waited for: whether it acted must be known.
        """
        if spec.writes:
            return spec.body(arguments, context)
        future = self._submit(partial(spec.body, arguments, context))
        glance = min(_GLANCE, spec.timeout)
        if wait([future], timeout=glance).not_done:
            linger()
        try:
            return future.result(timeout=spec.timeout - glance)
        except FutureTimeout:
            raise PortError(
                f"{spec.name} did not answer within {spec.timeout:g} s.", code="tool_timeout"
            ) from None

    def _submit(self, item: Callable[[], Item]) -> Future[Item]:
        context = contextvars.copy_context()
        return self._pool.submit(context.run, self._finish, item)

    def _finish(self, item: Callable[[], Item]) -> Item:
        try:
            return item()
        finally:
            self._release()


class Inline:
    """The same, one after the other in the caller's thread and transaction."""

    def __call__(self, work: Sequence[Callable[[], Item]]) -> list[Item]:
        return [item() for item in work]

    def act(
        self, spec: ToolSpec, arguments: Any, context: ToolContext, linger: Callable[[], None]
    ) -> ToolResult:
        return spec.body(arguments, context)
