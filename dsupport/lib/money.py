"""Exact money: integer minor units with a currency. No float ever becomes an amount."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

# Digits after the point, ISO 4217. Currencies that are not listed have two.
_EXPONENTS = {
    "BIF": 0, "CLP": 0, "DJF": 0, "GNF": 0, "ISK": 0, "JPY": 0, "KMF": 0, "KRW": 0, "PYG": 0,
    "RWF": 0, "UGX": 0, "VND": 0, "VUV": 0, "XAF": 0, "XOF": 0, "XPF": 0,
    "BHD": 3, "IQD": 3, "JOD": 3, "KWD": 3, "LYD": 3, "OMR": 3, "TND": 3,
}  # fmt: skip
_SYMBOLS = {"USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥"}


class MoneyError(ValueError):
    """An amount that cannot be represented exactly, or two currencies in one sum."""


def exponent(currency: str) -> int:
    """Return how many digits the currency has after the point."""
    return _EXPONENTS.get(currency, 2)


@dataclass(frozen=True, slots=True, order=False)
class Money:
    """An amount in minor units (cents, yen, fils) of an ISO 4217 currency."""

    minor: int
    currency: str

    def __post_init__(self) -> None:
        if isinstance(self.minor, bool) or not isinstance(self.minor, int):
            raise MoneyError("an amount is an integer of minor units")
        if len(self.currency) != 3 or not self.currency.isascii() or not self.currency.isupper():
            raise MoneyError(f"{self.currency!r} is not a currency code such as EUR")

    @classmethod
    def parse(cls, text: str | Decimal, currency: str) -> Money:
        """Read a decimal amount in major units; refuse what the currency cannot express."""
        try:
            value = Decimal(text).scaleb(exponent(currency))
        except InvalidOperation as error:
            raise MoneyError(f"{text!r} is not an amount") from error
        if not value.is_finite() or value != value.to_integral_value():
            raise MoneyError(f"{text} is not a whole number of the smallest unit of {currency}")
        return cls(int(value), currency)

    @property
    def decimal(self) -> Decimal:
        """Return the amount in major units."""
        return Decimal(self.minor).scaleb(-exponent(self.currency))

    def __add__(self, other: Money) -> Money:
        return Money(self.minor + self._same(other), self.currency)

    def __sub__(self, other: Money) -> Money:
        return Money(self.minor - self._same(other), self.currency)

    def __lt__(self, other: Money) -> bool:
        return self.minor < self._same(other)

    def __le__(self, other: Money) -> bool:
        return self.minor <= self._same(other)

    def __str__(self) -> str:
        digits = exponent(self.currency)
        number = f"{self.decimal:,.{digits}f}"
        symbol = _SYMBOLS.get(self.currency)
        if symbol is None:
            return f"{number} {self.currency}"
        return f"-{symbol}{number[1:]}" if number.startswith("-") else f"{symbol}{number}"

    def split(self, weights: list[int]) -> list[Money]:
        """Divide in proportion to `weights` so that the parts sum to the whole exactly.

        Largest remainder method; ties go to the earlier part. Weights are not negative and
        not all zero; the amount is not negative.
        """
        total = sum(weights)
        if self.minor < 0 or total <= 0 or any(weight < 0 for weight in weights):
            raise MoneyError(
                "only an amount of zero or more splits, by weights that are not all zero"
            )
        floors = [self.minor * weight // total for weight in weights]
        remainders = [self.minor * weight % total for weight in weights]
        by_remainder = sorted(range(len(weights)), key=lambda i: (-remainders[i], i))
        for index in by_remainder[: self.minor - sum(floors)]:
            floors[index] += 1
        return [Money(part, self.currency) for part in floors]

    def _same(self, other: Money) -> int:
        if other.currency != self.currency:
            raise MoneyError(f"{self.currency} and {other.currency} do not mix")
        return other.minor
