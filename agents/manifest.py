"""Which versions of everything a run was made with."""

from __future__ import annotations

from functools import cache
from typing import Any

from django.conf import settings

from agents.assembly import ROLES
from agents.houses import read_house
from agents.prompts import load_prompt
from agents.toolkit import all_tools
from dsupport.lib.canonical import digest
from dsupport.version import VERSION


def current_manifest(provider: str) -> dict[str, Any]:
    """Return the versions a run begins with: application, models, prompts and tools, by hash.

    Which model answered in the end stands with each call; a vendor may serve a dated one.
    """
    return {**_of_this_process(), "provider": provider, "models": _models(provider)}


def _models(provider: str) -> dict[str, dict[str, str]]:
    if provider not in settings.DSUPPORT_MODELS:
        return {}
    house = read_house(provider)
    asked = {role: house.model_for(role) for role in ROLES}
    return {role: {"model": m.model, "effort": m.effort} for role, m in asked.items()}


@cache
def _of_this_process() -> dict[str, Any]:
    prompts = {}
    for role in ROLES:
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
