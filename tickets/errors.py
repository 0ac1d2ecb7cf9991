"""What the tickets room refuses."""

from __future__ import annotations

from dsupport.contract.errors import Conflict, NotFound


class TicketNotFound(NotFound):
    code = "unknown_ticket"


class QueueNotFound(NotFound):
    code = "unknown_queue"


class TicketFinished(Conflict):
    code = "ticket_finished"


class InQueueAlready(Conflict):
    code = "in_queue_already"
