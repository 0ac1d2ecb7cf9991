"""The arguments of the actions on orders. No field says who is asking."""

from __future__ import annotations

from typing import Annotated, Literal

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

_MOST_ITEMS = 50

OrderNumber = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=50)]
Sku = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100)]
MethodId = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100)]


def _read_email(text: str) -> str:
    """Return an address in which a letter can stand for itself alone; raise `ValueError`."""
    if not text.isascii():
        raise ValueError("write the address in plain letters")
    try:
        validate_email(text)
    except ValidationError as error:
        raise ValueError("this is no e-mail address") from error
    return text


class _Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class OrderArguments(_Arguments):
    order_number: OrderNumber


class Cancel(OrderArguments):
    reason: Literal["no longer needed", "ordered by mistake"]


class Credit(OrderArguments):
    amount: Annotated[str, StringConstraints(pattern=r"^\d{1,9}(\.\d{1,3})?$")]
    reason: Literal["late", "lost", "damaged", "wrong_item", "poor_service"]


class ChangeEmail(_Arguments):
    email: Annotated[
        str,
        StringConstraints(strip_whitespace=True, min_length=3, max_length=254),
        AfterValidator(_read_email),
    ]


class Erase(_Arguments):
    """Nothing is chosen: the account is that of the asker, and it is the whole of it."""


class AddressArguments(_Arguments):
    """A postal address, whole: what is left empty becomes empty."""

    line1: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
    line2: Annotated[str, StringConstraints(strip_whitespace=True, max_length=200)] = ""
    city: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100)]
    region: Annotated[str, StringConstraints(strip_whitespace=True, max_length=100)] = ""
    postcode: Annotated[str, StringConstraints(strip_whitespace=True, max_length=20)] = ""
    country: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=60)]

    def as_fields(self) -> dict[str, str]:
        return {
            "line1": self.line1,
            "line2": self.line2,
            "city": self.city,
            "region": self.region,
            "postcode": self.postcode,
            "country": self.country,
        }


class ChangeAddress(OrderArguments, AddressArguments):
    """Where an order goes that is not packed yet."""


class ChangePayment(OrderArguments):
    payment_method: MethodId


class Return(OrderArguments):
    """Items by their article number, each as often as it comes back."""

    items: Annotated[list[Sku], Field(min_length=1, max_length=_MOST_ITEMS)]
    payment_method: MethodId


class Swap(_Arguments):
    old: Sku
    new: Sku


class SwapItems(OrderArguments):
    """What is to be had instead of what; each pair is one piece."""

    swaps: Annotated[list[Swap], Field(min_length=1, max_length=_MOST_ITEMS)]
    payment_method: MethodId

    @property
    def old(self) -> list[str]:
        return [swap.old for swap in self.swaps]

    @property
    def new(self) -> list[str]:
        return [swap.new for swap in self.swaps]


class Refund(OrderArguments):
    """All that is left, an amount such as "19.90", or the price of some items."""

    amount: Annotated[str, StringConstraints(pattern=r"^\d{1,9}(\.\d{1,3})?$")] | None = None
    items: Annotated[list[Sku], Field(min_length=1, max_length=_MOST_ITEMS)] | None = None
    reason: Literal["not_as_described", "damaged", "late", "lost", "changed_mind", "other"]
