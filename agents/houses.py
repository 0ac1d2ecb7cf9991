"""The vendors' adapters, made from the settings. Imported by name only, when one is chosen."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from django.conf import settings

from agents.adapters.vendors.house import House, RoleModel
from agents.assembly import ROLES
from dsupport.lib.prices import Price, find_price


def claude() -> Any:
    from agents.adapters.vendors.claude import Claude

    return Claude(read_house("anthropic"))


def openai_compatible() -> Any:
    from agents.adapters.vendors.openai_compatible import OpenAICompatible

    return OpenAICompatible(read_house("openai"))


def read_house(provider: str) -> House:
    """Return a vendor's settings: the provider's own, over them the operator's."""
    house = settings.DSUPPORT_MODELS[provider]
    default = RoleModel(
        model=settings.DSUPPORT_MODEL or house["model"],
        effort=settings.DSUPPORT_EFFORT,
        thinking_room=house["thinking_room"],
    )
    # A vendor's own choices for roles go with its own models, not with an operator's.
    own = {} if settings.DSUPPORT_MODEL else house["roles"]
    roles = {**own, **settings.DSUPPORT_ROLES}
    return House(
        api_key=house["api_key"],
        base_url=house["base_url"],
        default=default,
        roles={name: _role(default, wishes) for name, wishes in roles.items()},
        prices={name: read_price(price) for name, price in settings.DSUPPORT_PRICES.items()},
        next_as_schema=settings.DSUPPORT_NEXT_AS_SCHEMA,
    )


def problems_of(provider: str) -> list[str]:
    """Return what keeps a provider's models from being used, or from being counted; in words.

    None of it stops the desk: the offline rules answer where a model cannot.
    """
    if provider not in settings.DSUPPORT_MODELS:
        return []
    house = read_house(provider)
    if not house.api_key and (provider == "anthropic" or not house.base_url):
        return [f"The provider {provider} has no key, so the offline rules answer. Set its key."]
    models = sorted({house.model_for(role).model for role in ROLES})
    if not all(models):
        return [
            f"No model is named for {provider}, so the offline rules answer. Set DSUPPORT_MODEL."
        ]
    return [
        f"{model} has no price, so budgets do not count it. Set DSUPPORT_PRICES."
        for model in models
        if find_price(model, house.prices) is None
    ]


def read_price(price: Mapping[str, Any]) -> Price:
    above = price.get("above")
    return Price(
        input=Decimal(price["input"]),
        output=Decimal(price["output"]),
        cache_write=Decimal(price.get("cache_write", 0)),
        cache_read=Decimal(price.get("cache_read", 0)),
        long_prompt=int(price.get("long_prompt", 0)),
        above=read_price(above) if above else None,
    )


def _role(default: RoleModel, wishes: Mapping[str, Any]) -> RoleModel:
    room = wishes.get("thinking_room")
    return RoleModel(
        model=wishes.get("model") or default.model,
        effort=wishes.get("effort") or default.effort,
        thinking_room=default.thinking_room if room is None else room,
        max_output_tokens=wishes.get("max_output_tokens") or default.max_output_tokens,
    )
