"""Figures that are measured, and the bar each must meet. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured quantity. Smaller is better; `bar` is the most its median may be."""

    name: str
    unit: str
    values: tuple[float, ...]
    bar: float

    @property
    def median(self) -> float:
        return median(self.values)

    @property
    def passed(self) -> bool:
        return bool(self.values) and self.median <= self.bar

    def document(self) -> dict[str, Any]:
        """Return the figure as JSON: median, least, most, how many, bar and verdict."""
        if not self.values:
            return {"name": self.name, "unit": self.unit, "n": 0, "bar": self.bar, "pass": False}
        return {
            "name": self.name,
            "unit": self.unit,
            "n": len(self.values),
            "median": round(self.median, 1),
            "min": round(min(self.values), 1),
            "max": round(max(self.values), 1),
            "bar": self.bar,
            "pass": self.passed,
        }


def all_passed(figures: Sequence[Figure]) -> bool:
    """Tell whether there are figures and every one of them meets its bar."""
    return bool(figures) and all(figure.passed for figure in figures)
