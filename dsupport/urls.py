"""The addresses of the desk."""

from __future__ import annotations

from django.contrib import admin
from django.urls import path
from django.views.generic import RedirectView

from dsupport import health
from dsupport.api import api
from dsupport.pages import chat_page, manifest, service_worker
from knowledge.pages import article_page

urlpatterns = [
    path("", chat_page, name="chat"),
    path("shops/<slug:slug>/", chat_page, name="chat-of-shop"),
    path("manifest.webmanifest", manifest, name="manifest"),
    path("sw.js", service_worker, name="service-worker"),
    path("favicon.ico", RedirectView.as_view(url="/static/chat/icon.svg"), name="favicon"),
    path("help/<path:doc_id>", article_page, name="article"),
    path("api/", api.urls),
    path("admin/", admin.site.urls),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
]
