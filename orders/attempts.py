"""Counting guesses, so that a number and an e-mail cannot be found by trying."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F
from django.utils.crypto import salted_hmac

from dsupport.contract.errors import DomainError
from orders.errors import TooManyAttempts
from orders.models import Attempts

# Wrong guesses in one hour of the clock, for each visitor, network address and target.
ATTEMPTS_AN_HOUR = 20
_KEPT = timedelta(hours=2)
_SWEEP = 200


@dataclass(frozen=True, slots=True)
class Guess:
    """Who tries what. Anything left empty is not counted."""

    tenant_id: int
    visitor: str
    address: str
    target: str

    def subjects(self) -> list[str]:
        """Return keyed digests, sorted, so that parallel guesses lock rows in one order."""
        named = {
            "visitor": self.visitor,
            "address": network_of(self.address),
            "target": self.target,
        }
        values = [
            f"{kind}|{value}" if kind == "address" else f"{self.tenant_id}|{kind}|{value}"
            for kind, value in named.items()
            if value
        ]
        return sorted(
            salted_hmac("orders.attempts", value, algorithm="sha256").hexdigest()
            for value in values
        )


@contextmanager
def counted(guess: Guess, *, now: datetime) -> Iterator[None]:
    """Count a guess before it is looked at, and take it back unless it was wrong.

    A guess is wrong when the block raises a `DomainError`. Counting first means that parallel
    guesses cannot slip through together. Raises `TooManyAttempts` instead of looking.
    """
    subjects, hour = guess.subjects(), now.replace(minute=0, second=0, microsecond=0)
    _count(subjects, hour, now)
    try:
        yield
    except DomainError:
        raise
    except BaseException:
        _take_back(subjects, hour)
        raise
    _take_back(subjects, hour)


def _count(subjects: list[str], hour: datetime, now: datetime) -> None:
    with transaction.atomic():
        Attempts.objects.bulk_create(
            [Attempts(subject=subject, hour=hour) for subject in subjects], ignore_conflicts=True
        )
        rows = Attempts.objects.filter(subject__in=subjects, hour=hour)
        counts = list(rows.select_for_update().order_by("subject").values_list("count", flat=True))
        if any(count >= ATTEMPTS_AN_HOUR for count in counts):
            raise TooManyAttempts(60 - now.minute)
        rows.update(count=F("count") + 1)
        _sweep(hour)


def _take_back(subjects: list[str], hour: datetime) -> None:
    with transaction.atomic():
        rows = Attempts.objects.filter(subject__in=subjects, hour=hour, count__gt=0)
        locked = list(rows.select_for_update().order_by("subject").values_list("pk", flat=True))
        Attempts.objects.filter(pk__in=locked).update(count=F("count") - 1)


def _sweep(hour: datetime) -> None:
    """Delete what is too old to matter, passing over rows that somebody else is deleting."""
    old = Attempts.objects.filter(hour__lt=hour - _KEPT)
    found = list(old.select_for_update(skip_locked=True).values_list("pk", flat=True)[:_SWEEP])
    if found:
        Attempts.objects.filter(pk__in=found).delete()


def network_of(address: str) -> str:
    """Return what one household or office shares: an IPv4 address, or the /64 of an IPv6 one."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv6Address):
        mapped = parsed.ipv4_mapped
        return str(mapped or ipaddress.ip_network((int(parsed), 64), strict=False))
    return str(parsed)
