"""Which shop a request is about and who is asking: the first two questions of every edge."""

from __future__ import annotations

import hashlib
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.http import HttpRequest

from dsupport.contract.errors import Forbidden, InvalidInput, NotFound
from dsupport.contract.principal import Principal, Proof
from dsupport.lib.http import check_same_origin
from dsupport.lib.session import read_principal
from dsupport.models import ApiKey, Membership, Tenant


def find_key(request: HttpRequest) -> ApiKey | None:
    """Return the program's key of a request, None without one; refuse one that is not valid."""
    scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
    if scheme.casefold() != "bearer" or not secret:
        return None
    key: ApiKey | None = (
        ApiKey.objects.usable().select_related("tenant").filter(digest=key_digest(secret)).first()
    )
    if key is None:
        raise Forbidden(
            "This key is unknown or revoked. Ask an administrator for a new one.",
            code="invalid_key",
            status=401,
        )
    return key


def key_digest(secret: str) -> str:
    """Return what is stored of a bearer key (random, 256 bits, so one SHA-256 is enough)."""
    return hashlib.sha256(secret.encode()).hexdigest()


def shop_of(request: HttpRequest) -> Tenant:
    """Return the shop: the key's own, else the `shop` parameter, else the desk's default."""
    key = find_key(request)
    if key is not None:
        return key.tenant
    return get_shop(request.GET.get("shop") or settings.DSUPPORT_TENANT)


def get_shop(slug: str) -> Tenant:
    tenant = Tenant.objects.filter(slug=slug).first()
    if tenant is None:
        raise NotFound("There is no shop of this name. Check the address.", code="unknown_shop")
    return tenant


def shop_for_staff(slug: str) -> Tenant:
    """Return the shop of a slug; the error names the others, so it is for staff only."""
    tenant = Tenant.objects.filter(slug=slug).first()
    if tenant is None:
        names = ", ".join(Tenant.objects.values_list("slug", flat=True))
        raise NotFound(f"There is no shop {slug!r}. There are: {names}.", code="unknown_shop")
    return tenant


def find_staff(username: str) -> Any:
    """Return the member of staff whom a terminal names; the error says who there is."""
    staff = get_user_model().objects.filter(is_staff=True, is_active=True)
    user = staff.filter(username=username).first()
    if user is None:
        names = ", ".join(sorted(staff.values_list("username", flat=True))[:20]) or "nobody yet"
        raise InvalidInput(
            f"{username!r} is no member of staff. There are: {names}.", code="unknown_user"
        )
    return user


def administers(by: AbstractBaseUser | AnonymousUser, tenant_id: int | None = None) -> bool:
    """Tell whether this person administers the shop, or any shop when none is given."""
    user: Any = by
    if not (user.is_authenticated and user.is_active and user.is_staff):
        return False
    held = Membership.objects.filter(user_id=user.pk, role=Membership.Role.ADMIN)
    if tenant_id is not None:
        held = held.filter(tenant_id=tenant_id)
    return user.is_superuser or held.exists()


_CASE_WORKERS = frozenset(
    {
        Membership.Role.ADMIN,
        Membership.Role.SENIOR_APPROVER,
        Membership.Role.APPROVER,
        Membership.Role.OPERATOR,
    }
)


def works_for(by: AbstractBaseUser | AnonymousUser, tenant_id: int) -> bool:
    """Tell whether this person, by the roles they hold now, talks to customers of the shop."""
    if by.pk is None:
        return False
    user = get_user_model().objects.filter(pk=by.pk, is_active=True, is_staff=True).first()
    if user is None:
        return False
    held = Membership.objects.filter(
        user_id=user.pk, tenant_id=tenant_id, role__in=list(_CASE_WORKERS)
    )
    return user.is_superuser or held.exists()


def principal_of(request: HttpRequest, tenant: Tenant) -> Principal:
    """Return who is asking, from the key or the server-side session; never from the body."""
    key = find_key(request)
    if key is not None:
        return Principal(tenant_id=key.tenant_id, proof=Proof.KEY, visitor=f"key:{key.pk}")
    check_same_origin(request)
    return read_principal(request.session, tenant.pk)
