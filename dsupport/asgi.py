"""The web process: HTTP by Django, sockets by Channels."""

from __future__ import annotations

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dsupport.settings")
_http = get_asgi_application()

from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402
from channels.security.websocket import AllowedHostsOriginValidator  # noqa: E402
from channels.sessions import SessionMiddlewareStack  # noqa: E402
from django.urls import path, re_path  # noqa: E402

from agents.consumers import ConversationConsumer, NoSuchSocket  # noqa: E402

_sockets = URLRouter(
    [
        path("ws/conversations/<uuid:conversation_id>", ConversationConsumer.as_asgi()),
        re_path(r"", NoSuchSocket.as_asgi()),
    ]
)

application = ProtocolTypeRouter(
    {
        "http": _http,
        # A handshake carries the visitor's cookie from any page, so its origin is judged first.
        "websocket": AllowedHostsOriginValidator(SessionMiddlewareStack(_sockets)),
    }
)
