"""Everything from nothing: a desk with a shop, customers and staff, ready to be tried."""

from __future__ import annotations

import sys
import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings

from dsupport.contract.errors import InvalidInput
from dsupport.demo import desk
from dsupport.demo.addresses import is_local, listen
from dsupport.demo.logins import hints, renew_customer_password, renew_staff_passwords
from dsupport.demo.screen import Welcome
from dsupport.demo.supervisor import StopSignals, Trouble
from dsupport.lib.commands import DeskCommand

_INTERRUPTED = 130
_PROVIDERS = ("offline", "anthropic", "openai")


class Command(DeskCommand):
    help = (
        "Start everything from nothing: servers, data, web, worker and beat. Prints the addresses "
        "and one-time log-ins, and ends cleanly on Ctrl-C."
    )
    needs_desk = False  # a port that is taken is said before the data is prepared

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
        parser.add_argument(
            "--port", type=int, default=8000, help="port to listen on; 0 finds a free one"
        )
        parser.add_argument("--provider", choices=_PROVIDERS, help="who answers")
        parser.add_argument(
            "--data", type=Path, metavar="PATH", help="tau2 folder to show instead of our shop"
        )
        parser.add_argument("--reset", action="store_true", help="clear all data first")
        parser.add_argument(
            "--check",
            action="store_true",
            help="play one conversation on a free port, print what came of it as JSON, and end",
        )

    def run(self, **options: Any) -> int:
        began = time.monotonic()
        try:
            return self._run(began, options)
        except Trouble as trouble:
            self.stderr.write(str(trouble))
            return 1
        except KeyboardInterrupt:
            self.stderr.write("Stopped while the data was being prepared; the next start goes on.")
            return _INTERRUPTED
        finally:
            StopSignals.ignore()  # the servers are stopped after this, and must not be left

    def _run(self, began: float, options: dict[str, Any]) -> int:
        provider = options["provider"] or settings.DSUPPORT_PROVIDER
        desk.check_provider(provider)
        if options["reset"] and not desk.is_own_database(settings.DSUPPORT_DATA):
            raise InvalidInput(
                "--reset clears a database that the demo has started itself, and DATABASE_URL is "
                "set. Unset it, or empty that database yourself.",
                code="not_our_database",
            )
        with listen(options["host"], 0 if options["check"] else options["port"]) as listener:
            tenant = desk.prepare(tau2=options["data"], progress=sys.stderr.isatty())
            with (
                StopSignals() as signals,
                desk.running(
                    tenant=tenant,
                    provider=provider,
                    host=options["host"],
                    listener=listener,
                    signals=signals,
                ) as found,
            ):
                if found is None:
                    return _INTERRUPTED
                return self._check(found, began) if options["check"] else self._serve(found)

    def _check(self, found: desk.Desk, began: float) -> int:
        from dsupport.demo.check import check  # brings clients that an ordinary start can spare

        report = check(found, began=began)
        self.emit(report)
        return 0 if report["ok"] else 1

    def _serve(self, found: desk.Desk) -> int:
        self._welcome(found)
        found.supervisor.wait_for_signal()
        self.stderr.write("Stopping …")
        return 0

    def _welcome(self, found: desk.Desk) -> None:
        welcome = Welcome(
            shop=found.tenant.name,
            url=found.url,
            staff=renew_staff_passwords(found.tenant),
            customers=hints(found.tenant),
            customer_password=renew_customer_password(found.tenant),
            data=settings.DSUPPORT_DATA.resolve(),
            logs=found.logs,
            is_open_to_others=not is_local(found.host),
        )
        self.stdout.write(str(welcome))
        self.stdout.flush()
