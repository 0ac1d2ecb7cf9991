"""What every management command of the project has in common."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import connections
from django.db.migrations.executor import MigrationExecutor
from django.utils.module_loading import import_string

from dsupport.contract.errors import DomainError


class DeskCommand(BaseCommand):
    """A command on a ready desk: tables migrated, the demo shop there when nothing else is.

    Subclasses implement `run` and return an exit status. With `--json` a command prints one
    document on stdout through `emit`; all else goes to stderr.
    """

    requires_system_checks: list[str] = []
    needs_desk = True

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="print one JSON document")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            if self.needs_desk:
                prepare_desk(progress=sys.stderr.isatty() and not options.get("json"))
            status = self.run(**options)
        except DomainError as error:
            raise CommandError(f"{error.code}: {error.message}", returncode=2) from None
        if status:
            sys.exit(status)

    def run(self, **options: Any) -> int:
        raise NotImplementedError

    def emit(self, document: Any) -> None:
        """Print one JSON document on stdout."""
        self.stdout.write(json.dumps(document, ensure_ascii=False, indent=2, default=str))


def prepare_desk(*, progress: bool = False) -> None:
    """Migrate when migrations are missing and have an empty database filled by the seeder."""
    executor = MigrationExecutor(connections["owner"])
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        call_command("migrate", database="owner", verbosity=0, interactive=False)
    connections["owner"].close()
    # It fills an empty desk, goes on where it was interrupted, and leaves a full one alone.
    import_string(settings.DSUPPORT_SEEDER)(progress=progress)
