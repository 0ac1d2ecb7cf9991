"""Embed articles anew after the embedder was changed."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from dsupport.access import get_shop
from dsupport.lib import clock
from dsupport.lib.commands import DeskCommand
from dsupport.models import Tenant
from knowledge import services
from knowledge.embedding import configured_embedder
from knowledge.management.progress import progress_bar


class Command(DeskCommand):
    help = (
        "Embed the articles with the configured model beside the old vectors and change over in "
        "one step; where the model is the same, only measure the cut-off again."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--tenant", help="slug of one shop; without it, every shop")

    def run(self, **options: Any) -> int:
        shops = [get_shop(options["tenant"])] if options["tenant"] else Tenant.objects.all()
        report: dict[str, Any] = {"embedder": configured_embedder().id, "shops": {}}
        for shop in shops:
            with progress_bar(shop.name) as on_progress:
                changed = services.rebuild_index(shop.pk, now=clock.now(), on_progress=on_progress)
            if not changed:
                services.calibrate(tenant_id=shop.pk, now=clock.now())
            report["shops"][shop.slug] = "rebuilt" if changed else "measured"
        if options["json"]:
            self.emit(report)
        else:
            for slug, what in report["shops"].items():
                self.stdout.write(f"{slug}: {what} with {report['embedder']}")
        return 0
