"""Which versions of everything a run was made with."""

from __future__ import annotations

from functools import cache
from typing import Any

from django.conf import settings

from agents.assembly import ACCESS
from agents.prompts import load_prompt
from agents.toolkit import all_tools
from dsupport.lib.canonical import digest
from dsupport.version import VERSION


@cache
def current_manifest() -> dict[str, Any]:
    """Return the versions of this process: application, prompts and tool schemas, by hash."""
    prompts = {}
    for role in (*ACCESS, "reviewer"):
        prompt = load_prompt(role)
        prompts[role] = {"version": prompt.version, "sha256": prompt.sha256}
    tools = {
        name: digest("tool/1", [spec.description, spec.schema()])
        for name, spec in all_tools().items()
    }
    return {
        "application": VERSION,
        "embedder": settings.DSUPPORT_EMBEDDER,
        "prompts": prompts,
        "tools": tools,
    }
