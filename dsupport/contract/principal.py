"""Who is asking: a value made by the server and never by a model or a request body."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any


class Proof(StrEnum):
    """How an identity was established."""

    NONE = "none"
    ORDER = "order"  # a guest named an order and the e-mail it was placed with
    LOGIN = "login"  # the shop account's password
    TOKEN = "token"  # noqa: S105 - the shop's own site vouched with a signed token
    STAFF = "staff"  # a member of staff, in the admin or the terminal
    KEY = "key"  # a program's bearer key


@dataclass(frozen=True, slots=True)
class Principal:
    """The authenticated identity and tenant that scopes every query.

    `visitor` is the random id of a browser session (or of a bearer key): it owns the
    conversations of people who have not signed in. `proved_orders` are primary keys of the
    orders a guest has proved, each by number and e-mail. A principal without a customer and
    without proved orders may read published help and nothing else.
    """

    tenant_id: int
    proof: Proof = Proof.NONE
    visitor: str = ""
    customer_id: int | None = None
    staff_id: int | None = None
    proved_orders: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        if self.customer_id is not None and self.proof not in {Proof.LOGIN, Proof.TOKEN}:
            raise ValueError("a customer is established by a login or a token only")
        if self.staff_id is not None and self.proof is not Proof.STAFF:
            raise ValueError("a member of staff is established as staff only")
        if self.proved_orders and self.customer_id is not None:
            raise ValueError("a signed-in customer needs no proved orders")

    @property
    def is_anonymous(self) -> bool:
        """Tell whether nothing about this asker has been established."""
        return self.customer_id is None and self.staff_id is None and not self.proved_orders

    @property
    def owner_key(self) -> str:
        """Name the person behind this principal, for limits and one-ticket-per-problem.

        A signed-in customer is the same person on every device; anybody else is the visitor.
        """
        if self.customer_id is not None:
            return f"customer:{self.customer_id}"
        if self.staff_id is not None:
            return f"staff:{self.staff_id}"
        return f"visitor:{self.visitor}"

    def with_proved_order(self, order_id: int) -> Principal:
        """Return this guest with one more proved order."""
        return replace(self, proof=Proof.ORDER, proved_orders=self.proved_orders | {order_id})

    def to_json(self) -> dict[str, Any]:
        """Return a JSON document from which `from_json` restores an equal principal."""
        return {
            "tenant_id": self.tenant_id,
            "proof": self.proof.value,
            "visitor": self.visitor,
            "customer_id": self.customer_id,
            "staff_id": self.staff_id,
            "proved_orders": sorted(self.proved_orders),
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Principal:
        return cls(
            tenant_id=data["tenant_id"],
            proof=Proof(data["proof"]),
            visitor=data["visitor"],
            customer_id=data["customer_id"],
            staff_id=data["staff_id"],
            proved_orders=frozenset(data["proved_orders"]),
        )
