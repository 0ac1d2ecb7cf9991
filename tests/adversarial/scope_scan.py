"""Finds every query on customers' data in the code, and those that start without a scope."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("agents", "knowledge", "orders", "tickets", "approvals", "evals", "dsupport")

# Rows of these belong to somebody; reading one always starts by saying on whose behalf.
PROTECTED = {
    "Customer", "Order", "OrderItem", "Shipment", "ShipmentItem", "Payment", "PaymentMethod",
    "Conversation", "Message", "Event", "Step", "Run", "Ticket", "Chunk", "Embedding",
    "RetrievalTrace",
}  # fmt: skip
SCOPES = {
    "for_principal", "for_tenant", "for_tenants", "for_conversation", "for_run", "for_worker",
    "with_email", "to_prove", "after", "claimable",
}  # fmt: skip
WRITES = {"create", "bulk_create"}
TABLES = (
    "orders_order", "orders_customer", "orders_shipment", "orders_payment", "agents_message",
    "agents_conversation", "agents_event", "agents_step", "agents_run", "knowledge_chunk",
    "knowledge_embedding", "tickets_ticket",
)  # fmt: skip
# The one place with statements of its own: what a run lives by.
RAW_SQL = "agents/store/"


@dataclass(frozen=True)
class Query:
    """One place where a protected table is asked, and the methods of its chain, first one first."""

    file: str
    line: int
    model: str
    chain: tuple[str, ...]

    @property
    def scoped(self) -> bool:
        if not self.chain:
            return False
        first = self.chain[0]
        # A conditional update of rows that the caller already holds reads nothing.
        updates = first == "filter" and self.chain[-1] == "update"
        return first in SCOPES or first in WRITES or updates


def source_files() -> Iterator[Path]:
    """Yield the code of the rooms, without migrations."""
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            if "migrations" not in path.parts:
                yield path


def find_queries(source: str, file: str) -> list[Query]:
    """Return every query on a protected table in a module's source."""
    tree = ast.parse(source)
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    return [
        Query(file, node.lineno, node.value.id, _chain(node, parents))
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and node.attr in {"objects", "_default_manager", "_base_manager"}
        and isinstance(node.value, ast.Name)
        and node.value.id in PROTECTED
    ]


def _chain(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> tuple[str, ...]:
    names = []
    while isinstance(parent := parents.get(node), ast.Attribute | ast.Call):
        if isinstance(parent, ast.Attribute):
            names.append(parent.attr)
        elif parent.func is not node:
            break
        node = parent
    return tuple(names)


def find_raw_sql(source: str, file: str) -> list[str]:
    """Return the protected tables that a module names in its own SQL."""
    if file.startswith(RAW_SQL):
        return []
    texts = [
        node.value
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    words = (" FROM ", " JOIN ", "UPDATE ", "INSERT INTO ", "DELETE ")
    sql = [text for text in texts if any(word in f" {text}" for word in words)]
    return [f"{file}: {table}" for table in TABLES for text in sql if table in text]
