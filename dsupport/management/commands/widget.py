"""Say which of the shop's own sites may show the chat, and print the tag that shows it."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from dsupport.access import find_staff, shop_for_staff
from dsupport.lib import clock
from dsupport.lib.commands import DeskCommand
from dsupport.models import Tenant
from dsupport.sites import allow_site, forbid_site

_CHANGES = {"allow": allow_site, "forbid": forbid_site}


class Command(DeskCommand):
    help = "List the sites that may show a shop's chat, allow or forbid one, and print the tag."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("what", choices=["list", *_CHANGES])
        parser.add_argument("site", nargs="?", help="the site's origin, like https://shop.example")
        parser.add_argument("--shop", default=settings.DSUPPORT_TENANT, help="the shop's slug")
        parser.add_argument("--by", metavar="USER", help="who does it: an administrator")

    def run(self, **options: Any) -> int:
        shop = shop_for_staff(options["shop"])
        if options["what"] == "list":
            sites = list(shop.allowed_sites)
        else:
            missing = [flag for flag in ("site", "by") if not options[flag]]
            if missing:
                raise CommandError(
                    f"Give {', '.join(missing)}: widget {options['what']} SITE --by USER",
                    returncode=2,
                )
            change = _CHANGES[options["what"]]
            by = find_staff(options["by"])
            sites = change(tenant=shop, site=options["site"], by=by, now=clock.now())
        self._show(shop, sites, as_json=options["json"])
        return 0

    def _show(self, shop: Tenant, sites: list[str], *, as_json: bool) -> None:
        tag = f'<script src="https://DESK/widget.js" data-shop="{shop.slug}" async></script>'
        if as_json:
            self.emit({"shop": shop.slug, "sites": sites, "tag": tag})
            return
        self.stdout.write(f"Sites that may show the chat of {shop.name}, beside the desk itself:")
        for site in sites or ["none yet"]:
            self.stdout.write(f"  {site}")
        self.stdout.write(f"The tag, with the desk's own address in place of DESK:\n  {tag}")
