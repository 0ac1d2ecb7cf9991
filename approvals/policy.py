"""Who may decide what: roles, amounts, second people, and no one in their own matter. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from types import MappingProxyType

from approvals.errors import (
    AmountTooLarge,
    DecisionForbidden,
    OwnMatter,
    TooFast,
    UnknownReason,
)
from dsupport.lib.money import Money

DECIDERS = frozenset({"approver", "senior_approver", "admin"})
SENIORS = frozenset({"senior_approver", "admin"})
PACE = 20  # approvals of one person in a minute; more are no decisions
PACE_WINDOW = timedelta(minutes=1)
EXECUTE_WITHIN = timedelta(hours=24)  # after the decision


class Reason(StrEnum):
    """Why something is rejected; words come beside it."""

    NOT_ELIGIBLE = "not_eligible"
    WRONG_DETAILS = "wrong_details"
    WRONG_AMOUNT = "wrong_amount"
    NO_EVIDENCE = "no_evidence"
    SUSPICIOUS = "suspicious"
    WITHDRAWN = "withdrawn"
    ELSEWHERE = "done_elsewhere"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Ceilings:
    """Up to `alone` any approver decides alone, up to `senior` a senior one; above, two people."""

    alone: int
    senior: int


# Minor units. A currency that is not listed needs two people for any amount.
CEILINGS: Mapping[str, Ceilings] = MappingProxyType(
    {
        "EUR": Ceilings(50_000, 200_000),
        "USD": Ceilings(50_000, 200_000),
        "GBP": Ceilings(50_000, 200_000),
        "CHF": Ceilings(50_000, 200_000),
        "JPY": Ceilings(80_000, 320_000),
        "KWD": Ceilings(150_000, 600_000),
    }
)
_NOTHING = Ceilings(0, 0)


@dataclass(frozen=True, slots=True)
class Decider:
    """A member of staff as the database knew them in the transaction of the decision."""

    user_id: int
    name: str
    roles: frozenset[str]

    @property
    def is_senior(self) -> bool:
        return bool(self.roles & SENIORS)


@dataclass(frozen=True, slots=True)
class Matter:
    """What is decided on: who asked for it or edited it, about how much, who agreed so far."""

    asked_by: int | None
    edited_by: str
    amount: Money | None
    agreed: Sequence[Decider] = ()


def people_needed(amount: Money | None) -> int:
    """Return how many different people must agree; part of what a proposal says of itself."""
    if amount is None:
        return 1
    return 1 if amount.minor <= CEILINGS.get(amount.currency, _NOTHING).senior else 2


def check_may_decide(decider: Decider, matter: Matter) -> None:
    """Raise unless this person may reject it: a decider of the shop, in nobody's own matter."""
    if not decider.roles & DECIDERS:
        raise DecisionForbidden("Only approvers of this shop decide. Ask one of them.")
    if matter.asked_by == decider.user_id or matter.edited_by == decider.name:
        raise OwnMatter("You asked for this or edited it, so somebody else must decide.")


def check_may_approve(decider: Decider, matter: Matter) -> None:
    """Raise unless this person's agreement counts for this amount."""
    check_may_decide(decider, matter)
    if any(other.user_id == decider.user_id for other in matter.agreed):
        raise OwnMatter("You have agreed already. A second person must agree too.")
    amount = matter.amount
    if amount is None or decider.is_senior:
        return
    ceilings = CEILINGS.get(amount.currency, _NOTHING)
    with_senior = any(other.is_senior for other in matter.agreed)
    if amount.minor > ceilings.alone and not with_senior:
        raise AmountTooLarge(
            f"{amount} is above what you may approve. A senior approver must agree first."
        )


def is_enough(agreed: Sequence[Decider], amount: Money | None) -> bool:
    """Tell whether those who agreed suffice: different people, a senior one where it needs one."""
    people = {decider.user_id for decider in agreed}
    if len(people) < people_needed(amount):
        return False
    if amount is None or amount.minor <= CEILINGS.get(amount.currency, _NOTHING).alone:
        return True
    return any(decider.is_senior for decider in agreed)


def check_pace(recent: int) -> None:
    """Raise when somebody approves faster than anybody reads."""
    if recent >= PACE:
        raise TooFast(f"{PACE} approvals within a minute are the most. Wait a minute and go on.")


def check_reason(code: str, words: str) -> None:
    """Raise unless a rejection says why, by a known code and in words."""
    if code not in set(Reason):
        raise UnknownReason(f"Choose one of: {', '.join(Reason)}.")
    if not 0 < len(words.strip()) <= 1_000:
        raise UnknownReason("Say why in a few words, of at most 1,000 characters.")


def is_too_old(decided_at: datetime, now: datetime) -> bool:
    """Tell whether a decision was made so long ago that it must be made again."""
    return now > decided_at + EXECUTE_WITHIN


def first_difference(shown: Mapping[str, object], now: Mapping[str, object]) -> str:
    """Return the name of the first part of a state that is no longer as it was, or nothing."""
    names: Collection[str] = [*shown, *(name for name in now if name not in shown)]
    return next((name for name in names if shown.get(name) != now.get(name)), "")
