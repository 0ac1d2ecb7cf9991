"""Who is asking: signing in and out, and proving an order."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpRequest
from ninja import Router, Schema
from pydantic import ConfigDict, Field

from dsupport.access import principal_of, shop_of
from dsupport.contract.errors import NotFound
from dsupport.contract.principal import Principal, Proof
from dsupport.lib import clock
from dsupport.lib.session import forget_principal, store_principal
from dsupport.models import Tenant
from orders import services, showcase
from orders.errors import KeyHasNoSession
from orders.queries import describe_asker

router = Router(tags=["session"])


class _Form(Schema):
    model_config = ConfigDict(extra="forbid")


class Login(_Form):
    email: str = Field(max_length=254)
    password: str = Field(min_length=1, max_length=256)


class GuestProof(_Form):
    order: str = Field(min_length=1, max_length=100)
    email: str = Field(max_length=254)


class Token(_Form):
    token: str = Field(min_length=1, max_length=4096)


class DemoLogin(_Form):
    email: str = Field(max_length=254)


class Session(Schema):
    """Who this browser is for the shop."""

    asker: str = Field(description="signed_in, guest_with_order or anonymous")
    name: str
    proved_orders: list[str]


class CurrentSession(Session):
    remembered: bool = Field(description="Whether the browser sent back the session it was given")


class DemoCustomer(Schema):
    email: str
    name: str
    why: str


@router.get("", response=CurrentSession)
def read_session(request: HttpRequest) -> dict[str, Any]:
    """Say who this browser is, and whether it keeps what tells."""
    who = _describe(principal_of(request, shop_of(request)))
    return {**who, "remembered": settings.SESSION_COOKIE_NAME in request.COOKIES}


@router.post("/login", response=Session)
def log_in(request: HttpRequest, form: Login) -> dict[str, Any]:
    """Sign in to the shop account."""
    _, principal = _visitor(request)
    known = services.sign_in(
        principal=principal,
        email=form.email,
        password=form.password,
        now=clock.now(),
        address=_address(request),
    )
    return _establish(request, known)


@router.post("/guest", response=Session)
def prove_order(request: HttpRequest, form: GuestProof) -> dict[str, Any]:
    """Show one order by its number and the e-mail it was placed with."""
    _, principal = _visitor(request)
    known = services.prove_guest_order(
        principal=principal,
        number=form.order,
        email=form.email,
        now=clock.now(),
        address=_address(request),
    )
    return _establish(request, known)


@router.post("/token", response=Session)
def accept_token(request: HttpRequest, form: Token) -> dict[str, Any]:
    """Sign in with a token that the shop's own site has signed."""
    tenant, principal = _visitor(request)
    known = services.accept_token(
        tenant=tenant, principal=principal, token=form.token, now=clock.now()
    )
    return _establish(request, known)


@router.delete("", response=Session)
def log_out(request: HttpRequest) -> dict[str, Any]:
    """Sign out of the shop; the session's old key ends, and with it every open socket."""
    tenant, _ = _visitor(request)
    forget_principal(request.session, tenant.pk)
    request.session.cycle_key()
    return _describe(principal_of(request, tenant))


@router.get("/demo-customers", response=list[DemoCustomer])
def list_demo_customers(request: HttpRequest) -> list[dict[str, str]]:
    """List customers worth trying. Only in a demo."""
    _check_demo()
    return showcase.list_showcase(tenant=shop_of(request), now=clock.now())


@router.post("/demo", response=Session)
def enter_demo(request: HttpRequest, form: DemoLogin) -> dict[str, Any]:
    """Become a customer of the demo shop without a password. Only in a demo."""
    _check_demo()
    tenant, principal = _visitor(request)
    return _establish(
        request, showcase.enter_as(tenant=tenant, principal=principal, email=form.email)
    )


def _visitor(request: HttpRequest) -> tuple[Tenant, Principal]:
    """Return the shop and the browser's principal; a program's key has no session to change."""
    tenant = shop_of(request)
    principal = principal_of(request, tenant)
    if principal.proof is Proof.KEY:
        raise KeyHasNoSession
    return tenant, principal


def _establish(request: HttpRequest, principal: Principal) -> dict[str, Any]:
    """Keep a new identity under a new session key, so that a planted key is worth nothing."""
    store_principal(request.session, principal)
    request.session.cycle_key()
    return _describe(principal)


def _describe(principal: Principal) -> dict[str, Any]:
    found = describe_asker(principal)
    return {
        "asker": found["asker"],
        "name": found["asker_name"],
        "proved_orders": found["proved_orders"],
    }


def _address(request: HttpRequest) -> str:
    return str(request.META.get("REMOTE_ADDR", ""))


def _check_demo() -> None:
    if not settings.DSUPPORT_DEMO:
        raise NotFound("This address exists only in a demo. Sign in with your account instead.")
