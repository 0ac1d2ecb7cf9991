"""How far the shops' webhooks have heard, and hearing again."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from approvals.models import AuditEntry, WebhookPlace
from approvals.telling.webhooks import endpoint_of, replay
from dsupport.contract.errors import DomainError
from dsupport.lib import clock
from dsupport.lib.commands import DeskCommand
from dsupport.models import Tenant


class Command(DeskCommand):
    help = (
        "Say how far each shop's webhook has heard of its audit chain, or have it hear everything "
        "after a place again, under the ids that it had."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("what", choices=["status", "replay"])
        parser.add_argument("shop", nargs="?", help="the shop to replay, by its slug")
        parser.add_argument("--after", type=int, help="the last place that need not come again")

    def run(self, **options: Any) -> int:
        if options["what"] == "status":
            rows = [_status(row) for row in Tenant.objects.filter(slug__in=_shops())]
            if options["json"]:
                self.emit(rows)
            else:
                self._show(rows)
            return 1 if any(row["error"] for row in rows) else 0
        return self._replay(options)

    def _show(self, rows: list[dict[str, Any]]) -> None:
        if not rows:
            self.stdout.write("No shop has a webhook. Set DSUPPORT_WEBHOOKS; see .env.example.")
        for row in rows:
            trouble = f"  failing: {row['error']}" if row["error"] else ""
            self.stdout.write(f"{row['shop']}  {row['heard']} of {row['last']}{trouble}")

    def _replay(self, options: dict[str, Any]) -> int:
        tenant = Tenant.objects.filter(slug=options["shop"] or "").first()
        if tenant is None or options["after"] is None:
            raise CommandError("Say which: webhooks replay SHOP --after PLACE", returncode=2)
        try:
            replay(tenant, after=options["after"], now=clock.now())
        except DomainError as error:
            self.stderr.write(f"{error.code}: {error.message}")
            return 1
        self.stdout.write(f"Everything after {options['after']} is sent again from now on.")
        return 0


def _shops() -> list[str]:
    return list(settings.DSUPPORT_WEBHOOKS)


def _status(tenant: Tenant) -> dict[str, Any]:
    place = WebhookPlace.objects.filter(tenant=tenant).first()
    last = AuditEntry.objects.filter(tenant_id=tenant.pk).order_by("-seq").first()
    error = place.error if place else ""
    try:
        endpoint_of(tenant)
    except DomainError as problem:
        error = problem.message
    return {
        "shop": tenant.slug,
        "heard": place.seq if place else 0,
        "last": last.seq if last else 0,
        "error": error,
    }
