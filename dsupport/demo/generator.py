"""The orders of the demo shop, made from a seed: values in, facts out, the same every time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum, auto
from random import Random
from types import MappingProxyType

from dsupport.demo import courses, stories
from dsupport.demo.days import Calendar
from dsupport.demo.draft import CodeMaker, Draft, World
from dsupport.demo.facts import Line, Method, OrderFacts
from dsupport.demo.source import Person, ProductEntry, Shop, VariantEntry
from dsupport.lib.money import Money
from orders.rules import MethodKind

SEED = 20_240_229
FIRST_NUMBER = 1001
ORDER_COUNT = 250

_CARDS = ("Visa", "Visa", "Mastercard", "Mastercard", "American Express")
_LOCAL_CARDS: Mapping[str, str] = MappingProxyType({"JPY": "JCB", "USD": "Discover"})
_GIFT_BALANCES = {"EUR": (0, 7500), "USD": (0, 7500), "JPY": (0, 9000)}
_EXPRESS_SHARE = 0.15


class Basket(Enum):
    """What a course of events needs to be told with."""

    ANY = auto()
    SEVERAL = auto()  # at least two lines, so that a part can come back
    SPLIT = auto()  # a large item, which travels alone, and something else


@dataclass(frozen=True, slots=True)
class _Quota:
    count: int
    tell: Callable[[Draft], OrderFacts]
    basket: Basket = Basket.ANY
    may_be_express: bool = False


_QUOTAS = (
    _Quota(8, courses.pending),
    _Quota(4, courses.items_changed),
    _Quota(8, courses.processed),
    _Quota(22, courses.in_transit),
    _Quota(6, courses.out_for_delivery),
    _Quota(12, courses.late),
    _Quota(3, courses.held_up),
    _Quota(4, courses.lost),
    _Quota(2, courses.lost_and_refunded),
    _Quota(3, courses.returned_to_sender),
    _Quota(5, courses.half_delivered, Basket.SPLIT),
    _Quota(6, courses.delivered_in_parts, Basket.SPLIT),
    _Quota(14, courses.cancelled),
    _Quota(7, courses.return_requested),
    _Quota(12, courses.returned, may_be_express=True),
    _Quota(3, courses.return_arrived),
    _Quota(8, courses.partly_refunded, Basket.SEVERAL),
    _Quota(4, courses.exchange_requested),
    _Quota(6, courses.exchanged),
    _Quota(14, courses.delivered_late, may_be_express=True),
    _Quota(5, courses.paid_at_second_try),
)


def make_wallets(shop: Shop, *, seed: int = SEED) -> dict[str, tuple[Method, ...]]:
    """Return each customer's ways to pay, by e-mail; everybody has one beside a gift card."""
    return {
        person.email: _wallet(person, f"{index:04}", Random(f"{seed}:{person.email}"))  # noqa: S311
        for index, person in enumerate(shop.people, start=1)
    }


def make_orders(
    shop: Shop, *, now: datetime, code_for: CodeMaker, seed: int = SEED
) -> list[OrderFacts]:
    """Return the shop's orders at a moment: the fixed stories and everyday business around them.

    The numbers of the stories never change; the others follow the order of placing.
    """
    told = make_stories(shop, now=now, code_for=code_for, seed=seed)
    everyday = _everyday(_world(shop, now, code_for), make_wallets(shop, seed=seed), seed)
    numbers = (str(number) for number in range(FIRST_NUMBER, FIRST_NUMBER + ORDER_COUNT))
    taken = {order.number for order in told}
    free = [number for number in numbers if number not in taken]
    everyday.sort(key=lambda order: order.placed_at)
    numbered = [replace(order, number=number) for order, number in zip(everyday, free, strict=True)]
    return sorted([*told, *numbered], key=lambda order: order.number)


def make_stories(
    shop: Shop, *, now: datetime, code_for: CodeMaker, seed: int = SEED
) -> list[OrderFacts]:
    """Return the orders with fixed numbers."""
    world, wallets = _world(shop, now, code_for), make_wallets(shop, seed=seed)
    return [_tell_story(story, world, wallets, seed) for story in stories.STORIES]


def _world(shop: Shop, now: datetime, code_for: CodeMaker) -> World:
    holidays = frozenset((day["month"], day["day"]) for day in shop.settings["holidays"])
    return World(shop, Calendar(shop.zone, holidays), now, code_for)


