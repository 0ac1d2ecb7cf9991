"""Migrate as the owner of the tables."""

from __future__ import annotations

from django.core.management.base import CommandParser
from django.core.management.commands.migrate import Command as Migrate


class Command(Migrate):
    """Django's own command, with the owner's connection as the default database."""

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.set_defaults(database="owner")
