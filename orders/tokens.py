"""The token by which a shop's own site vouches for its customer: a JWT, HS256 (RFC 7519)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import jwt
from jwt.types import Options

from orders.errors import InvalidToken, TokenExpired

# RFC 7518, section 3.2: a key of at least the hash's own size.
SECRET_BYTES = 32
_LONGEST = 4096
_CLAIMS = ["tenant", "customer", "exp", "jti"]


@dataclass(frozen=True, slots=True)
class Voucher:
    """What a genuine token says. `digest` stands for its id, to see it a second time."""

    customer: str
    digest: str
    expires_at: datetime


def read_token(token: str, *, secret: str, tenant: str, now: datetime) -> Voucher:
    """Return the claims of a token that this shop signed and that has not expired.

    Raises `InvalidToken` for another signature, algorithm or shop and for missing claims,
    `TokenExpired` after its time. A shop without a long enough secret has no valid tokens.
    """
    if len(secret.encode()) < SECRET_BYTES or len(token) > _LONGEST:
        raise InvalidToken
    claims = _verified(token, secret)
    customer = _text(claims["customer"])
    if claims["tenant"] != tenant or not customer:
        raise InvalidToken
    expires_at = _moment(claims["exp"])
    if "nbf" in claims and _moment(claims["nbf"]) > now:
        raise InvalidToken
    if expires_at <= now:
        raise TokenExpired
    digest = hashlib.sha256(_text(claims["jti"]).encode()).hexdigest()
    return Voucher(customer=customer, digest=digest, expires_at=expires_at)


def _verified(token: str, secret: str) -> dict[str, Any]:
    # Times are checked against the desk's clock, which tests and evaluations set.
    options: Options = {
        "require": _CLAIMS,
        "verify_exp": False,
        "verify_nbf": False,
        "verify_iat": False,
    }
    try:
        claims: dict[str, Any] = jwt.decode(token, secret, algorithms=["HS256"], options=options)
    except (jwt.InvalidTokenError, ValueError):
        raise InvalidToken from None
    return claims


def _text(value: Any) -> str:
    """Return a claim that is an id; a number is one, a list or an empty text is not."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise InvalidToken
    text = str(value)
    if not text or not text.isprintable():
        raise InvalidToken
    return text


def _moment(value: Any) -> datetime:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidToken
    try:
        return datetime.fromtimestamp(value, UTC)
    except (ValueError, OverflowError, OSError):
        raise InvalidToken from None
