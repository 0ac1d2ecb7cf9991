"""Evaluation commands. Each works in a database of its own and never touches the shop's data."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from dataclasses import asdict
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress

from dsupport.lib import clock
from dsupport.lib.commands import DeskCommand
from dsupport.lib.scratch import scratch_database
from dsupport.models import Tenant
from evals.decision import BARS, code_usd, measure_code, price_models
from evals.retail.data import RetailData, read_retail
from evals.retail.play import Player, Tally
from evals.retail.report import make_report
from evals.retail.staff import HABITS
from orders.importers.shops import import_tau2


class Command(DeskCommand):
    help = (
        "Play the public retail set against gate, staff, executor and tables (retail), or say "
        "what one decision costs in code and by model (cost)."
    )
    needs_desk = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("what", choices=["retail", "cost"])
        parser.add_argument(
            "--data", type=Path, default=Path("data/tau2_retail"), help="the folder of the set"
        )
        parser.add_argument(
            "--staff", choices=list(HABITS), default="approve", help="what the staff do"
        )

        sizes = parser.add_argument_group("cost")
        sizes.add_argument("--passages", type=int, default=200, help="through the gate (200)")
        sizes.add_argument("--prompt-tokens", type=int, default=2_000, help="of one question")
        sizes.add_argument("--answer-tokens", type=int, default=150, help="of its answer")
        sizes.add_argument(
            "--cpu-hour-usd", type=Decimal, default=Decimal("0.05"), help="price of a processor"
        )

    def run(self, **options: Any) -> int:
        return self._cost(options) if options["what"] == "cost" else self._retail(options)

    def _cost(self, options: dict[str, Any]) -> int:
        with scratch_database():
            code = measure_code(options["passages"], clock.now())
        usd = code_usd(code, options["cpu_hour_usd"])
        models = price_models(options["prompt_tokens"], options["answer_tokens"])
        if options["json"]:
            self.emit(
                {
                    "code": {**asdict(code), "usd": f"{usd:.9f}", "bars": dict(BARS)},
                    "prompt_tokens": options["prompt_tokens"],
                    "answer_tokens": options["answer_tokens"],
                    "models": {model.model: f"{model.usd:.6f}" for model in models},
                    "pass": code.passed,
                }
            )
            return 0 if code.passed else 1
        for name in ("empty_us", "rule_us", "trace_us", "gate_ms"):
            bar = f"  at most {BARS[name]:g}" if name in BARS else ""
            what, _, unit = name.partition("_")
            self.stdout.write(f"{what:<20} {getattr(code, name):9.3f} {unit}{bar}")
        self.stdout.write(f"{'code':<20} {usd:9.7f} $ a decision")
        for model in models:
            times = f"  {model.usd / usd:,.0f} times the code" if usd else ""
            self.stdout.write(f"{model.model:<20} {model.usd:9.7f} $ a decision{times}")
        self.stdout.write("PASS" if code.passed else "FAIL")
        return 0 if code.passed else 1

    def _retail(self, options: dict[str, Any]) -> int:
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
