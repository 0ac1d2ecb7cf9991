"""Headers that every response carries."""

from __future__ import annotations

from collections.abc import Callable
from http.cookies import Morsel

from django.conf import settings
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from whitenoise.middleware import WhiteNoiseMiddleware
from whitenoise.responders import StaticFile

from dsupport.lib.csp import policy_for
from dsupport.lib.session import is_framed
from dsupport.models import Membership

# Python before 3.14 does not know the attribute yet. See "Cookies Having Independent Partitioned
# State" (draft-cutler-httpbis-partitioned-cookies).
Morsel._reserved.setdefault("partitioned", "Partitioned")  # type: ignore[attr-defined]
Morsel._flags.add("partitioned")  # type: ignore[attr-defined]


class ContentSecurityPolicy:
    """Forbid foreign scripts and images on every page (text of customers and models is text)."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.headers.setdefault("Content-Security-Policy", policy_for(request.path))
        return response


class ApiErrors:
    """Give programs `{code, message}` also where no operation of the API was reached."""

    _WORDS = {
        404: ("not_found", "There is nothing at this address. See /api/docs."),
        405: ("method_not_allowed", "This address does not take that method. See /api/docs."),
    }

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        words = self._WORDS.get(response.status_code)
        if not words or not request.path.startswith("/api/") or _is_json(response):
            return response
        code, message = words
        answer = JsonResponse({"code": code, "message": message}, status=response.status_code)
        if "Allow" in response:
            answer["Allow"] = response["Allow"]
        return answer


def _is_json(response: HttpResponse) -> bool:
    return response.get("Content-Type", "").startswith("application/json")


class Sessions(SessionMiddleware):
    """Django's sessions; one that began in a frame on a shop's site gets a cookie fit for there.

    Such a cookie is sent in that frame, on that site, and nowhere else. It is `Secure`, which
    browsers accept over plain http from the reader's own machine alone.
    """

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        answered: HttpResponse = super().process_response(request, response)
        cookie = answered.cookies.get(settings.SESSION_COOKIE_NAME)
        if cookie is not None and is_framed(request.session):
            cookie["samesite"], cookie["secure"], cookie["partitioned"] = "None", True, True
        return answered


class StaticFiles(WhiteNoiseMiddleware):
    """Whitenoise, with files sent whole.

    It streams them by a synchronous iterator, which Django gathers in memory under ASGI anyway,
    with a warning for each.
    """

    @staticmethod
    def serve(static_file: StaticFile, request: HttpRequest) -> HttpResponse:
        found = static_file.get_response(request.method, request.META)
        body = b""
        if found.file is not None:
            with found.file as file:
                body = file.read()
        response = HttpResponse(body, status=int(found.status))
        del response["Content-Type"]
        for name, value in found.headers:
            response[name] = value
        return response


class StaffClock:
    """Show the console's times on the clock of the shop, for those who work for one."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        zones: set[str] = set()
        if request.path.startswith("/admin/") and request.user.is_authenticated:
            held = Membership.objects.filter(user_id=request.user.pk)
            zones = set(held.values_list("tenant__timezone", flat=True))
        with timezone.override(zones.pop() if len(zones) == 1 else None):
            return self.get_response(request)
