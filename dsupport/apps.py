from __future__ import annotations

from django.apps import AppConfig


class DSupportConfig(AppConfig):
    name = "dsupport"
    verbose_name = "Desk"

    def ready(self) -> None:
        # Tasks are sent through the current Celery application, so it must exist.
        from dsupport import celery, checks  # noqa: F401
