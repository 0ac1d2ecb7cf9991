"""What the engine needs from outside, as values and callables that are passed in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar

from dsupport.contract.llm import ModelReply
from dsupport.contract.tools import ToolContext, ToolResult, ToolSpec

Item = TypeVar("Item")


class Journal(Protocol):
    """Remembers the finished steps of a run, so that running again is resuming.

    `place` is the step's position in the run: path of agents, turn, call. A recorded step is
    returned; a new one is executed and recorded together with the events it caused.
    """

    def model(self, place: str, ask: Callable[[], ModelReply]) -> ModelReply: ...

    def tool(
        self, place: str, act: Callable[[], ToolResult], *, writes: bool = False
    ) -> ToolResult:
        """Carry out a call once. One that writes finds everything before it on record."""
        ...

    def settle(self) -> None:
        """Write down what has happened so far, before anything that may take long.

        Raises `RunStopped` when the run belongs to somebody else by now.
        """
        ...


class Trace(Protocol):
    """Says what is happening. The span it hangs under is taken from the context."""

    def span(self, place: str, agent: str) -> AbstractContextManager[None]:
        """Open a span: everything emitted inside hangs under it."""
        ...

    def emit(self, type: str, data: Mapping[str, Any], *, place: str) -> None:
        """Say one thing once: the same type at the same place is said a single time per run."""
        ...


class Parallel(Protocol):
    """Runs pieces of work beside each other and returns their results in the order given."""

    def __call__(self, work: Sequence[Callable[[], Item]]) -> list[Item]: ...


class Crew(Parallel, Protocol):
    """How the work of a run is carried out: in threads, or inline in the caller's transaction."""

    def act(
        self, spec: ToolSpec, arguments: Any, context: ToolContext, linger: Callable[[], None]
    ) -> ToolResult:
        """Run a tool's body within its time limit; `PortError` when it takes longer.

        `linger` is called once when it is not as quick as look-ups are.
        """
        ...
