"""Load a shop's customers, products and orders from files."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from dsupport.lib.commands import DeskCommand
from orders.importers.rows import ImportReport
from orders.importers.shops import TAU2_TENANT, import_tau2

_SHOWN = 20


class Command(DeskCommand):
    help = (
        "Import a shop's data. Running it again changes nothing that is unchanged; rows that "
        "cannot be used are listed with the reason."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("format", choices=["tau2"], help="what the files are")
        parser.add_argument("path", type=Path, metavar="PATH", help="the folder that holds db.json")
        parser.add_argument(
            "--tenant", default=TAU2_TENANT, metavar="SLUG", help=f"shop (default: {TAU2_TENANT})"
        )

    def run(self, **options: Any) -> int:
        console = Console(stderr=True)
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
        )
        with Progress(*columns, console=console, disable=not sys.stderr.isatty()) as bar:
            task = bar.add_task("Importing", total=None)
            report = import_tau2(
                path=options["path"],
                slug=options["tenant"],
                begin=lambda total: bar.update(task, total=total),
                progress=lambda done: bar.advance(task, done),
            )
        if options["json"]:
            self.emit(report.to_json())
        else:
            self._tell(report)
        return 0

    def _tell(self, report: ImportReport) -> None:
        document = report.to_json()
        for kind, counts in document["by_kind"].items():
            told = ", ".join(f"{number} {outcome}" for outcome, number in counts.items())
            self.stdout.write(f"{kind.replace('_', ' ')}: {told}")
        self.stdout.write(f"refused: {len(report.refused)}")
        for refusal in report.refused[:_SHOWN]:
            self.stdout.write(f"  {refusal.row}: {refusal.reason}")
        if len(report.refused) > _SHOWN:
            self.stdout.write(f"  and {len(report.refused) - _SHOWN} more; --json lists them all")