def _everyday(
    world: World, wallets: Mapping[str, tuple[Method, ...]], seed: int
) -> list[OrderFacts]:
    people = [one for one in world.shop.people if one.email not in stories.WITHOUT_EVERYDAY_ORDERS]
    weights = [1 + index * 7 % 4 for index in range(len(people))]  # some come back more often
    plan = [quota for quota in _QUOTAS for _ in range(quota.count)]
    rest = ORDER_COUNT - len(stories.STORIES) - len(plan)
    plan += [_Quota(1, courses.delivered, may_be_express=True)] * rest
    orders = []
    for index, quota in enumerate(plan):
        rng = Random(f"{seed}:order:{index}")  # noqa: S311 - a demo shop, not a secret
        person = rng.choices(people, weights)[0]
        draft = Draft(
            world=world,
            rng=rng,
            person=person,
            address=person.address,
            wallet=wallets[person.email],
            lines=_basket(world.shop, quota.basket, person.currency, rng),
            currency=person.currency,
            serial=2 * index,
            express=quota.may_be_express and rng.random() < _EXPRESS_SHARE,
        )
        orders.append(quota.tell(draft))
    return orders


def _tell_story(
    story: stories.Story, world: World, wallets: Mapping[str, tuple[Method, ...]], seed: int
) -> OrderFacts:
    person = world.shop.person(story.email)
    currency = story.currency or person.currency
    draft = Draft(
        world=world,
        rng=Random(f"{seed}:story:{story.number}"),  # noqa: S311
        person=person,
        address=story.address or person.address,
        wallet=wallets[person.email],
        lines=tuple(
            _line(*world.shop.variant(sku), quantity, currency) for sku, quantity in story.basket
        ),
        currency=currency,
        serial=900 + 2 * (int(story.number) - 1040),
    )
    return replace(story.tell(draft), number=story.number)


def _basket(shop: Shop, kind: Basket, currency: str, rng: Random) -> tuple[Line, ...]:
    small = [product for product in shop.products if not product.is_large]
    count = rng.choices((1, 2, 3, 4), (45, 30, 17, 8))[0]
    chosen = rng.sample(small, max(count, 2) if kind is Basket.SEVERAL else count)
    if kind is Basket.SPLIT:
        chosen.append(rng.choice([product for product in shop.products if product.is_large]))
    return tuple(
        _line(
            product,
            rng.choice(product.variants),
            rng.choices((1, 2, 3), (85, 11, 4))[0],
            currency,
        )
        for product in chosen
    )


def _line(product: ProductEntry, variant: VariantEntry, quantity: int, currency: str) -> Line:
    return Line(
        sku=variant.sku,
        name=product.name,
        options=variant.options,
        quantity=quantity,
        price=variant.prices[currency],
        is_large=product.is_large,
    )


def _wallet(person: Person, key: str, rng: Random) -> tuple[Method, ...]:
    """Return a card for most, an account for some, and a gift card for a few."""
    kinds: Sequence[tuple[MethodKind, ...]] = (
        (MethodKind.CARD,),
        (MethodKind.PAYPAL,),
        (MethodKind.CARD, MethodKind.PAYPAL),
        (MethodKind.CARD, MethodKind.GIFT_CARD),
        (MethodKind.CARD, MethodKind.PAYPAL, MethodKind.GIFT_CARD),
    )
    chosen = rng.choices(kinds, (50, 15, 18, 10, 7))[0]
    return tuple(_method(kind, f"{key}-{kind.value}", person.currency, rng) for kind in chosen)


def _method(kind: MethodKind, key: str, currency: str, rng: Random) -> Method:
    last_four = f"{rng.randint(0, 9999):04}"
    if kind is MethodKind.PAYPAL:
        return Method(key, kind, "PayPal", "", currency)
    if kind is MethodKind.GIFT_CARD:
        low, high = _GIFT_BALANCES[currency]
        balance = Money(rng.randrange(low, high, 500), currency)
        return Method(key, kind, "Gift card", last_four, currency, balance)
    local = _LOCAL_CARDS.get(currency)
    label = rng.choice((*_CARDS, local) if local else _CARDS)
    return Method(key, kind, label, last_four, currency)
