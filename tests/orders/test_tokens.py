from __future__ import annotations

import base64
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import jwt
import pytest

from orders.errors import InvalidToken, TokenExpired
from orders.tokens import read_token

SECRET = "a shop's secret that is long enough to sign with, by any hash there is"
NOW = datetime(2026, 10, 15, 9, tzinfo=UTC)


def claims(**changes: Any) -> dict[str, Any]:
    base = {"tenant": "shop", "customer": "ada", "exp": NOW + timedelta(hours=1), "jti": "one"}
    return {name: value for name, value in {**base, **changes}.items() if value is not None}


def sign(payload: dict[str, Any], secret: str = SECRET, algorithm: str = "HS256") -> str:
    return jwt.encode(payload, secret, algorithm=algorithm)


def unsigned(payload: dict[str, Any]) -> str:
    def part(value: Any) -> str:
        text = json.dumps(value, default=lambda at: at.timestamp())
        return base64.urlsafe_b64encode(text.encode()).rstrip(b"=").decode()

    return f"{part({'alg': 'none', 'typ': 'JWT'})}.{part(payload)}."


def read(token: str, secret: str = SECRET) -> Any:
    return read_token(token, secret=secret, tenant="shop", now=NOW)


def test_genuine_token_names_the_customer() -> None:
    voucher = read(sign(claims()))
    assert voucher.customer == "ada"
    assert voucher.expires_at == NOW + timedelta(hours=1)
    assert len(voucher.digest) == 64


def test_customer_may_be_a_number() -> None:
    assert read(sign(claims(customer=4711))).customer == "4711"


@pytest.mark.parametrize(
    "token",
    [
        "",
        "not a token",
        "a.b.c",
        "x" * 5000,
        sign(
            claims(), "another secret of more than enough length, whatever the hash it signs with"
        ),
        sign(claims(), algorithm="HS512"),
        unsigned(claims()),
        sign(claims(tenant="other")),
        sign(claims(tenant=None)),
        sign(claims(customer=None)),
        sign(claims(customer="")),
        sign(claims(customer=["ada"])),
        sign(claims(customer=True)),
        sign(claims(customer="a\x00da")),
        sign(claims(exp=None)),
        sign(claims(exp=10**20)),
        sign(claims(jti=None)),
        sign(claims(jti=7.5)),
        sign(claims(nbf=NOW + timedelta(minutes=5))),
    ],
)
def test_token_that_is_not_the_shops_is_invalid(token: str) -> None:
    with pytest.raises(InvalidToken):
        read(token)


@pytest.mark.parametrize("seconds", [0, 1, 86_400])
def test_token_after_its_time_has_expired(seconds: int) -> None:
    with pytest.raises(TokenExpired):
        read(sign(claims(exp=NOW - timedelta(seconds=seconds))))


def test_expired_forgery_is_not_told_that_it_expired() -> None:
    late = claims(exp=NOW - timedelta(hours=1))
    with pytest.raises(InvalidToken):
        read(
            sign(late, "another secret of more than enough length, whatever the hash it signs with")
        )


def test_body_exchanged_under_a_genuine_signature_is_invalid() -> None:
    head, _, signature = sign(claims()).split(".")
    body = sign(claims(customer="bob")).split(".")[1]
    with pytest.raises(InvalidToken):
        read(f"{head}.{body}.{signature}")


@pytest.mark.parametrize("secret", ["", "short"])
def test_shop_without_a_long_secret_has_no_valid_tokens(secret: str) -> None:
    with pytest.raises(InvalidToken):
        read(unsigned(claims()), secret)
