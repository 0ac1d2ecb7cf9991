"""Reading a tool call from the text that a vendor sends for its arguments."""

from __future__ import annotations

import json

from dsupport.contract.tools import ToolCall


def read_call(id: str, name: str, raw: str) -> ToolCall:
    """Return a call from its arguments as text; text that is no object is kept as malformed."""
    try:
        arguments = json.loads(raw or "{}")
    except ValueError:
        return ToolCall(id, name, {}, malformed=raw)
    if not isinstance(arguments, dict):
        return ToolCall(id, name, {}, malformed=raw)
    return ToolCall(id, name, arguments)
