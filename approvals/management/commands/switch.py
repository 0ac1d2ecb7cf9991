"""Turn things off and on again from a terminal."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from approvals.services import known_switches, set_switch
from dsupport.access import find_staff, shop_for_staff
from dsupport.lib import clock
from dsupport.lib.commands import DeskCommand
from dsupport.models import Switch, Tenant


class Command(DeskCommand):
    help = "List the kill switches, or turn one off or on. It takes effect on the next step."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("what", choices=["list", "off", "on"])
        parser.add_argument("name", nargs="?", help="model, actions, action:NAME or tool:NAME")
        parser.add_argument("--tenant", help="the shop's slug; without it, the whole system")
        parser.add_argument("--by", metavar="USER", help="who does it: a member of staff")
        parser.add_argument("--reason", metavar="TEXT", help="why")

    def run(self, **options: Any) -> int:
        tenant = shop_for_staff(options["tenant"]) if options["tenant"] else None
        if options["what"] == "list":
            self._list(tenant, as_json=options["json"])
            return 0
        missing = [flag for flag in ("name", "by", "reason") if not options[flag]]
        if missing:
            raise CommandError(
                f"Give {', '.join(missing)}: switch off NAME --by USER --reason TEXT", returncode=2
            )
        switch = set_switch(
            name=options["name"],
            off=options["what"] == "off",
            tenant=tenant,
            by=find_staff(options["by"]),
            reason=options["reason"],
            now=clock.now(),
        )
        if options["json"]:
            self.emit(_document(switch))
        else:
            self.stdout.write(f"{switch} ({_reach(switch)})")
        return 0

    def _list(self, tenant: Tenant | None, *, as_json: bool) -> None:
        rows = Switch.objects.select_related("tenant").order_by("name", "tenant")
        if tenant is not None:
            rows = rows.in_reach(tenant.pk)
        if as_json:
            self.emit({"known": known_switches(), "set": [_document(row) for row in rows]})
            return
        for row in rows:
            self.stdout.write(
                f"{row.name:<30} {'off' if row.off else 'on':<4} {_reach(row)}: {row.reason} "
                f"({row.changed_by}, {row.changed_at:%Y-%m-%d %H:%M})"
            )
        never_set = [name for name in known_switches() if name not in {row.name for row in rows}]
        for name in never_set:
            self.stdout.write(f"{name:<30} on   never switched")


def _reach(switch: Switch) -> str:
    return f"shop {switch.tenant.slug}" if switch.tenant else "whole system"


def _document(switch: Switch) -> dict[str, Any]:
    return {
        "name": switch.name,
        "off": switch.off,
        "tenant": switch.tenant.slug if switch.tenant else None,
        "changed_by": switch.changed_by,
        "changed_at": switch.changed_at.isoformat(),
        "reason": switch.reason,
    }
