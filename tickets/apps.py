from __future__ import annotations

from django.apps import AppConfig


class TicketsConfig(AppConfig):
    name = "tickets"
