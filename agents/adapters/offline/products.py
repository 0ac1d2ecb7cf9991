"""Products of the catalogue as sentences: what they are, what they cost, what is in stock."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from agents.adapters.offline import phrases
from agents.adapters.offline.findings import Facts
from agents.adapters.offline.words import content_stems, join_and, sentences

_NAMED = 3
_OPTIONS = 8
_ASKS_PRICE = re.compile(r"\b(?:how much|price|prices|cost|costs|expensive|cheap)\b", re.IGNORECASE)
_ASKS_STOCK = re.compile(
    r"\b(?:in stock|available|availability|do you have|have you got|sold out|get it in|come in|"
    r"colou?rs?|sizes?)\b",
    re.IGNORECASE,
)


_ASKS_RANGE = re.compile(
    r"\b(?:do|have) you (?:have|got|sell|stock|carry)\b|\bis there an?\b|\bare there\b|\bshow me\b",
    re.IGNORECASE,
)
_DIGITS = {"one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6"}
_NUMBER = re.compile(rf"\b(?:{'|'.join(_DIGITS)})\b(?=[ -])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Told:
    """Sentences about products; `sure` says that the product was named plainly."""

    text: str
    sure: bool


def tell_products(products: list[Facts], question: str) -> Told | None:
    """Return what the catalogue says to a question, or None when it holds nothing that fits."""
    wanted = content_stems(_NUMBER.sub(lambda match: _DIGITS[match.group().casefold()], question))
    scored = [(len(wanted & _name_stems(product)), product) for product in products]
    best = max((score for score, _ in scored), default=0)
    asks_range = bool(_ASKS_RANGE.search(question))
    if not best:
        return None
    named = [product for score, product in scored if score == best]
    if len(named) > 1:
        names = join_and([str(product.get("name", "")) for product in named[:_NAMED]])
        return Told(phrases.PRODUCTS_FOUND.format(names=names), sure=asks_range)
    product = named[0]
    sure = asks_range or best >= 2 or best == len(_name_stems(product))
    return Told(_describe(product, question, wanted - _name_stems(product)), sure)


def _describe(product: Facts, question: str, rest: frozenset[str]) -> str:
    name = str(product.get("name", ""))
    variants = [v for v in product.get("variants") or () if isinstance(v, Mapping)]
    fitting = _fitting(variants, rest)
    said: list[str] = []
    if _ASKS_PRICE.search(question):
        said.append(_prices(name, fitting))
    if _ASKS_STOCK.search(question):
        said.append(_stock(name, fitting, chosen=len(fitting) < len(variants)))
    if not said or rest & content_stems(str(product.get("description", ""))):
        said.append(_excerpt(name, product, rest))
    return " ".join(part for part in said if part)


def _excerpt(name: str, product: Facts, rest: frozenset[str]) -> str:
    """Return the name with the description, or with its sentences that the question touches."""
    parts = sentences(str(product.get("description", "")))
    touched = [part for part in parts if rest & content_stems(part)]
    text = " ".join(touched or parts)
    return f"{name}: {text}" if text else ""


def _fitting(variants: list[Facts], rest: frozenset[str]) -> list[Facts]:
    """Return the variants whose options the question names, else all of them."""
    shared = [len(rest & content_stems(_options(variant))) for variant in variants]
    best = max(shared, default=0)
    if not best:
        return variants
    return [v for v, count in zip(variants, shared, strict=True) if count == best]


def _prices(name: str, variants: list[Facts]) -> str:
    prices: dict[str, list[str]] = {}
    for variant in variants:
        price = variant.get("price") or next(iter(variant.get("other_prices") or ()), None)
        if price:
            prices.setdefault(str(price), []).append(_options(variant))
    if len(prices) == 1:
        return phrases.PRODUCT_PRICE.format(name=name, price=next(iter(prices)))
    listed = [f"{_short(options)} {price}" for price, options in prices.items()]
    return phrases.PRODUCT_PRICES.format(name=name, prices=", ".join(listed)) if listed else ""


def _short(options: list[str]) -> str:
    return " / ".join(options[:2]) + (" and others" if len(options) > 2 else "")


def _stock(name: str, variants: list[Facts], *, chosen: bool) -> str:
    """Return what is in stock; `chosen` says that the question named the options."""
    there = [_options(v) for v in variants if v.get("available")]
    gone = [_options(v) for v in variants if not v.get("available")]
    if not there and not (chosen and any(gone)):
        return phrases.PRODUCT_NONE_IN_STOCK.format(name=name) if variants else ""
    if there and not any(there):
        return phrases.PRODUCT_IN_STOCK.format(name=name)
    said = [f"{name}."]
    if there:
        said.append(phrases.PRODUCT_STOCK.format(options="; ".join(there[:_OPTIONS])))
    if any(gone):
        said.append(phrases.PRODUCT_NO_STOCK.format(options="; ".join(gone[:_OPTIONS])))
    return " ".join(said)


def _options(variant: Facts) -> str:
    options = variant.get("options")
    return (
        ", ".join(str(value) for value in options.values()) if isinstance(options, Mapping) else ""
    )


def _name_stems(product: Facts) -> frozenset[str]:
    return content_stems(str(product.get("name", "")))
