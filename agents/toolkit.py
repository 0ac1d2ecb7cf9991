"""The tools that the other rooms offer, by name."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from dsupport.contract.tools import ToolSpec
from knowledge import tools as knowledge_tools
from orders import tools as orders_tools
from tickets import tools as tickets_tools


@cache
def all_tools() -> Mapping[str, ToolSpec]:
    """Return every local tool by its name; two tools of one name are a fault of the code."""
    found: dict[str, ToolSpec] = {}
    for spec in (*knowledge_tools.TOOLS, *orders_tools.TOOLS, *tickets_tools.TOOLS):
        if spec.name in found:
            raise ValueError(f"two tools are called '{spec.name}'")
        found[spec.name] = spec
    return found
