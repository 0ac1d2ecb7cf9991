"""The two kinds of failure that edges know how to translate."""

from __future__ import annotations


class DomainError(Exception):
    """Refuse a request for a reason the asker can act on.

    `code` is stable and meant for programs; `message` says what to do next. Edges answer
    HTTP 4xx `{code, message}`, a tool error worded for the model, or an admin message.
    """

    code = "domain_error"
    status = 400

    def __init__(self, message: str, *, code: str | None = None, status: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        if code is not None:
            self.code = code
        if status is not None:
            self.status = status


class NotFound(DomainError):
    """Say that nothing is there, in the same words whether it is missing or foreign."""

    code = "not_found"
    status = 404


class Forbidden(DomainError):
    code = "forbidden"
    status = 403


class InvalidInput(DomainError):
    code = "invalid_input"
    status = 422


class Conflict(DomainError):
    code = "conflict"
    status = 409


class LimitReached(DomainError):
    code = "limit"
    status = 429


class PortError(Exception):
    """Report trouble on the other side of a port: a vendor, a carrier, a network.

    Only adapters raise it. `retryable` says whether the same call may succeed later;
    `retry_after` is the other side's own wish in seconds, when it gave one.
    """

    def __init__(
        self,
        message: str,
        *,
        code: str = "unavailable",
        retryable: bool = False,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.retryable = retryable
        self.retry_after = retry_after
