"""What the pages of the desk may load, and who may show them in a frame."""

from __future__ import annotations

_CHAT = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self' ws: wss:; manifest-src 'self'; "
    "worker-src 'self'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors {ancestors}"
)
# The admin's own scripts (Alpine) evaluate expressions, hence its wider script policy.
_ADMIN = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)


def chat_policy(ancestors: str = "'none'") -> str:
    """Return the policy of the customer's pages; `ancestors` may show them in a frame."""
    return _CHAT.format(ancestors=ancestors)


def policy_for(path: str) -> str:
    """Return the policy of a page that sets none of its own."""
    return _ADMIN if path.startswith(("/admin/", "/api/docs")) else chat_policy()
