"""How askers are named to staff. The rooms that know people say so at start-up."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping

# The shop's id and the ids of its people, to how each is named.
Names = Callable[[int, Collection[int]], Mapping[int, str]]
_names: dict[str, Names] = {}
_KINDS = {"visitor": "Guest", "staff": "Staff"}


def name_by(kind: str, names: Names) -> None:
    """Have askers whose owner key begins with `kind` named by a room."""
    _names[kind] = names


def name_askers(askers: Iterable[tuple[int, str]]) -> dict[tuple[int, str], str]:
    """Return how each asker, a shop's id and an owner key, is named; one look-up a shop."""
    wanted: dict[tuple[str, int], set[int]] = defaultdict(set)
    named: dict[tuple[int, str], str] = {}
    for shop, owner_key in askers:
        kind, _, number = owner_key.partition(":")
        named[shop, owner_key] = _KINDS.get(kind, owner_key)
        if kind in _names and number.isdecimal():
            wanted[kind, shop].add(int(number))
    for (kind, shop), numbers in wanted.items():
        found = _names[kind](shop, numbers)
        named |= {(shop, f"{kind}:{number}"): name for number, name in found.items()}
    return named
