from __future__ import annotations

import hashlib
import threading
from datetime import UTC, datetime, timedelta
from typing import Any

import jwt
import pytest
from django.contrib.auth.hashers import make_password
from django.db import connection, connections
from django.test.utils import CaptureQueriesContext

from dsupport.contract.principal import Principal, Proof
from dsupport.models import Tenant
from orders import services
from orders.attempts import ATTEMPTS_AN_HOUR
from orders.errors import (
    AlreadySignedIn,
    LoginFailed,
    ProofFailed,
    TokenUsed,
    TooManyAttempts,
    UnknownCustomer,
)
from orders.models import Attempts, UsedToken

NOW = datetime(2026, 10, 15, 9, 10, tzinfo=UTC)
SECRET = "a shop's secret that is long enough to sign with, by any hash there is"


def prove(principal: Principal, number: str, email: str, **more: Any) -> Principal:
    return services.prove_guest_order(
        principal=principal, number=number, email=email, **{"now": NOW, **more}
    )


def log_in(principal: Principal, email: str, password: str, **more: Any) -> Principal:
    return services.sign_in(
        principal=principal, email=email, password=password, **{"now": NOW, **more}
    )


# --- Guests -----------------------------------------------------------------------------------
def test_guest_proves_an_order_by_number_and_email(shop: Any) -> None:
    order = shop.order(None, "#W261", email="Guest@Example.com")
    known = prove(shop.guest(), "w-261", " guest@example.com ")
    assert known.proof is Proof.ORDER
    assert known.proved_orders == {order.pk}
    assert known.visitor == "v2"
    other = shop.order(None, "#W262", email="else@example.com")
    assert prove(known, "W262", "else@example.com").proved_orders == {order.pk, other.pk}


def test_wrong_proofs_read_and_work_alike(shop: Any, other_shop: Any) -> None:
    shop.order(None, "100", email="guest@example.com")
    other_shop.order(None, "300", email="eve@example.com")
    guesses = [
        ("100", "eve@example.com"),
        ("404", "guest@example.com"),
        ("300", "eve@example.com"),
        ("", ""),
        ("100", ""),
        ("\x00", "\x00"),
    ]
    outcomes = set()
    for number, email in guesses:
        guest = Principal(tenant_id=shop.tenant.pk, visitor=f"v{number}{email}")
        with CaptureQueriesContext(connection) as statements, pytest.raises(ProofFailed) as caught:
            prove(guest, number, email)
        outcomes.add((caught.value.code, caught.value.message, len(statements)))
    assert len(outcomes) == 1


def test_signed_in_customer_is_not_made_a_guest(shop: Any) -> None:
    customer = shop.customer()
    shop.order(None, "100", email="guest@example.com")
    with pytest.raises(AlreadySignedIn):
        prove(shop.signed_in(customer), "100", "guest@example.com")


def guess_wrongly(times: int, visitor: str = "v2", **more: Any) -> None:
    tenant = Tenant.objects.get(slug="shop")
    for _ in range(times):
        with pytest.raises(ProofFailed):
            prove(Principal(tenant_id=tenant.pk, visitor=visitor), "100", "no@x.example", **more)


def test_visitor_is_stopped_after_twenty_wrong_proofs(shop: Any) -> None:
    shop.order(None, "100", email="guest@example.com")
    shop.order(None, "101", email="guest@example.com")
    guess_wrongly(ATTEMPTS_AN_HOUR)
    for number, email in (("100", "guest@example.com"), ("101", "guest@example.com"), ("9", "x")):
        with pytest.raises(TooManyAttempts) as caught:
            prove(shop.guest(), number, email)
    assert caught.value.code == "too_many_attempts"
    assert "Wait 50 minutes" in caught.value.message
    stranger = Principal(tenant_id=shop.tenant.pk, visitor="other")
    assert prove(stranger, "101", "guest@example.com").proved_orders


