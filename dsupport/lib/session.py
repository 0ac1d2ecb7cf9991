"""The principal of a browser session, one for each shop, kept on the server."""

from __future__ import annotations

import secrets
from collections.abc import MutableMapping
from typing import Any

from dsupport.contract.principal import Principal

_KEY = "principals"
_FRAMED = "framed"


def read_principal(session: MutableMapping[str, Any], tenant_id: int) -> Principal:
    """Return who this session is for a shop; a stranger gets a fresh visitor id at once."""
    stored = session.get(_KEY, {}).get(str(tenant_id))
    if stored is not None:
        return Principal.from_json(stored)
    principal = Principal(tenant_id=tenant_id, visitor=secrets.token_urlsafe(18))
    store_principal(session, principal)
    return principal


def find_principal(session: MutableMapping[str, Any], tenant_id: int) -> Principal | None:
    """Return who this session is for a shop, or None when it has never been there."""
    stored = session.get(_KEY, {}).get(str(tenant_id))
    return Principal.from_json(stored) if stored is not None else None


def store_principal(session: MutableMapping[str, Any], principal: Principal) -> None:
    """Keep a principal that the server has just established."""
    session[_KEY] = {**session.get(_KEY, {}), str(principal.tenant_id): principal.to_json()}


def forget_principal(session: MutableMapping[str, Any], tenant_id: int) -> None:
    """End what this session was for a shop."""
    session[_KEY] = {k: v for k, v in session.get(_KEY, {}).items() if k != str(tenant_id)}


def mark_framed(session: MutableMapping[str, Any]) -> None:
    """Note that a session began in a frame on another site, where cookies live apart."""
    session[_FRAMED] = True


def is_framed(session: MutableMapping[str, Any]) -> bool:
    return bool(session.get(_FRAMED))
