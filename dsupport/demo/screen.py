"""What a start of the demo tells the person in front of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from dsupport.demo.logins import CustomerHint, StaffLogin


@dataclass(frozen=True, slots=True)
class Welcome:
    shop: str
    url: str
    staff: Sequence[StaffLogin]
    customers: Sequence[CustomerHint]
    customer_password: str
    data: Path
    logs: Path
    is_open_to_others: bool = False

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterable[str]:
        yield f"\nDSupport is running: {self.shop}\n"
        yield f"  Chat    {self.url}/"
        yield f"  Widget  {self.url}/demo/shop/"
        yield f"  Admin   {self.url}/admin/"
        yield f"  API     {self.url}/api/docs\n"
        if self.staff:
            yield "  Log-ins of the staff, for this start only"
            yield from _columns((one.username, one.password, one.role) for one in self.staff)
            yield ""
        if self.customers:
            yield f"  Customers to try, all with the password {self.customer_password}"
            yield from _columns((one.email, f"ask: {one.try_asking}") for one in self.customers)
            yield ""
        yield f"  Data    {self.data}"
        yield f"  Logs    {self.logs}\n"
        if self.is_open_to_others:
            yield "  Whoever reaches this address can sign in as any customer of the demo.\n"
        yield "Press Ctrl-C to stop."


def _columns(rows: Iterable[tuple[str, ...]]) -> Iterable[str]:
    table = list(rows)
    widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
    for row in table:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield f"    {'  '.join(cells)}".rstrip()
