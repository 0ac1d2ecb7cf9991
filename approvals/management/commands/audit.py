"""Check the audit chain from a terminal."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import Any

from rich.progress import Progress

from approvals.services import Verification, count_entries, verify
from dsupport.lib.commands import DeskCommand


class Command(DeskCommand):
    help = "Check that no audit entry was changed or removed and that no tail was cut."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("what", choices=["verify"], help="verify: check every chain")

    def run(self, **options: Any) -> int:
        found = self._verify(quiet=options["json"])
        if options["json"]:
            bad = found.first_bad.to_json() if found.first_bad else None
            self.emit({"entries": found.entries, "ok": found.ok, "first_bad": bad})
        elif found.first_bad is None:
            self.stdout.write(f"{found.entries} entries, every chain holds.")
        else:
            bad_place = found.first_bad
            chain = "the whole system" if bad_place.tenant_id is None else bad_place.tenant_id
            row = "no row" if bad_place.id is None else f"row {bad_place.id}"
            self.stdout.write(
                f"Not intact after {found.entries} entries: chain of {chain}, "
                f"entry {bad_place.seq} ({row}): {bad_place.problem}."
            )
        return 0 if found.ok else 1

    def _verify(self, *, quiet: bool) -> Verification:
        if quiet or not sys.stderr.isatty():
            return verify()
        from rich.console import Console

        with Progress(console=Console(stderr=True), transient=True) as progress:
            task = progress.add_task("Checking the chains", total=count_entries())
            return verify(progress=lambda done: progress.update(task, completed=done))
