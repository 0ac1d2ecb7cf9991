"""The pages of the customer: the chat, and what makes it installable."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.staticfiles import finders
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.templatetags.static import static
from django.urls import reverse
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.http import require_safe

from agents.desk import opens_text
from dsupport.access import get_shop
from dsupport.contract.errors import DomainError
from dsupport.lib import clock
from dsupport.lib.csp import chat_policy
from dsupport.lib.session import mark_framed, read_principal
from dsupport.models import Tenant
from dsupport.sites import frame_ancestors


@require_safe
def chat_page(request: HttpRequest, slug: str = "") -> HttpResponse:
    """Show the chat of a shop; its first screen needs no log-in."""
    return _of_shop(slug, lambda shop: render(request, "chat/page.html", _context(shop)))


@require_safe
@xframe_options_exempt
def embedded_chat(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the chat inside a frame of the shop's own site, and of no other."""

    def answer(shop: Tenant) -> HttpResponse:
        headers = request.headers
        foreign = headers.get("Sec-Fetch-Site") == "cross-site"
        if foreign and headers.get("Sec-Fetch-Dest") == "iframe":
            mark_framed(request.session)
        read_principal(request.session, shop.pk)
        response = render(request, "chat/page.html", _context(shop, embedded=True))
        ancestors = frame_ancestors(shop.allowed_sites)
        response.headers["Content-Security-Policy"] = chat_policy(ancestors)
        response.headers["Cache-Control"] = "no-store"
        return response

    return _of_shop(slug, answer)


@require_safe
def widget_script(_request: HttpRequest) -> HttpResponse:
    """Serve the one script that a shop puts into its pages."""
    script = _static_file("chat/widget.js")
    script.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    script.headers["Cache-Control"] = "public, max-age=300"
    return script


@require_safe
def widget_demo(request: HttpRequest) -> HttpResponse:
    """Show the widget on a page such as a shop has. Only in a demo."""
    if not settings.DSUPPORT_DEMO:
        return HttpResponse("This page is part of the demo.", status=404, content_type="text/plain")
    response = _of_shop("", lambda shop: render(request, "chat/shopfront.html", {"shop": shop}))
    response.headers["Content-Security-Policy"] = f"{chat_policy()}; frame-src 'self'"
    return response


@require_safe
def manifest(_request: HttpRequest, slug: str = "") -> HttpResponse:
    """Return the web app manifest of a shop's chat, so that it installs on a phone."""
    home = f"/shops/{slug}/" if slug else "/"
    return _of_shop(
        slug,
        lambda shop: JsonResponse(
            _manifest(shop.name, home), content_type="application/manifest+json"
        ),
    )


@require_safe
def service_worker(_request: HttpRequest) -> HttpResponse:
    """Serve the service worker from the root, so that its scope is the whole chat."""
    return _static_file("chat/sw.js")


def _of_shop(slug: str, answer: Callable[[Tenant], HttpResponse]) -> HttpResponse:
    try:
        return answer(get_shop(slug or settings.DSUPPORT_TENANT))
    except DomainError as error:
        return HttpResponse(error.message, status=error.status, content_type="text/plain")


def _context(shop: Tenant, *, embedded: bool = False) -> dict[str, Any]:
    opens = opens_text(shop, clock.now())
    return {
        "shop": _shop(shop),
        "hours": {"open": not opens, "text": f"Back {opens}" if opens else "Our team is here now"},
        "starters": shop.starter_questions[:3],
        "demo": settings.DSUPPORT_DEMO,
        "embedded": embedded,
        "manifest": _address("manifest", shop),
        "config_json": {
            "shop": shop.slug,
            "api": "/api",
            "ws": "/ws",
            "help": "/help",
            "demo": settings.DSUPPORT_DEMO,
            "embedded": embedded,
            "page": _address("chat", shop),
        },
    }


def _address(name: str, shop: Tenant) -> str:
    """Return the address of a page: short for the desk's own shop, with its name for others."""
    if shop.slug == settings.DSUPPORT_TENANT:
        return reverse(name)
    return reverse(f"{name}-of-shop", args=[shop.slug])


def _static_file(name: str) -> HttpResponse:
    path = finders.find(name)
    if path is None:
        return HttpResponse(status=404)
    return HttpResponse(Path(path).read_text(encoding="utf-8"), content_type="text/javascript")


def _manifest(name: str, home: str) -> dict[str, Any]:
    return {
        "name": f"{name} support",
        "short_name": name[:12],
        "id": home,
        "start_url": home,
        "scope": home,
        "display": "standalone",
        "background_color": "#f3f5f3",
        "theme_color": "#1c4a3f",
        "icons": [
            _icon("icon-192.png", "192x192", "any"),
            _icon("icon-512.png", "512x512", "any"),
            _icon("icon-maskable.png", "512x512", "maskable"),
            {
                "src": static("chat/icon.svg"),
                "sizes": "any",
                "type": "image/svg+xml",
                "purpose": "any",
            },
        ],
    }


def _icon(name: str, sizes: str, purpose: str) -> dict[str, str]:
    source = static(f"chat/{name}")
    return {"src": source, "sizes": sizes, "type": "image/png", "purpose": purpose}


def _shop(shop: Tenant) -> dict[str, str]:
    return {
        "slug": shop.slug,
        "name": shop.name,
        "mark": shop.mark,
        "tagline": shop.tagline,
    }
