"""The one refusal of the embedded servers."""

from __future__ import annotations


class EmbeddedError(Exception):
    """Say why the servers cannot be had and what to do next.

    `code` is stable: `in_use`, `locked`, `not_installed`, `not_traversable`, `not_writable`,
    `start_failed`, `unsafe_folder`, `unsupported`.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
