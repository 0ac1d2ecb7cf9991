"""What tokens cost, from a dated table in the settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_UP, Decimal

from dsupport.contract.llm import Usage


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens. `above` is a dearer price for long prompts, if any."""

    input: Decimal
    output: Decimal
    cache_write: Decimal = Decimal(0)
    cache_read: Decimal = Decimal(0)
    long_prompt: int = 0  # tokens of prompt from which `above` holds for the whole request
    above: Price | None = None


@dataclass(frozen=True, slots=True)
class Tokens:
    """What a vendor counted. `input` excludes what was written to and read from its cache."""

    input: int = 0
    output: int = 0
    cache_write: int = 0
    cache_read: int = 0

    @property
    def prompt(self) -> int:
        return self.input + self.cache_write + self.cache_read


def usage_of(tokens: Tokens, model: str, prices: Mapping[str, Price]) -> Usage:
    """Return one call's usage; a model without a price costs 0, which a start-up check names.

    The price is that of the longest name in the table which the model's name begins with, so a
    dated name (`claude-x-5-20260101`) has the price of its family.
    """
    price = find_price(model, prices)
    return Usage(
        model_calls=1,
        input_tokens=tokens.prompt,
        output_tokens=tokens.output,
        cached_tokens=tokens.cache_read,
        cost=0 if price is None else _cost(tokens, price),
    )


def find_price(model: str, prices: Mapping[str, Price]) -> Price | None:
    fitting = [name for name in prices if model == name or model.startswith(f"{name}-")]
    return prices[max(fitting, key=len)] if fitting else None


def _cost(tokens: Tokens, price: Price) -> int:
    """Return millionths of a dollar, rounded up: dollars for a million are millionths for one."""
    if price.above is not None and tokens.prompt > price.long_prompt:
        return _cost(tokens, price.above)
    exact = (
        tokens.input * price.input
        + tokens.output * price.output
        + tokens.cache_write * price.cache_write
        + tokens.cache_read * price.cache_read
    )
    return int(exact.to_integral_value(ROUND_UP))
