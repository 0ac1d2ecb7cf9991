"""A request as it came, and the command it stands for: typed, canonical, of a known tier."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import BaseModel, ValidationError

from approvals import registry
from approvals.errors import InvalidArguments
from approvals.evidence import check_storable, freeze
from approvals.registry import Action
from approvals.rules import Origin
from dsupport.contract.principal import Principal
from dsupport.contract.risk import RiskTier
from dsupport.lib.canonical import CanonicalError, canonical_json


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked, as it came."""

    principal: Principal
    action: str
    arguments: Mapping[str, Any]
    origin: Origin
    evidence: Mapping[str, Any]
    now: datetime


@dataclass(frozen=True, slots=True)
class Command:
    """What was asked, typed and in its one spelling."""

    action: Action
    tier: RiskTier
    typed: BaseModel
    text: str
    arguments: dict[str, Any]


def read_command(request: Request) -> Command:
    action = registry.get_action(request.action)
    if action.tier is None:  # registration refuses this; the gate does not rely on it
        raise registry.RegistrationError(f"{action.name} has no tier")
    try:
        given = canonical_json(request.arguments)
        check_storable(json.loads(given))
        typed = action.arguments.model_validate_json(given, strict=True)
        text, arguments = freeze(typed.model_dump(mode="json"))
    except ValidationError as error:
        raise InvalidArguments(_explain(error)) from None
    except (CanonicalError, UnicodeEncodeError) as error:
        raise InvalidArguments(f"These arguments cannot be read: {error}.") from None
    return Command(action, action.tier, typed, text, arguments)


def _explain(error: ValidationError) -> str:
    problems = [
        f"{'.'.join(str(part) for part in item['loc']) or 'arguments'}: {item['msg']}"
        for item in error.errors(include_url=False, include_input=False)
    ]
    return "Correct these arguments: " + "; ".join(problems[:5]) + "."
