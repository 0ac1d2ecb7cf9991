"""The addresses of the desk."""

from __future__ import annotations

from django.contrib import admin
from django.urls import path
from django.views.generic import RedirectView

from dsupport import health, pages
from dsupport.api import api
from knowledge.pages import article_page

urlpatterns = [
    path("", pages.chat_page, name="chat"),
    path("manifest.webmanifest", pages.manifest, name="manifest"),
    path("shops/<slug:slug>/", pages.chat_page, name="chat-of-shop"),
    path("shops/<slug:slug>/manifest.webmanifest", pages.manifest, name="manifest-of-shop"),
    path("widget.js", pages.widget_script, name="widget"),
    path("embed/<slug:slug>/", pages.embedded_chat, name="embedded-chat"),
    path("demo/shop/", pages.widget_demo, name="widget-demo"),
    path("sw.js", pages.service_worker, name="service-worker"),
    path("favicon.ico", RedirectView.as_view(url="/static/chat/icon.svg"), name="favicon"),
    path("help/<path:doc_id>", article_page, name="article"),
    path("api/", api.urls),
    path("admin/", admin.site.urls),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
]
