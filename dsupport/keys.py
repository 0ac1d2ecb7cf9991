"""Bearer keys for programs: issued once, shown once, revoked for good."""

from __future__ import annotations

import secrets
from datetime import datetime

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import transaction

from approvals.services import record
from dsupport.access import administers, key_digest
from dsupport.contract.errors import Conflict, Forbidden, InvalidInput
from dsupport.models import ApiKey, Tenant

_PREFIX = "dsk_"
_HINT = 4


def issue_key(
    *, tenant: Tenant, name: str, by: AbstractBaseUser | AnonymousUser, now: datetime
) -> tuple[ApiKey, str]:
    """Make a key for a shop's program; return it with its secret, which is kept nowhere."""
    name = name.strip()
    if not name:
        raise InvalidInput("Name the program that will use the key.")
    check_may_manage_keys(by, tenant.pk)
    secret = _PREFIX + secrets.token_urlsafe(32)
    with transaction.atomic():
        key: ApiKey = ApiKey.objects.create(
            tenant=tenant,
            name=name,
            digest=key_digest(secret),
            hint=secret[-_HINT:],
            created_by=by.get_username(),
            created_at=now,
        )
        _record_key(key, "key.issued", by, now)
    return key, secret


def revoke_key(*, key_id: int, by: AbstractBaseUser | AnonymousUser, now: datetime) -> ApiKey:
    """End a key at once; the next request with it is refused."""
    with transaction.atomic():
        key: ApiKey = ApiKey.objects.select_related("tenant").get(pk=key_id)
        check_may_manage_keys(by, key.tenant_id)
        if ApiKey.objects.usable().filter(pk=key_id).update(revoked_at=now) != 1:
            raise Conflict(f"{key} is revoked already.", code="already_revoked")
        _record_key(key, "key.revoked", by, now)
    return key


def check_may_manage_keys(by: AbstractBaseUser | AnonymousUser, tenant_id: int) -> None:
    """Raise unless this person administers the shop."""
    if not administers(by, tenant_id):
        raise Forbidden("Only an administrator of the shop issues and revokes keys.")


def _record_key(
    key: ApiKey, kind: str, by: AbstractBaseUser | AnonymousUser, now: datetime
) -> None:
    record(
        tenant_id=key.tenant_id,
        kind=kind,
        actor=f"staff:{by.get_username()}",
        subject=f"key:{key.pk}",
        detail={"name": key.name, "hint": key.hint},
        now=now,
    )
