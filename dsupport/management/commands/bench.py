"""Measure the desk: how soon it answers, how much memory it takes, what its engine costs."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from dataclasses import asdict
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
from dsupport.lib.scratch import scratch_database
from dsupport.models import Tenant
from evals.console import fill, look
from evals.engine.bench import (
    Cost,
    Ratio,
    measure_engine,
    measure_langgraph,
    model_server,
    ratios_of,
)
from evals.figures import Figure, all_passed


class Command(DeskCommand):
    help = (
        "Measure a desk that is started for it: latency (median of --runs) or memory (PSS); or "
        "the engine beside a bare loop on a vendor's SDK, or the console's pages over a million "
        "rows, in a database of its own."
    )
    needs_desk = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("what", choices=["latency", "memory", "engine", "console"])
        parser.add_argument("--runs", type=int, help="questions to time (20), or runs a round (60)")
        parser.add_argument(
            "--rows", type=int, default=1_000_000, help="audit entries, and events (1,000,000)"
        )
        parser.add_argument(
            "--langgraph", action="store_true", help="beside the engine; needs uv and PyPI"
        )

    def run(self, **options: Any) -> int:
        if options["what"] == "console":
            return self._console(options["rows"], options)
        if options["what"] == "engine":
            return self._engine(options["runs"] or 60, options)
        options["runs"] = options["runs"] or 20
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

    def _engine(self, runs: int, options: dict[str, Any]) -> int:
        with scratch_database() as name, model_server() as url:
            tenant = Tenant.objects.create(slug="bench", name="Bench")
            costs = measure_engine(url, tenant, runs)
            if options["langgraph"]:
                database = f"{settings.DATABASE_OWNER_URL.rpartition('/')[0]}/{name}"
                costs |= measure_langgraph(url, database, runs)
        ratios = ratios_of(costs)
        if options["json"]:
            self.emit(_engine_document(costs, ratios, runs))
        else:
            self._show_engine(costs, ratios)
        return 0 if all(ratio.passed for ratio in ratios) else 1

    def _console(self, rows: int, options: dict[str, Any]) -> int:
        """Open the console's pages over very many rows, in a database of its own."""
        with scratch_database():
            looks = look(fill(rows))
        passed = all(one.passed for one in looks)
        if options["json"]:
            self.emit({"rows": rows, "pages": [asdict(one) for one in looks], "pass": passed})
            return 0 if passed else 1
        for one in looks:
            verdict = "pass" if one.passed else "FAIL"
            self.stdout.write(
                f"{one.name:<28} {one.seconds:6.3f} s  {one.queries:>2} queries  {verdict}"
            )
        return 0 if passed else 1

    def _show_engine(self, costs: Mapping[str, Cost], ratios: Sequence[Ratio]) -> None:
        for name, cost in costs.items():
            self.stdout.write(f"{name:<10} wall {cost.wall_ms:7.2f} ms  cpu {cost.cpu_ms:7.2f} ms")
        for ratio in ratios:
            verdict = "" if ratio.bar is None else f"at most {ratio.bar}: "
            verdict += "" if ratio.bar is None else ("pass" if ratio.passed else "FAIL")
            other = f"journal of {ratio.name}" if "graph" in ratio.name else f"{ratio.name} of bare"
            self.stdout.write(f"{other:<22} {ratio.kind:<4} {ratio.value:5.2f}  {verdict}")

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


def _engine_document(
    costs: Mapping[str, Cost], ratios: Sequence[Ratio], runs: int
) -> dict[str, Any]:
    named = {
        f"{ratio.name.replace(' ', '_')}_ratio_{ratio.kind}": round(ratio.value, 3)
        for ratio in ratios
    }
    passed = all(ratio.passed for ratio in ratios)
    return {"runs": runs, **{k: asdict(v) for k, v in costs.items()}, **named, "pass": passed}
