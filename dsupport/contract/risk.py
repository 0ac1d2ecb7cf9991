"""How much harm an action can do, and so who must agree to it."""

from __future__ import annotations

from enum import StrEnum


class RiskTier(StrEnum):
    """The tier of an action. It stands in code; there is no setting that lowers it."""

    LOW = "LOW"  # runs at once and is recorded
    MEDIUM = "MEDIUM"  # waits for a person
    HIGH = "HIGH"  # waits for a person, two above an amount
    VERY_HIGH = "VERY_HIGH"  # can only be proposed; no code performs it
