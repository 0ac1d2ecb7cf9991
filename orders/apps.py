from __future__ import annotations

from django.apps import AppConfig


class OrdersConfig(AppConfig):
    name = "orders"

    def ready(self) -> None:
        from approvals.askers import name_by
        from orders.actions import register_actions
        from orders.queries import name_customers

        register_actions()
        name_by("customer", name_customers)
