"""Load help articles from files."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings

from dsupport.access import get_shop
from dsupport.lib import clock
from dsupport.lib.commands import DeskCommand
from knowledge import services
from knowledge.management.progress import progress_bar


class Command(DeskCommand):
    help = (
        "Import a folder of Markdown files with front matter, or an articles.jsonl "
        "(id, title, text or content, audience). Running it again changes nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("path", type=Path, help="folder, Markdown file or articles.jsonl")
        parser.add_argument("--tenant", default=settings.DSUPPORT_TENANT, help="slug of the shop")

    def run(self, **options: Any) -> int:
        tenant = get_shop(options["tenant"])
        with progress_bar("Articles") as on_progress:
            report = services.import_articles(
                tenant_id=tenant.pk,
                path=options["path"],
                actor="import_articles",
                now=clock.now(),
                on_progress=on_progress,
            )
        if options["json"]:
            self.emit(report)
        else:
            self._print(report)
        return 1 if report["refused"] else 0

    def _print(self, report: dict[str, Any]) -> None:
        counts = ", ".join(f"{report[name]} {name}" for name in ("created", "updated", "unchanged"))
        self.stdout.write(f"{counts}, {len(report['refused'])} refused")
        for item in report["refused"]:
            self.stdout.write(f"  {item['row']}: {item['reason']}")
