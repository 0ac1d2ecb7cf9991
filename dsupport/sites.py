"""The shop's own sites that may show the chat in a frame: who may list them, and what counts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import transaction

from approvals.services import record
from dsupport.access import administers
from dsupport.contract.errors import Forbidden, InvalidInput
from dsupport.models import Tenant

MAX_SITES = 20
_HOST = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*")
_OWN_MACHINE = {"localhost", "127.0.0.1"}
_PORTS = {"https": 443, "http": 80}


def parse_site(text: str) -> str:
    """Return the origin of a site as browsers write it, `https://shop.example`.

    One exact origin: no path, no wildcard, no plain http except on the developer's own machine,
    because the address ends up in the `frame-ancestors` of a page that holds a customer's session.
    Raises `InvalidInput` with the code `invalid_site`.
    """
    try:
        parts = urlsplit(text.strip())
        host, port = (parts.hostname or "").encode("idna").decode(), parts.port
    except ValueError:  # a UnicodeError is one too
        raise _no_site(text) from None
    plain = parts.scheme == "http" and host in _OWN_MACHINE
    more = parts.path.strip("/") or parts.query or parts.fragment or parts.username
    if more or not (parts.scheme == "https" or plain) or not _HOST.fullmatch(host):
        raise _no_site(text)
    usual = port in {None, _PORTS[parts.scheme]}
    return f"{parts.scheme}://{host}" + ("" if usual else f":{port}")


def _no_site(text: str) -> InvalidInput:
    return InvalidInput(
        f"{text.strip()[:200]!r} is no address of a site. Give it like https://shop.example, "
        "without a path or wildcard; http only for localhost.",
        code="invalid_site",
    )


def allow_site(
    *, tenant: Tenant, site: str, by: AbstractBaseUser | AnonymousUser, now: datetime
) -> list[str]:
    """Let a site show the shop's chat; return the sites that may. Twice is the same as once."""
    return _change(tenant, parse_site(site), True, by, now)


def forbid_site(
    *, tenant: Tenant, site: str, by: AbstractBaseUser | AnonymousUser, now: datetime
) -> list[str]:
    """End what `allow_site` began; frames that are open stay until they are loaded again."""
    return _change(tenant, parse_site(site), False, by, now)


def frame_ancestors(sites: Sequence[str]) -> str:
    """Return the value of the `frame-ancestors` directive: the desk itself and these sites.

    An entry that `parse_site` would not have written is left out: what stands in a header must
    not depend on who wrote the row.
    """
    return " ".join(["'self'", *(site for site in sites if _is_site(site))])


def _is_site(site: str) -> bool:
    try:
        return parse_site(site) == site
    except InvalidInput:
        return False


def _change(
    tenant: Tenant, site: str, allowed: bool, by: AbstractBaseUser | AnonymousUser, now: datetime
) -> list[str]:
    with transaction.atomic():
        if not administers(by, tenant.pk):
            raise Forbidden("Only an administrator of the shop says which sites show its chat.")
        row = Tenant.objects.select_for_update().get(pk=tenant.pk)
        sites = [known for known in row.allowed_sites if known != site]
        if allowed:
            sites.append(site)
        if len(sites) > MAX_SITES:
            raise InvalidInput(f"At most {MAX_SITES} sites may show a chat. Forbid one first.")
        if sorted(sites) != sorted(row.allowed_sites):
            row.allowed_sites = sites
            row.save(update_fields=["allowed_sites"])
            _record(tenant, site, allowed, by, now)
    return sites


def _record(tenant: Tenant, site: str, allowed: bool, by: Any, now: datetime) -> None:
    record(
        tenant_id=tenant.pk,
        kind="site.allowed" if allowed else "site.forbidden",
        actor=f"staff:{by.get_username()}",
        subject=f"shop:{tenant.slug}",
        detail={"site": site},
        now=now,
    )