def test_address_is_stopped_whatever_cookies_it_drops(shop: Any) -> None:
    shop.order(None, "101", email="guest@example.com")
    for number in range(ATTEMPTS_AN_HOUR):
        fresh = Principal(tenant_id=shop.tenant.pk, visitor=f"fresh{number}")
        with pytest.raises(ProofFailed):
            prove(fresh, f"9{number}", "x", address=f"2001:db8:1:2::{number}")
    fresh = Principal(tenant_id=shop.tenant.pk, visitor="fresh")
    with pytest.raises(TooManyAttempts):
        prove(fresh, "101", "guest@example.com", address="2001:db8:1:2::ffff")
    assert prove(fresh, "101", "guest@example.com", address="2001:db8:1:3::1").proved_orders


def test_order_is_guarded_against_guesses_from_everywhere(shop: Any) -> None:
    shop.order(None, "100", email="guest@example.com")
    for number in range(ATTEMPTS_AN_HOUR):
        guess_wrongly(1, visitor=f"bot{number}", address=f"192.0.2.{number}")
    with pytest.raises(TooManyAttempts):
        prove(shop.guest(), "#1-00", "guest@example.com", address="198.51.100.1")


def test_right_proofs_are_not_counted(shop: Any) -> None:
    shop.order(None, "100", email="guest@example.com")
    for _ in range(ATTEMPTS_AN_HOUR * 2):
        prove(shop.guest(), "100", "guest@example.com", address="192.0.2.1")
    assert set(Attempts.objects.values_list("count", flat=True)) == {0}


def test_limit_ends_with_the_hour_and_old_counts_go(shop: Any) -> None:
    shop.order(None, "100", email="guest@example.com")
    guess_wrongly(ATTEMPTS_AN_HOUR)
    later = NOW + timedelta(hours=1)
    assert prove(shop.guest(), "100", "guest@example.com", now=later).proved_orders
    prove(shop.guest(), "100", "guest@example.com", now=NOW + timedelta(hours=6))
    assert set(Attempts.objects.values_list("hour", flat=True)) == {
        NOW.replace(minute=0) + timedelta(hours=6)
    }


def test_counts_hold_no_personal_data(shop: Any) -> None:
    guess_wrongly(1, address="192.0.2.1")
    subjects = list(Attempts.objects.values_list("subject", flat=True))
    assert len(subjects) == 3
    # Keyed, so that nobody who reads the table finds an address by trying them all.
    assert hashlib.sha256(b"address|192.0.2.1").hexdigest() not in subjects
    assert not any("192.0.2" in subject for subject in subjects)


