"""Finding products in the public catalogue by the words of a question."""

from __future__ import annotations

import re
from typing import Any

from django.db.models import Prefetch, Q

from dsupport.lib.money import Money
from dsupport.models import Tenant
from orders.errors import EmptyQuery
from orders.models import Product, Variant, VariantPrice

PRODUCT_LIMIT = 5
VARIANT_LIMIT = 12
_CANDIDATES = 200
_WORDS_LIMIT = 12
_TEXT_LIMIT = 500
# Words that every question holds and no product is told by.
_NOISE = frozenset(
    re.findall(
        r"\w+",
        "a an and any are available can cost costs do does for have how i in is it item much my "
        "of on one or price product sell some stock tell the there this to what which with you "
        "your",
    )
)


def find_products(*, tenant_id: int, query: str) -> dict[str, Any]:
    """Return the products of a shop that match best, with variants, prices and availability.

    An article number beats a name, a name beats an option, an option beats a description.
    """
    words = _words(query)
    if not words:
        raise EmptyQuery
    whole = "".join(char for char in query if char.isprintable()).strip()
    currency = Tenant.objects.get(pk=tenant_id).currency
    scored = [
        (score, product)
        for product in _candidates(tenant_id, words, whole)
        if (score := _score(product, words, whole)) > 0
    ]
    scored.sort(key=lambda pair: (-pair[0], pair[1].name, pair[1].pk))
    best = [product for _, product in scored[:PRODUCT_LIMIT]]
    return {
        "products": [_describe(product, words, whole, currency) for product in best],
        "more": max(0, len(scored) - PRODUCT_LIMIT),
    }


def _candidates(tenant_id: int, words: list[str], whole: str) -> Any:
    condition = Q(variants__sku__iexact=whole) | Q(external_id__iexact=whole)
    for word in words:
        probe = word[:-1] if word.endswith("y") else word  # "battery" also finds "batteries"
        condition |= Q(name__icontains=probe) | Q(category__icontains=probe)
        condition |= Q(description__icontains=probe) | Q(variants__sku__iexact=word)
    prices = Prefetch("prices", VariantPrice.objects.for_tenant(tenant_id))
    variants = Variant.objects.for_tenant(tenant_id).prefetch_related(prices)
    rows = Product.objects.for_tenant(tenant_id).filter(condition).distinct()
    return rows.prefetch_related(Prefetch("variants", variants))[:_CANDIDATES]


def _words(text: str) -> list[str]:
    found = re.findall(r"[^\W_]+(?:-[^\W_]+)*", text.casefold())
    useful = [_singular(word) for word in found if word not in _NOISE]
    return list(dict.fromkeys(useful))[:_WORDS_LIMIT]


def _singular(word: str) -> str:
    """Return an English word without its plural ending, well enough to compare names by."""
    if len(word) > 4 and word.endswith("ies"):
        return f"{word[:-3]}y"
    if len(word) > 4 and word.endswith(("xes", "ches", "shes", "sses")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word


def _score(product: Product, words: list[str], whole: str) -> int:
    variants: list[Variant] = list(product.variants.all())
    skus = {variant.sku.casefold() for variant in variants} | {product.external_id.casefold()}
    named = skus & {whole.casefold(), *words}
    name, category = set(_words(product.name)), set(_words(product.category))
    # The parts of "t-shirt" count too, for those who write "shirt".
    name |= {_singular(part) for word in name for part in word.split("-") if len(part) > 2}
    text = set(_words_of(product.description))
    options = {word for variant in variants for word in _option_words(variant)}
    subject = sum(6 * (w in name) + 3 * (w in category) + (w in text) for w in words)
    # An option alone ("red") points to no product.
    return 100 * len(named) + subject + (sum(w in options for w in words) if subject else 0)


def _words_of(text: str) -> list[str]:
    return [_singular(word) for word in re.findall(r"[^\W_]+(?:-[^\W_]+)*", text.casefold())]


def _option_words(variant: Variant) -> set[str]:
    return {word for value in variant.options.values() for word in _words_of(str(value))}


def _describe(product: Product, words: list[str], whole: str, currency: str) -> dict[str, Any]:
    wanted = {whole.casefold(), *words}

    def closeness(variant: Variant) -> tuple[bool, int, int]:
        fits = len(_option_words(variant) & wanted)
        return variant.sku.casefold() not in wanted, -fits, variant.pk

    variants = sorted(product.variants.all(), key=closeness)
    return {
        "name": product.name,
        "description": _shorten(product.description),
        "variants": [_variant(variant, currency) for variant in variants[:VARIANT_LIMIT]],
        "more_variants": max(0, len(variants) - VARIANT_LIMIT),
    }


def _shorten(text: str) -> str:
    return text if len(text) <= _TEXT_LIMIT else f"{text[: _TEXT_LIMIT - 1]}…"


def _variant(variant: Variant, currency: str) -> dict[str, Any]:
    prices = {p.currency: str(Money(p.amount_minor, p.currency)) for p in variant.prices.all()}
    price = prices.pop(currency, None)
    return {
        "sku": variant.sku,
        "options": variant.options,
        "price": price,
        "other_prices": list(prices.values()),
        "available": variant.available,
    }
