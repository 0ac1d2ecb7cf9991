"""Everything about a proposal, card, run, ticket or audit entry, from the desk's own records."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.utils.module_loading import import_string

from dsupport.lib.commands import DeskCommand


class Command(DeskCommand):
    help = (
        "Explain a run, proposal, ticket or audit entry: who asked, what was shown, who decided on "
        "which hash, what was carried out under which key, and with which versions."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("id", help="the id of a proposal, card or run, TKT-…, or audit:NUMBER")

    def run(self, **options: Any) -> int:
        document = import_string(settings.DSUPPORT_EXPLAINER)(options["id"])
        if options["json"]:
            self.emit(document)
            return 0
        for part, value in document.items():
            self.stdout.write(f"\n{part.replace('_', ' ').upper()}")
            for line in _lines(value):
                self.stdout.write(f"  {line}")
        return 0


def _lines(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [f"{name:<16} {_short(item)}" for name, item in value.items()]
    if isinstance(value, list):
        return [_short(item) for item in value] or ["nothing"]
    return [str(value)]


def _short(value: Any) -> str:
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False, default=str)
    return "–" if value in (None, "") else str(value)
