"""Ask one question in the terminal and watch what the system does."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import Any, cast
from uuid import UUID

from django.conf import settings

from agents import services
from agents.follow import follow_run
from agents.models import Run
from agents.terminal import TraceView
from dsupport.access import get_shop
from dsupport.contract.principal import Principal
from dsupport.lib import clock, ids
from dsupport.lib.commands import DeskCommand
from orders.tools import enter_as


class Command(DeskCommand):
    help = "Ask one question as a customer (--as) or as a guest, with the live trace."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("text", help="the customer's words")
        who = parser.add_mutually_exclusive_group()
        who.add_argument("--as", dest="email", help="the e-mail of a customer of the shop")
        who.add_argument("--guest", action="store_true", help="a guest who has proved nothing")
        parser.add_argument("--tenant", default=settings.DSUPPORT_TENANT, help="the shop's slug")
        parser.add_argument("--provider", choices=sorted(settings.DSUPPORT_PROVIDERS))
        parser.add_argument("--architecture", choices=["solo", "team"])

    def run(self, **options: Any) -> int:
        shop = get_shop(options["tenant"])
        principal = Principal(tenant_id=shop.pk, visitor=f"terminal:{ids.new_id()}")
        if options["email"]:
            principal = enter_as(tenant=shop, principal=principal, email=options["email"])
        run_id = self._submit(principal, options)
        view = None if options["json"] else TraceView(sys.stdout)
        outcome = follow_run(run_id, on_event=view.show if view else lambda event: None)
        if view is not None:
            view.finish(outcome)
        else:
            self.emit(outcome.document())
        return 0 if outcome.status in {"completed", "handed_over"} else 1

    def _submit(self, principal: Principal, options: dict[str, Any]) -> UUID:
        conversation = services.open_conversation(principal=principal, now=clock.now())
        submitted = services.submit_message(
            principal=principal,
            conversation_id=conversation.pk,
            text=options["text"],
            now=clock.now(),
            wake=False,
        )
        run_id = cast(UUID, submitted.run_id)
        run = Run.objects.for_principal(principal).filter(pk=run_id)
        for name in ("provider", "architecture"):
            if options[name] is not None:
                run.update(**{name: options[name]})
        return run_id
