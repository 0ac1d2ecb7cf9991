"""Which shop a request is about and who is asking: the first two questions of every edge."""

from __future__ import annotations

import hashlib

from django.conf import settings
from django.http import HttpRequest

from dsupport.contract.errors import Forbidden, NotFound
from dsupport.contract.principal import Principal, Proof
from dsupport.lib.http import check_same_origin
from dsupport.lib.session import read_principal
from dsupport.models import ApiKey, Tenant


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


def principal_of(request: HttpRequest, tenant: Tenant) -> Principal:
    """Return who is asking, from the key or the server-side session; never from the body."""
    key = find_key(request)
    if key is not None:
        return Principal(tenant_id=key.tenant_id, proof=Proof.KEY, visitor=f"key:{key.pk}")
    check_same_origin(request)
    return read_principal(request.session, tenant.pk)
