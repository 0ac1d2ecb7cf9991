"""The loop that anybody writes first: stream, run the tools beside each other, ask again."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import anthropic

from evals.engine.world import QUESTION, SEARCH, offered


def bare_client(url: str) -> anthropic.Anthropic:
    """Return the vendor's client for a server; close it."""
    return anthropic.Anthropic(api_key="key", base_url=url, max_retries=0)


def bare_loop(client: anthropic.Anthropic) -> Callable[[], None]:
    """Return one run of it: four model calls and two parallel tools."""
    tools: Any = offered()
    pool = ThreadPoolExecutor(2)
    system: Any = [{"type": "text", "text": "Answer."}]

    def ask(messages: list[Any], **more: Any) -> Any:
        with client.messages.stream(
            model="model-a", max_tokens=2_000, system=system, messages=messages, **more
        ) as stream:
            return stream.get_final_message()

    def run_tool(block: Any) -> dict[str, Any]:
        data = SEARCH.body(SEARCH.arguments.model_validate(block.input), None).data  # type: ignore[arg-type]
        return {"type": "tool_result", "tool_use_id": block.id, "content": json.dumps(data)}

    def once() -> None:
        messages: list[Any] = [_said(QUESTION)]
        for _ in range(3):
            message = ask(messages, tools=tools)
            messages.append(message.to_param())
            calls = [block for block in message.content if block.type == "tool_use"]
            results = list(pool.map(run_tool, calls))
            messages.append({"role": "user", "content": results} if results else _said("Mend it."))
        ask([_said(str(messages[-1]))])

    return once


def _said(text: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "text", "text": text}]}
