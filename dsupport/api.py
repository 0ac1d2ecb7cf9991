"""The API of the desk: the rooms' routers, and one shape for every error."""

from __future__ import annotations

from typing import Any

import structlog
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.errors import HttpError, ValidationError

from agents.api import router as conversations
from dsupport.contract.errors import DomainError
from dsupport.version import VERSION
from knowledge.api import router as knowledge
from orders.api import router as session

log = structlog.get_logger(__name__)

api = NinjaAPI(
    title="DSupport",
    version=VERSION,
    description="The customer's and programs' side of the support desk.",
    docs_url="/docs",
    openapi_url="/openapi.json",
)
api.add_router("", conversations)
api.add_router("/session", session)
api.add_router("/knowledge", knowledge)


@api.exception_handler(DomainError)
def refuse(request: HttpRequest, error: DomainError) -> HttpResponse:
    return _answer(request, error.status, error.code, error.message)


@api.exception_handler(ValidationError)
def refuse_body(request: HttpRequest, error: ValidationError) -> HttpResponse:
    issue: dict[str, Any] = error.errors[0] if error.errors else {}
    where = ".".join(str(part) for part in issue.get("loc", ())[1:])
    text = f"{where}: {issue.get('msg', 'is not valid')}. See /api/docs for the shape."
    return _answer(request, 422, "invalid_input", text)


@api.exception_handler(HttpError)
def refuse_http(request: HttpRequest, error: HttpError) -> HttpResponse:
    code = {400: "malformed_json", 413: "too_large"}.get(error.status_code, "http_error")
    return _answer(request, error.status_code, code, f"{error}. Send one JSON object.")


@api.exception_handler(RequestDataTooBig)
def refuse_size(request: HttpRequest, error: RequestDataTooBig) -> HttpResponse:
    return _answer(request, 413, "too_large", "The request is too large. Send a shorter text.")


@api.exception_handler(Exception)
def fail(request: HttpRequest, error: Exception) -> HttpResponse:
    log.exception("api.fault", path=request.path)
    return _answer(request, 500, "fault", "Something went wrong on our side. Try again shortly.")


def _answer(request: HttpRequest, status: int, code: str, message: str) -> HttpResponse:
    return api.create_response(request, {"code": code, "message": message}, status=status)