def test_parallel_guesses_do_not_slip_through(committed_db: str) -> None:
    tenant = Tenant.objects.create(slug="shop", name="Shop")
    outcomes: list[str] = []

    def guess() -> None:
        try:
            prove(Principal(tenant_id=tenant.pk, visitor="bot"), "1", "x", address="192.0.2.1")
        except (ProofFailed, TooManyAttempts) as error:
            outcomes.append(error.code)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=guess) for _ in range(ATTEMPTS_AN_HOUR + 10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert outcomes.count("proof_failed") == ATTEMPTS_AN_HOUR
    assert outcomes.count("too_many_attempts") == 10


# --- Accounts ---------------------------------------------------------------------------------
def test_customer_signs_in_with_a_password(shop: Any) -> None:
    customer = shop.customer(password=make_password("correct horse"))
    order = shop.order(None, "100")
    known = log_in(shop.guest(order), "ADA@example.com", "correct horse")
    assert known == Principal(
        tenant_id=shop.tenant.pk, proof=Proof.LOGIN, visitor="v2", customer_id=customer.pk
    )


def test_failed_logins_read_and_work_alike(shop: Any, other_shop: Any, settings: Any) -> None:
    settings.PASSWORD_HASHERS = ["tests.orders.hashers.CountingHasher"]
    from tests.orders import hashers

    shop.customer("ada@example.com", password=make_password("right"))
    shop.customer("bob@example.com")
    other_shop.customer("eve@example.com", password=make_password("right"))
    outcomes = set()
    for email in ("ada@example.com", "bob@example.com", "eve@example.com", "no@x.example", "\x00"):
        hashers.work.clear()
        with pytest.raises(LoginFailed) as caught:
            log_in(Principal(tenant_id=shop.tenant.pk, visitor=email), email, "wrong")
        outcomes.add((caught.value.code, caught.value.message, len(hashers.work)))
    assert {work for _, _, work in outcomes} == {1}
    assert len(outcomes) == 1


def test_logins_are_limited_as_proofs_are(shop: Any) -> None:
    shop.customer(password=make_password("right"))
    for number in range(ATTEMPTS_AN_HOUR):
        with pytest.raises(LoginFailed):
            log_in(
                Principal(tenant_id=shop.tenant.pk, visitor=f"bot{number}"),
                "ada@example.com",
                "wrong",
            )
    with pytest.raises(TooManyAttempts):
        log_in(shop.guest(), "Ada@example.com", "right")


# --- The shop's own word ----------------------------------------------------------------------
@pytest.fixture
def vouching(shop: Any) -> Any:
    Tenant.objects.filter(pk=shop.tenant.pk).update(token_secret=SECRET)
    shop.tenant.refresh_from_db()
    return shop


def token(**changes: Any) -> str:
    base = {"tenant": "shop", "customer": "ada", "exp": NOW + timedelta(hours=1), "jti": "one"}
    return jwt.encode({**base, **changes}, SECRET, algorithm="HS256")


def accept(shop: Any, text: str, now: datetime = NOW) -> Principal:
    return services.accept_token(tenant=shop.tenant, principal=shop.guest(), token=text, now=now)


@pytest.mark.parametrize("named", ["ada", "Ada@Example.com"])
def test_token_signs_in_the_customer_it_names(vouching: Any, named: str) -> None:
    customer = vouching.customer()
    known = accept(vouching, token(customer=named))
    assert known.proof is Proof.TOKEN
    assert known.customer_id == customer.pk
    assert known.visitor == "v2"


def test_token_works_once(vouching: Any) -> None:
    vouching.customer()
    accept(vouching, token())
    with pytest.raises(TokenUsed):
        accept(vouching, token())
    # Another token with the same id is the same token.
    with pytest.raises(TokenUsed):
        accept(vouching, token(exp=NOW + timedelta(hours=2)))
    assert accept(vouching, token(jti="two")).customer_id


def test_token_for_somebody_unknown_is_refused_and_not_used_up(vouching: Any) -> None:
    with pytest.raises(UnknownCustomer):
        accept(vouching, token())
    vouching.customer()
    assert accept(vouching, token()).customer_id


def test_token_ids_are_forgotten_after_they_expire(vouching: Any) -> None:
    vouching.customer()
    accept(vouching, token())
    later = NOW + timedelta(hours=3)
    accept(vouching, token(jti="two", exp=later + timedelta(hours=1)), now=later)
    assert UsedToken.objects.count() == 1


def test_token_used_in_parallel_works_once(committed_db: str) -> None:
    tenant = Tenant.objects.create(slug="shop", name="Shop", token_secret=SECRET)
    from orders.models import Customer

    Customer.objects.create(tenant=tenant, external_id="ada", email="a@x.example", currency="EUR")
    outcomes: list[str] = []

    def use() -> None:
        try:
            services.accept_token(
                tenant=tenant, principal=Principal(tenant_id=tenant.pk), token=token(), now=NOW
            )
            outcomes.append("in")
        except TokenUsed:
            outcomes.append("used")
        finally:
            connections.close_all()

    threads = [threading.Thread(target=use) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(outcomes) == ["in"] + ["used"] * 7
