"""What the tickets room refuses."""

from __future__ import annotations

from dsupport.contract.errors import NotFound


class TicketNotFound(NotFound):
    code = "unknown_ticket"
