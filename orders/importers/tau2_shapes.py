"""The objects of tau2-bench's retail `db.json`, as far as a shop needs them."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from orders.importers.rows import read_amount

CURRENCY = "USD"


def _storable(text: str) -> str:
    if "\x00" in text:
        raise ValueError("holds a null byte")
    return text


def _amount(value: Any) -> int:
    return read_amount(value, CURRENCY)


Text = Annotated[str, Field(max_length=100), AfterValidator(_storable)]
LongText = Annotated[str, Field(max_length=200), AfterValidator(_storable)]
Key = Annotated[str, Field(min_length=1, max_length=100), AfterValidator(_storable)]
Amount = Annotated[int, BeforeValidator(_amount)]


class _Shape(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")


class Tau2Address(_Shape):
    address1: LongText = ""
    address2: LongText = ""
    city: Text = ""
    state: Text = ""
    zip: Annotated[Text, Field(max_length=20)] = ""
    country: Annotated[Text, Field(max_length=60)] = ""

    def as_fields(self) -> dict[str, str]:
        return {
            "line1": self.address1,
            "line2": self.address2,
            "city": self.city,
            "region": self.state,
            "postcode": self.zip,
            "country": self.country,
        }


class Tau2Name(_Shape):
    first_name: Text
    last_name: Text


class Tau2Method(_Shape):
    id: Key
    source: str
    brand: Annotated[Text, Field(max_length=60)] = ""
    last_four: Annotated[str, Field(pattern=r"^([0-9]{4})?$", max_length=4)] = ""
    balance: Amount | None = None


class Tau2User(_Shape):
    user_id: Key
    name: Tau2Name
    address: Tau2Address
    email: Annotated[Key, Field(max_length=254, pattern=r"^[^@\s]+@[^@\s]+$")]
    payment_methods: dict[str, Any]


class Tau2Variant(_Shape):
    item_id: Key
    options: dict[Text, LongText]
    available: bool
    price: Amount


class Tau2Product(_Shape):
    product_id: Key
    name: Annotated[LongText, Field(min_length=1)]
    variants: dict[str, Any]


class Tau2Item(_Shape):
    name: Annotated[LongText, Field(min_length=1)]
    item_id: Key
    price: Amount
    options: dict[Text, LongText]


class Tau2Fulfillment(_Shape):
    tracking_id: list[Annotated[Key, Field(max_length=60)]]
    item_ids: list[str]


class Tau2Payment(_Shape):
    transaction_type: str
    amount: Amount
    payment_method_id: Key


class Tau2Order(_Shape):
    order_id: Annotated[Key, Field(max_length=50)]
    user_id: Key
    address: Tau2Address
    items: Annotated[list[Tau2Item], Field(min_length=1, max_length=1000)]
    status: str
    fulfillments: list[Tau2Fulfillment] = []
    payment_history: list[Tau2Payment] = []
