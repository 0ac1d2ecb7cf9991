"""How a vendor is used: which model for which role, with how much effort and room."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from dsupport.contract.llm import ModelRequest
from dsupport.lib.prices import Price


@dataclass(frozen=True, slots=True)
class RoleModel:
    """The model of one role. `effort` is the vendor's own word, empty for its default.

    `thinking_room` are output tokens on top of what the engine allows: models that think count
    their thoughts as output. `max_output_tokens` bounds what the engine allows; 0 leaves it.
    """

    model: str
    effort: str = ""
    thinking_room: int = 0
    max_output_tokens: int = 0

    def within(self, request: ModelRequest) -> ModelRequest:
        """Return the request with no more room for output than this role has."""
        if not 0 < self.max_output_tokens < request.max_output_tokens:
            return request
        return replace(request, max_output_tokens=self.max_output_tokens)


@dataclass(frozen=True)
class House:
    """What an adapter needs to know of its vendor. Everything in it is settings."""

    api_key: str
    base_url: str
    default: RoleModel
    roles: Mapping[str, RoleModel] = field(default_factory=dict)
    prices: Mapping[str, Price] = field(default_factory=dict)
    next_as_schema: bool = False

    def model_for(self, role: str) -> RoleModel:
        return self.roles.get(role, self.default)
