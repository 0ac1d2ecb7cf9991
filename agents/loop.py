"""The bounded loop: ask the model, run the tools it asked for, until it ends its turn.

Pure: model, tools, journal, trace and time are passed in. It knows no vendor and no table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from pydantic import BaseModel

from agents.errors import RunStopped, StopCause
from agents.scope import RunScope
from agents.toolbox import as_part, call_key, prepare_call
from dsupport.contract.llm import ChatMessage, ModelReply, ModelRequest, StopReason
from dsupport.contract.tools import ToolCall, ToolResult, ToolSpec

MAX_PAUSES = 3


@dataclass(frozen=True)
class Agent:
    """A prompt and the tools that go with it. `delegates` are specialists, called like tools."""

    role: str
    prompt: str
    tools: Mapping[str, ToolSpec] = field(default_factory=dict)
    delegates: Mapping[str, Agent] = field(default_factory=dict)
    schema: type[BaseModel] | None = None
    max_turns: int = 8
    max_output_tokens: int = 2_000

    def only_reads(self, tool: str) -> bool:
        """Tell whether a call of this name can do no more than look something up."""
        spec = self.tools.get(tool)
        return tool not in self.delegates and (spec is None or not spec.writes)


@dataclass(frozen=True)
class Draft:
    """What an agent ended with, and the whole history that led there."""

    text: str
    history: tuple[ChatMessage, ...]


# The endings of a turn that are neither tools nor an answer, and what the run stops with.
_DEAD_ENDS = {
    StopReason.REFUSAL: StopCause.REFUSAL,
    StopReason.CONTEXT_FULL: StopCause.CONTEXT_FULL,
    StopReason.UNKNOWN: StopCause.UNKNOWN_STOP,
}


def run_agent(
    agent: Agent, messages: tuple[ChatMessage, ...], scope: RunScope, place: str
) -> Draft:
    """Run one agent to the end of its turn and return its last text.

    `place` is the agent's position in the run. Raises `RunStopped` at any limit.
    """
    history = messages
    failed: set[str] = set()
    pauses = truncations = 0
    for turn in range(agent.max_turns):
        here = f"{place}/{turn}"
        reply = _ask(agent, history, scope, here, longer=truncations > 0)
        if reply.stop is StopReason.TOOL_USE and reply.calls:
            results = _run_tools(agent, reply, scope, here, failed)
            history = (*history, ChatMessage("assistant", reply.parts), results)
        elif reply.stop is StopReason.END_TURN and reply.text:
            return Draft(reply.text, (*history, ChatMessage("assistant", reply.parts)))
        elif reply.stop is StopReason.PAUSE and pauses < MAX_PAUSES:
            pauses += 1
            history = (*history, ChatMessage("assistant", reply.parts))
        elif reply.stop is StopReason.MAX_TOKENS and not truncations:
            truncations += 1  # cut off: nothing of it is kept, one more try with twice the room
        else:
            raise RunStopped(_dead_end(reply), f"{agent.role} stopped with {reply.stop.value}")
    raise RunStopped(StopCause.TURNS, agent.role)


def _ask(
    agent: Agent, history: tuple[ChatMessage, ...], scope: RunScope, place: str, *, longer: bool
) -> ModelReply:
    scope.check()
    request = ModelRequest(
        role=agent.role,
        system=agent.prompt,
        messages=history,
        tools=tuple(agent.tools.values()),
        context=scope.context,
        schema=agent.schema,
        max_output_tokens=agent.max_output_tokens * (2 if longer else 1),
        deadline=scope.time_left,
    )
    return scope.ask(scope.client.next, request, place)


def _run_tools(
    agent: Agent, reply: ModelReply, scope: RunScope, place: str, failed: set[str]
) -> ChatMessage:
    """Judge the calls of one turn, then run them beside each other, in the order asked."""
    for call in reply.calls:
        if call_key(call) in failed:
            raise RunStopped(StopCause.REPEATED_CALL, f"{agent.role} repeated {call.name}")
    work = [
        _prepare(agent, call, scope, f"{place}.{index}") for index, call in enumerate(reply.calls)
    ]
    scope.check(settle=not all(agent.only_reads(call.name) for call in reply.calls))
    results = scope.parallel(work)
    failed.update(
        call_key(call) for call, result in zip(reply.calls, results, strict=True) if result.is_error
    )
    parts = [as_part(call, result) for call, result in zip(reply.calls, results, strict=True)]
    return ChatMessage("user", tuple(parts))


def _prepare(agent: Agent, call: ToolCall, scope: RunScope, place: str) -> Callable[[], ToolResult]:
    specialist = agent.delegates.get(call.name)
    spec = agent.tools.get(call.name)
    if specialist is None or spec is None:
        return prepare_call(spec, call, scope, place)
    delegate = replace(
        spec, body=lambda arguments, _context: _consult(specialist, arguments.task(), scope, place)
    )
    return prepare_call(delegate, call, scope, place, journalled=False)


def _consult(specialist: Agent, task: str, scope: RunScope, place: str) -> ToolResult:
    """Give a task to a specialist: a fresh agent that knows nothing of the talk so far."""
    place = f"{place}/{specialist.role}"
    with scope.trace.span(place, specialist.role):
        draft = run_agent(specialist, (ChatMessage.user(task),), scope, place)
    return ToolResult(data={"report": draft.text}, trust="specialist")


def _dead_end(reply: ModelReply) -> StopCause:
    if reply.stop is StopReason.MAX_TOKENS:
        return StopCause.TRUNCATED
    return _DEAD_ENDS.get(reply.stop, StopCause.EMPTY_REPLY)
