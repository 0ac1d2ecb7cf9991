"""When whom is told of what waits. Pure."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from enum import StrEnum

from approvals.policy import CEILINGS, DECIDERS, SENIORS
from dsupport.lib.money import Money


class Stage(StrEnum):
    """How far the time to decide has gone."""

    WAITING = "waiting"
    REMINDER = "reminder"  # half of it is over
    ESCALATION = "escalation"  # a quarter is left


_AT = {Stage.WAITING: 0.0, Stage.REMINDER: 0.5, Stage.ESCALATION: 0.75}
MAX_ATTEMPTS = 8
# One sender works no longer than this at a stretch: with the last call's ten seconds it is done
# before anybody else may take what it holds.
HOLD_SECONDS = 15.0
_FIRST_RETRY, _LAST_RETRY = timedelta(seconds=30), timedelta(minutes=30)


def stage_at(created: datetime, expires: datetime, now: datetime) -> Stage | None:
    """Return the last stage that has come, None once the time is over.

    What was missed while nothing ran is not made up for: people get one message, not three.
    """
    if now >= expires:
        return None
    gone = (now - created) / (expires - created)
    return [stage for stage, share in _AT.items() if gone >= share or stage is Stage.WAITING][-1]


def is_told(stage: Stage, roles: Collection[str], amount: Money | None) -> bool:
    """Tell whether somebody of these roles hears of this stage.

    Approvers hear of what they may decide; seniors also of what nobody decides.
    """
    held = set(roles)
    if stage is Stage.ESCALATION:
        return bool(held & SENIORS)
    if amount is None:
        return bool(held & DECIDERS)
    ceilings = CEILINGS.get(amount.currency)
    alone = ceilings is not None and amount.minor <= ceilings.alone
    return bool(held & (DECIDERS if alone else SENIORS))


def next_try(attempts: int, now: datetime) -> datetime:
    """Return when to try again after this many failures: doubling, up to half an hour."""
    return now + min(_FIRST_RETRY * 2 ** max(0, attempts - 1), _LAST_RETRY)
