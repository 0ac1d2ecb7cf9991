"""How somebody becomes known: by a password, by an order, or because the shop vouches."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from django.contrib.auth.hashers import check_password
from django.db import IntegrityError, transaction

from dsupport.contract.principal import Principal, Proof
from dsupport.models import Tenant
from orders.attempts import Guess, counted
from orders.errors import AlreadySignedIn, LoginFailed, ProofFailed, TokenUsed, UnknownCustomer
from orders.models import Customer, Order, UsedToken
from orders.rules import email_key, is_proof, order_key
from orders.tokens import Voucher, read_token

_SWEEP = 200


def prove_guest_order(
    *, principal: Principal, number: str, email: str, now: datetime, address: str = ""
) -> Principal:
    """Return this guest with one more order to see, or raise `ProofFailed`.

    A number that does not exist and a wrong e-mail cost the same work and read the same.
    """
    if principal.customer_id is not None:
        raise AlreadySignedIn
    key = order_key(number)
    guess = Guess(principal.tenant_id, principal.visitor, address, f"order|{key}")
    with counted(guess, now=now):
        order: Order | None = Order.objects.to_prove(principal.tenant_id, key).first()
        stored = order.email if order is not None else None
        if not is_proof(stored_email=stored, given_email=email) or order is None:
            raise ProofFailed
    return principal.with_proved_order(order.pk)


def sign_in(
    *, principal: Principal, email: str, password: str, now: datetime, address: str = ""
) -> Principal:
    """Return the visitor as the owner of an account, or raise `LoginFailed`.

    An account that does not exist, or has no password, takes the hasher's time all the same.
    """
    guess = Guess(principal.tenant_id, principal.visitor, address, f"login|{email_key(email)}")
    with counted(guess, now=now):
        customer = _find_customer(principal.tenant_id, email)
        # Without a hash to compare with, Django's hasher runs for nothing.
        matches = check_password(password, customer.password if customer is not None else "")
        if customer is None or not matches:
            raise LoginFailed
    return _as_customer(principal, customer, Proof.LOGIN)


def accept_token(*, tenant: Tenant, principal: Principal, token: str, now: datetime) -> Principal:
    """Return the visitor as the customer the shop vouches for; each token works once."""
    voucher = read_token(token, secret=tenant.token_secret, tenant=tenant.slug, now=now)
    customer = _vouched_for(tenant, voucher)
    if customer is None:
        raise UnknownCustomer
    _use_up(tenant, voucher, now)
    return _as_customer(principal, customer, Proof.TOKEN)


def _as_customer(principal: Principal, customer: Customer, proof: Proof) -> Principal:
    """Keep the visitor, so that the conversation they have begun goes on."""
    return replace(
        principal, proof=proof, customer_id=customer.pk, proved_orders=frozenset(), staff_id=None
    )


def _find_customer(tenant_id: int, email: str) -> Customer | None:
    if not email.isprintable():
        return None
    found: Customer | None = Customer.objects.with_email(tenant_id, email).first()
    return found


def _vouched_for(tenant: Tenant, voucher: Voucher) -> Customer | None:
    """Return the customer of the shop's own id, else of the e-mail address, that is named."""
    rows = Customer.objects.for_tenant(tenant.pk)
    found: Customer | None = rows.filter(external_id=voucher.customer).first()
    return found or _find_customer(tenant.pk, voucher.customer)


def _use_up(tenant: Tenant, voucher: Voucher, now: datetime) -> None:
    expired = UsedToken.objects.filter(expires_at__lt=now)
    try:
        with transaction.atomic():
            UsedToken.objects.create(
                tenant=tenant, digest=voucher.digest, expires_at=voucher.expires_at
            )
            old = list(
                expired.select_for_update(skip_locked=True).values_list("pk", flat=True)[:_SWEEP]
            )
            UsedToken.objects.filter(pk__in=old).delete()
    except IntegrityError:
        raise TokenUsed from None
