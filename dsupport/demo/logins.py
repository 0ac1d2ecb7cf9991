"""Passwords that last for one start of the demo."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from django.contrib.auth import get_user_model
from django.contrib.auth.hashers import PBKDF2PasswordHasher, get_hasher

from dsupport.demo import stories
from dsupport.demo.source import StaffMember, read_shop
from dsupport.models import Membership, Tenant
from orders.models import Customer

# Without what is easily mistaken for something else when it is typed from a screen.
_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"
_GROUPS, _LENGTH = 3, 4
# The passwords are random, 59 bits: stretching them for a second each would only delay the start.
_ITERATIONS = 20_000
_SHOWN_CUSTOMERS = ("1042", "1043", "1046")


@dataclass(frozen=True, slots=True)
class StaffLogin:
    username: str
    password: str
    role: str


@dataclass(frozen=True, slots=True)
class CustomerHint:
    email: str
    try_asking: str


def renew_staff_passwords(tenant: Tenant) -> list[StaffLogin]:
    """Give the demo's own staff new passwords, which ends their old sessions, and a seat here.

    Somebody else who bears one of their user names keeps the account.
    """
    users = {user.username: user for user in get_user_model().objects.filter(is_staff=True)}
    logins = []
    for member in read_shop().staff:
        user = users.get(member.username)
        if user is None or user.email != member.email:
            continue
        password = make_password()
        user.password = _hash(password)
        user.save(update_fields=["password"])
        Membership.objects.get_or_create(tenant=tenant, user=user, defaults={"role": member.role})
        logins.append(StaffLogin(member.username, password, _role_of(member)))
    return logins


def renew_customer_password(tenant: Tenant) -> str:
    """Give all customers of a demo shop one new password and return it."""
    password = make_password()
    Customer.objects.for_tenant(tenant.pk).update(password=_hash(password))
    return password


def hints(tenant: Tenant) -> list[CustomerHint]:
    """Return a few customers and what to ask as them: the stories, or whoever has orders."""
    told = [story for story in stories.STORIES if story.number in _SHOWN_CUSTOMERS]
    known = Customer.objects.for_tenant(tenant.pk)
    found = [
        CustomerHint(story.email, story.try_asking)
        for story in told
        if known.filter(email=story.email).exists()
    ]
    if found:
        return found
    customers = known.filter(orders__isnull=False).distinct()[: len(_SHOWN_CUSTOMERS)]
    return [
        CustomerHint(customer.email, f"Where is my order {customer.orders.first()}?")
        for customer in customers
    ]


def make_password() -> str:
    """Return a random password that is easy to type: `k7fm-2hqp-x9dw`."""
    groups = ("".join(secrets.choice(_ALPHABET) for _ in range(_LENGTH)) for _ in range(_GROUPS))
    return "-".join(groups)


def _hash(password: str) -> str:
    hasher = get_hasher()
    if isinstance(hasher, PBKDF2PasswordHasher):
        return hasher.encode(password, hasher.salt(), _ITERATIONS)
    return hasher.encode(password, hasher.salt())


def _role_of(member: StaffMember) -> str:
    return str(Membership.Role(member.role).label)
