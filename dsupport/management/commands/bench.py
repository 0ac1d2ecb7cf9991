"""Measure the desk: how soon it answers, and how much memory it takes."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from dsupport.demo import desk
from dsupport.demo.addresses import listen
from dsupport.demo.bench import measure_latency, measure_memory
from dsupport.demo.supervisor import StopSignals, Trouble
from dsupport.lib.commands import DeskCommand
from evals.figures import Figure, all_passed


class Command(DeskCommand):
    help = "Measure a desk that is started for it: latency (median of --runs) or memory (PSS)."
    needs_desk = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("what", choices=["latency", "memory"])
        parser.add_argument("--runs", type=int, default=20, help="questions to time (default 20)")

    def run(self, **options: Any) -> int:
        try:
            with StopSignals() as signals:
                figures = self._measure(signals, options)
        except Trouble as trouble:
            self.stderr.write(str(trouble))
            return 1
        finally:
            StopSignals.ignore()
        if options["json"]:
            self.emit({"figures": [f.document() for f in figures], "pass": all_passed(figures)})
        else:
            self._show(figures)
        return 0 if all_passed(figures) else 1

    def _measure(self, signals: StopSignals, options: dict[str, Any]) -> list[Figure]:
        host = "127.0.0.1"
        listener = listen(host, 0)
        tenant = desk.prepare(tau2=None, progress=sys.stderr.isatty())
        with desk.running(
            tenant=tenant,
            provider=settings.DSUPPORT_PROVIDER,
            host=host,
            listener=listener,
            signals=signals,
        ) as found:
            if found is None:
                return []
            if options["what"] == "memory":
                return measure_memory(found)
            with Progress(console=Console(stderr=True), disable=not sys.stderr.isatty()) as bar:
                task = bar.add_task("Asking", total=options["runs"])
                return measure_latency(
                    found,
                    runs=options["runs"],
                    progress=lambda number: bar.update(task, completed=number),
                )

    def _show(self, figures: list[Figure]) -> None:
        table = Table()
        for name in ("figure", "median", "least", "most", "n", "bar", "verdict"):
            table.add_column(name, justify="left" if name in {"figure", "verdict"} else "right")
        for figure in figures:
            row = figure.document()
            shown = [f"{row.get(key, '–')} {figure.unit}" for key in ("median", "min", "max")]
            verdict = "[green]pass[/]" if row["pass"] else "[red]fail[/]"
            bar = f"{row['bar']:g} {figure.unit}"
            table.add_row(figure.name, *shown, str(row["n"]), bar, verdict)
        Console(file=sys.stdout).print(table)
