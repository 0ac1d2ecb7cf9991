from __future__ import annotations

from django.apps import AppConfig


class TicketsConfig(AppConfig):
    name = "tickets"

    def ready(self) -> None:
        from tickets.actions import register_actions

        register_actions()
