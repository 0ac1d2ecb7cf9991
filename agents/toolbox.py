"""One tool call from the model's wish to the result it gets: validate, guard, run, guard, bound."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from pydantic import ValidationError

from agents.guardrails import Deny, Modify, judge_call
from agents.scope import RunScope
from dsupport.contract.errors import DomainError, PortError
from dsupport.contract.llm import ResultPart
from dsupport.contract.tools import ErrorCategory, ToolArguments, ToolCall, ToolResult, ToolSpec

_STATUS_CATEGORY = {
    403: ErrorCategory.FORBIDDEN,
    404: ErrorCategory.NOT_FOUND,
    409: ErrorCategory.CONFLICT,
    429: ErrorCategory.LIMIT,
}


def call_key(call: ToolCall) -> str:
    """Return what makes two calls identical: the name and the arguments."""
    arguments = json.dumps(dict(call.arguments), sort_keys=True, default=str)
    return f"{call.name}({arguments}){call.malformed}"


def prepare_call(
    spec: ToolSpec | None,
    call: ToolCall,
    scope: RunScope,
    place: str,
    *,
    journalled: bool = True,
) -> Callable[[], ToolResult]:
    """Judge one call of the model and return what is left to do for its result.

    Nothing it asks for can raise: trouble is an error result. `RunStopped` passes through, since
    it ends the whole run.
    """
    if spec is None:
        unknown = ToolResult.error(
            ErrorCategory.INVALID_INPUT,
            f"unknown_tool:{call.name[:60]}",
            "Use one of the tools offered.",
        )
        return lambda: unknown
    arguments = validate(spec, call)
    if isinstance(arguments, ToolResult):
        return lambda: arguments
    with scope.trace.span(place, spec.name):
        scope.trace.emit("tool.called", _called(spec, arguments), place=place)
        guarded = _before(spec, arguments, scope, place)
        if isinstance(guarded, ToolResult):
            scope.trace.emit("tool.finished", finished(spec, guarded), place=place)
            return lambda: guarded
    return partial(_carry_out, spec, guarded, scope, place, journalled=journalled)


def call_tool(spec: ToolSpec, call: ToolCall, scope: RunScope, place: str) -> ToolResult:
    """Judge one call and carry it out."""
    return prepare_call(spec, call, scope, place)()


def _carry_out(
    spec: ToolSpec, arguments: ToolArguments, scope: RunScope, place: str, *, journalled: bool
) -> ToolResult:
    with scope.trace.span(place, spec.name):
        run = partial(_run, spec, arguments, scope, place)
        result = scope.journal.tool(place, run, writes=spec.writes) if journalled else run()
    scope.evidence.add(place, spec.name, result)
    return result


def validate(spec: ToolSpec, call: ToolCall) -> ToolArguments | ToolResult:
    """Return the typed arguments, or the precise error that tells the model what to mend."""
    if call.malformed:
        return ToolResult.error(
            ErrorCategory.INVALID_INPUT,
            "malformed_json",
            "The arguments are not JSON. Send an object.",
        )
    try:
        return spec.arguments.model_validate(dict(call.arguments))
    except ValidationError as error:
        issue = error.errors()[0]
        name = ".".join(str(part) for part in issue["loc"])
        code = {"missing": "missing_argument", "extra_forbidden": "unknown_argument"}.get(
            issue["type"], "invalid_argument"
        )
        return ToolResult.error(ErrorCategory.INVALID_INPUT, f"{code}:{name}", issue["msg"])


def _before(
    spec: ToolSpec, arguments: ToolArguments, scope: RunScope, place: str
) -> ToolArguments | ToolResult:
    plain = arguments.model_dump()
    for name, verdict in judge_call(scope.guardrails, spec, plain, scope.situation):
        if isinstance(verdict, Deny):
            data = {
                "point": "before_tool",
                "guardrail": name,
                "reason": verdict.code,
                "tool": spec.name,
            }
            scope.trace.emit("guardrail.denied", data, place=place)
            return ToolResult.error(ErrorCategory.FORBIDDEN, verdict.code, verdict.instruction)
        if isinstance(verdict, Modify):
            data = {
                "point": "before_tool",
                "guardrail": name,
                "reason": verdict.why,
                "tool": spec.name,
            }
            scope.trace.emit("guardrail.modified", data, place=f"{place}:{name}")
            changed = validate(spec, ToolCall("", spec.name, verdict.value))
            if isinstance(changed, ToolResult):
                return changed
            arguments = changed
    return arguments


def _run(spec: ToolSpec, arguments: ToolArguments, scope: RunScope, place: str) -> ToolResult:
    started = scope.elapsed()
    try:
        result = scope.act(spec, arguments, scope.tool_context(place), scope.journal.settle)
    except DomainError as error:
        category = _STATUS_CATEGORY.get(error.status, ErrorCategory.INVALID_INPUT)
        result = ToolResult.error(category, error.code, error.message)
    except PortError as error:
        result = ToolResult.error(ErrorCategory.UNAVAILABLE, error.code, error.message)
    result = bound(spec, _after(spec, result, scope, place))
    if result.trust == "article" and not result.is_error:
        scope.trace.emit("retrieval.finished", _retrieval(arguments, result), place=place)
    if result.card is not None and not result.is_error:
        scope.trace.emit("confirmation.asked", result.card, place=place)
    took = round((scope.elapsed() - started) * 1000)
    scope.trace.emit("tool.finished", {**finished(spec, result), "ms": took}, place=place)
    return result


def _after(spec: ToolSpec, result: ToolResult, scope: RunScope, place: str) -> ToolResult:
    for guardrail in scope.guardrails:
        verdict = guardrail.after_tool(spec, result, scope.situation)
        data = {"point": "after_tool", "guardrail": guardrail.name, "tool": spec.name}
        if isinstance(verdict, Modify):
            scope.trace.emit(
                "guardrail.modified",
                {**data, "reason": verdict.why},
                place=f"{place}:{guardrail.name}",
            )
            result = verdict.value
        elif isinstance(verdict, Deny):
            scope.trace.emit("guardrail.denied", {**data, "reason": verdict.code}, place=place)
            return ToolResult.error(ErrorCategory.FORBIDDEN, verdict.code, verdict.instruction)
    return result


def bound(spec: ToolSpec, result: ToolResult) -> ToolResult:
    """Cut a result to the tool's size and say what was cut.

    Lists lose rows from their end, longest list first; what is still too large becomes a text
    of its beginning. Sources that no longer stand in the result may not be cited.
    """
    if _size(result.data) <= spec.max_bytes:
        return result
    data, dropped = _drop_rows(result.data, spec.max_bytes)
    data["truncated"] = f"cut: {dropped} rows left out"
    if _size(data) > spec.max_bytes:
        raw = json.dumps(result.data, ensure_ascii=False, default=str)
        note = f"cut: the first {spec.max_bytes // 4:,} of {len(raw):,} characters"
        data = {"truncated": note, "text": raw[: spec.max_bytes // 4]}
        return replace(result, data=data, sources=(), truncated=True)
    kept = json.dumps(data, ensure_ascii=False, default=str)
    sources = tuple(s for s in result.sources if json.dumps(s.doc_id) in kept)
    return replace(result, data=data, sources=sources, truncated=True)


def _drop_rows(data: Any, limit: int) -> tuple[dict[str, Any], int]:
    holder: dict[str, Any] = dict(data) if isinstance(data, Mapping) else {"rows": data}
    dropped = 0
    while _size(holder) > limit - 60:
        lists = [key for key, value in holder.items() if isinstance(value, list | tuple) and value]
        if not lists:
            break
        longest = max(lists, key=lambda key: _size(holder[key]))
        rows = list(holder[longest])
        keep = len(rows) // 2
        dropped += len(rows) - keep
        holder[longest] = rows[:keep]
    return holder, dropped


def _size(data: Any) -> int:
    return len(json.dumps(data, ensure_ascii=False, default=str).encode())


def as_part(call: ToolCall, result: ToolResult) -> ResultPart:
    """Return a result as the model sees it: delimited as JSON, with its tool and its trust.

    A field without a value is left out; it would be read again with every turn.
    """
    document = {"tool": call.name, "trust": result.trust, "data": _valued(result.data)}
    content = json.dumps(
        document, ensure_ascii=False, sort_keys=True, default=str, separators=(",", ":")
    )
    return ResultPart(call.id, call.name, content, result.is_error)


def _valued(data: Any) -> Any:
    if isinstance(data, Mapping):
        return {key: _valued(value) for key, value in data.items() if value is not None}
    if isinstance(data, list | tuple):
        return [_valued(value) for value in data]
    return data


def _called(spec: ToolSpec, arguments: ToolArguments) -> dict[str, Any]:
    plain = arguments.model_dump(mode="json")
    shown = {name: value if value is not None else "" for name, value in plain.items()}
    try:
        text = spec.progress.format(**shown)
    except (KeyError, IndexError, ValueError):
        text = spec.progress
    return {"tool": spec.name, "text": text, "arguments": plain}


def _retrieval(arguments: ToolArguments, result: ToolResult) -> dict[str, Any]:
    data = result.data if isinstance(result.data, Mapping) else {}
    hits = [
        {
            "doc_id": source.doc_id,
            "title": source.title,
            "heading": source.heading,
            "version": source.version,
            "score": source.score,
        }
        for source in result.sources
    ]
    return {
        "query": getattr(arguments, "query", ""),
        "hits": hits,
        "cutoff": data.get("cutoff"),
        "band": data.get("answerable"),
    }


def finished(spec: ToolSpec, result: ToolResult) -> dict[str, Any]:
    """Return what the trace says of a result: whether it worked, and in short what came."""
    summary = ""
    if result.is_error and isinstance(result.data, Mapping):
        summary = str(result.data.get("error", ""))
    elif result.sources:
        summary = f"{len(result.sources)} passages"
    elif result.ticket:
        summary = result.ticket
    return {
        "tool": spec.name,
        "ok": not result.is_error,
        "summary": summary,
        "cut": result.truncated,
    }
