"""The pages of the customer: the chat, and what makes it installable."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.templatetags.static import static
from django.views.decorators.http import require_safe

from agents.desk import opens_text
from dsupport.access import get_shop
from dsupport.contract.errors import DomainError
from dsupport.lib import clock
from dsupport.models import Tenant


@require_safe
def chat_page(request: HttpRequest, slug: str = "") -> HttpResponse:
    """Show the chat of a shop; its first screen needs no log-in."""
    try:
        shop = get_shop(slug or settings.DSUPPORT_TENANT)
    except DomainError as error:
        return HttpResponse(error.message, status=error.status, content_type="text/plain")
    opens = opens_text(shop, clock.now())
    context = {
        "shop": _shop(shop),
        "hours": {"open": not opens, "text": f"Back {opens}" if opens else "Our team is here now"},
        "starters": shop.starter_questions[:3],
        "demo": settings.DSUPPORT_DEMO,
        "config_json": {
            "shop": shop.slug,
            "api": "/api",
            "ws": "/ws",
            "help": "/help",
            "demo": settings.DSUPPORT_DEMO,
        },
    }
    return render(request, "chat/page.html", context)


@require_safe
def manifest(request: HttpRequest) -> JsonResponse:
    """Return the web app manifest, so that the chat installs on a phone."""
    try:
        name = get_shop(settings.DSUPPORT_TENANT).name
    except DomainError:
        name = "DSupport"
    document = {
        "name": f"{name} support",
        "short_name": name[:12],
        "start_url": "/",
        "scope": "/",
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
    return JsonResponse(document, content_type="application/manifest+json")


@require_safe
def service_worker(request: HttpRequest) -> HttpResponse:
    """Serve the service worker from the root, so that its scope is the whole chat."""
    from django.contrib.staticfiles import finders

    path = finders.find("chat/sw.js")
    if path is None:
        return HttpResponse(status=404)
    with open(path, encoding="utf-8") as file:  # noqa: PTH123 - finders give a text path
        return HttpResponse(file.read(), content_type="text/javascript")


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
