"""Running the calls of one turn beside each other, and a tool within its time."""

from __future__ import annotations

import contextvars
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from functools import partial
from typing import Any, TypeVar

from dsupport.contract.errors import PortError
from dsupport.contract.tools import ToolContext, ToolResult, ToolSpec

Item = TypeVar("Item")


class Threads:
    """Parallel work in threads. `release` runs at the end of each, to give connections back."""

    def __init__(self, release: Callable[[], None]) -> None:
        self._release = release

    def __call__(self, work: Sequence[Callable[[], Item]]) -> list[Item]:
        """Run all of it and return the results in the order given; the first failure is raised.

        Everything has ended when this returns, failure or not: nothing goes on unseen.
        """
        if len(work) == 1:
            return [work[0]()]
        with ThreadPoolExecutor(max_workers=max(len(work), 1)) as pool:
            futures = [self._submit(pool, item) for item in work]
        return [future.result() for future in futures]

    def act(self, spec: ToolSpec, arguments: Any, context: ToolContext) -> ToolResult:
        """Run a tool's body and wait no longer than its limit, unless it writes.

        A reading tool that is too slow is left behind and becomes an error result. A writing
        one is waited for: whether it acted must be known.
        """
        if spec.writes:
            return spec.body(arguments, context)
        pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix=spec.name)
        try:
            future = self._submit(pool, partial(spec.body, arguments, context))
            return future.result(timeout=spec.timeout)
        except FutureTimeout:
            raise PortError(
                f"{spec.name} did not answer within {spec.timeout:g} s.", code="tool_timeout"
            ) from None
        finally:
            pool.shutdown(wait=False)

    def _submit(self, pool: ThreadPoolExecutor, item: Callable[[], Item]) -> Future[Item]:
        context = contextvars.copy_context()
        return pool.submit(context.run, self._finish, item)

    def _finish(self, item: Callable[[], Item]) -> Item:
        try:
            return item()
        finally:
            self._release()


class Inline:
    """The same, one after the other in the caller's thread and transaction."""

    def __call__(self, work: Sequence[Callable[[], Item]]) -> list[Item]:
        return [item() for item in work]

    def act(self, spec: ToolSpec, arguments: Any, context: ToolContext) -> ToolResult:
        return spec.body(arguments, context)
