"""Search the help centre from a terminal."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.conf import settings

from dsupport.access import get_shop
from dsupport.contract.principal import Principal, Proof
from dsupport.lib import clock
from dsupport.lib.commands import DeskCommand
from knowledge.models import Audience
from knowledge.search import SearchResult, search


class Command(DeskCommand):
    help = "Search a shop's published articles as a stranger would, or its internal ones as staff."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("query")
        parser.add_argument("-k", type=int, default=5, help="how many articles at most")
        parser.add_argument("--tenant", default=settings.DSUPPORT_TENANT, help="slug of the shop")
        parser.add_argument("--audience", choices=Audience.values, default="public")

    def run(self, **options: Any) -> int:
        tenant = get_shop(options["tenant"])
        audience: str = options["audience"]
        # Whoever can run commands on the desk's machine is staff; 0 stands for no account.
        asker = (
            Principal(tenant_id=tenant.pk, proof=Proof.STAFF, staff_id=0)
            if audience == Audience.INTERNAL
            else Principal(tenant_id=tenant.pk)
        )
        found = search(
            principal=asker,
            query=options["query"],
            k=options["k"],
            audience=(audience,),
            now=clock.now(),
        )
        if options["json"]:
            self.emit(_document(found))
        else:
            self._print(found)
        return 0

    def _print(self, found: SearchResult) -> None:
        self.stdout.write(f"{found.band.value} (cut-off {found.cutoff:.3f}, high {found.high:.3f})")
        for hit in found.hits:
            place = f"{hit.title} · {hit.heading}" if hit.heading else hit.title
            self.stdout.write(f"\n{hit.score:.3f}  {place}  ({hit.doc_id}, version {hit.version})")
            self.stdout.write(f"       {hit.snippet}")
        if not found.hits:
            self.stdout.write("No article is about this.")


def _document(found: SearchResult) -> dict[str, Any]:
    return {
        "hits": [
            {
                "doc_id": hit.doc_id,
                "title": hit.title,
                "heading": hit.heading,
                "version": hit.version,
                "score": hit.score,
                "snippet": hit.snippet,
            }
            for hit in found.hits
        ],
        "cutoff": round(found.cutoff, 4),
        "answerable": found.band.value,
    }
