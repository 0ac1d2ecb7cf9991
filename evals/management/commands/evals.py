"""Evaluation commands. Each works in a database of its own and never touches the shop's data."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress

from dsupport.lib import clock
from dsupport.lib.commands import DeskCommand
from dsupport.lib.scratch import scratch_database
from dsupport.models import Tenant
from evals.retail.data import RetailData, read_retail
from evals.retail.play import Player, Tally
from evals.retail.report import make_report
from evals.retail.staff import HABITS
from orders.importers.shops import import_tau2


class Command(DeskCommand):
    help = "Play the public retail set against gate, staff, executor and tables: evals retail."
    needs_desk = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("what", choices=["retail"])
        parser.add_argument(
            "--data", type=Path, default=Path("data/tau2_retail"), help="the folder of the set"
        )
        parser.add_argument(
            "--staff", choices=list(HABITS), default="approve", help="what the staff do"
        )

    def run(self, **options: Any) -> int:
        data = read_retail(options["data"])
        with scratch_database():
            tally = self._play(data, options["staff"])
        report = make_report(data, tally, options["staff"])
        if options["json"]:
            self.emit(report)
        else:
            self._show(report)
        return 0 if report["pass"] else 1

    def _play(self, data: RetailData, habit: str) -> Tally:
        import_tau2(path=data.folder, slug="retail")
        player = Player(Tenant.objects.get(slug="retail"), habit, clock.now())
        tables = (
            ("Decisions", data.decisions, player.play_decisions),
            ("Gold", data.gold, player.play_gold),
            ("Forbidden writes", data.mutations, player.play_mutations),
        )
        with Progress(console=Console(stderr=True), disable=not sys.stderr.isatty()) as bar:
            for name, rows, play in tables:
                play(rows, partial(bar.advance, bar.add_task(name, total=len(rows))))
        return player.tally

    def _show(self, report: dict[str, Any]) -> None:
        for name in ("gold", "decisions"):
            table = report[name]
            self.stdout.write(f"{name:<18} {table['equal']} of {table['total']} equal")
            for differing in table["differ"][:20]:
                self.stdout.write(f"  differs: {differing}")
        found = report["mutations"]
        self.stdout.write(
            f"{'forbidden writes':<18} {found['refused']} refused and {found['no_second_effect']} "
            f"without a second effect of {found['total']}; {len(found['breached'])} breached"
        )
        for name in ("writes_executed", "confirmations_used", "approvals_used"):
            self.stdout.write(f"{name:<18} {report[name]}")
        self.stdout.write("PASS" if report["pass"] else "FAIL")
