"""From an empty folder to a running desk: data, log-ins, programs."""

from __future__ import annotations

import http.client
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.core.management import call_command

from agents.liveness import forget_pulse
from dsupport.access import get_shop
from dsupport.contract.errors import Conflict, InvalidInput
from dsupport.demo import addresses, programs
from dsupport.demo.seed import find_demo_tenant, make_token_secret, seed_demo
from dsupport.demo.source import read_shop
from dsupport.demo.supervisor import StopSignals, Supervisor
from dsupport.environment import read_environment
from dsupport.lib import embedded
from dsupport.lib.commands import prepare_desk
from dsupport.models import Tenant
from orders.importers.shops import TAU2_TENANT

_READY_SECONDS = 120.0


class ProviderMissing(InvalidInput):
    code = "provider_missing"


class ForeignShop(Conflict):
    """The database holds a shop that is not for playing."""

    code = "foreign_shop"

    def __init__(self, names: str) -> None:
        super().__init__(
            f"This database holds shops that are not part of the demo ({names}), and a demo lets "
            "anybody sign in as any customer. Unset DATABASE_URL to use a database of its own."
        )


@dataclass(frozen=True, slots=True)
class Desk:
    """A desk whose web, worker and beat answer."""

    tenant: Tenant
    host: str
    url: str
    supervisor: Supervisor
    logs: Path


def check_provider(name: str) -> None:
    """Raise `ProviderMissing` unless the provider is there and has what it needs."""
    known = settings.DSUPPORT_PROVIDERS
    if name not in known:
        raise ProviderMissing(
            f"The provider {name} is not available yet in this version. Use --provider offline, "
            "which needs no key."
        )
    env = read_environment()
    given = {
        "anthropic": (env.anthropic_api_key, "ANTHROPIC_API_KEY"),
        "openai": (env.openai_api_key or env.openai_base_url, "OPENAI_API_KEY or OPENAI_BASE_URL"),
    }
    value, variable = given.get(name, ("not needed", ""))
    if not value:
        raise ProviderMissing(
            f"The provider {name} needs {variable}. Set it, or use --provider offline, which needs "
            "no key."
        )


def is_own_database(data: Path) -> bool:
    """Tell whether this process holds a lease on an embedded database of the data folder."""
    layout = embedded.paths.existing(data)
    if layout is None:
        return False
    users = embedded.users.living(layout.home)
    return any(user.pid == os.getpid() and "database" in user.parts for user in users)


def prepare(*, tau2: Path | None, progress: bool) -> Tenant:
    """Make the data of the demo, or complete it, and return the shop that is shown."""
    prepare_desk(progress=progress)
    if find_demo_tenant() is not None:
        seed_demo(progress=progress)  # what an interrupted start has left out
    if tau2 is not None:
        call_command("import_shop", "tau2", str(tau2), stdout=_Nowhere())
        Tenant.objects.filter(slug=TAU2_TENANT, token_secret="").update(
            token_secret=make_token_secret()
        )
    _check_all_are_demo_shops()
    return get_shop(TAU2_TENANT if tau2 is not None else settings.DSUPPORT_TENANT)


class _Nowhere:
    """Takes what a command says when it is one step of another."""

    def write(self, _text: str) -> None:
        return


def _check_all_are_demo_shops() -> None:
    if is_own_database(settings.DSUPPORT_DATA):
        return
    ours = [read_shop().settings["slug"], TAU2_TENANT]
    others = Tenant.objects.exclude(slug__in=ours).values_list("slug", flat=True)
    if others:
        raise ForeignShop(", ".join(others))


@contextmanager
def running(
    *,
    tenant: Tenant,
    provider: str,
    host: str,
    listener: socket.socket,
    signals: StopSignals,
) -> Iterator[Desk | None]:
    """Run the desk inside the block; give None when somebody asked to stop before it was ready.

    `Trouble` says that a program did not start or ended by itself.
    """
    data = settings.DSUPPORT_DATA.resolve()
    logs = data / "logs"
    for folder in (logs, data / "run"):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    local, port = addresses.reachable(host), listener.getsockname()[1]
    url = f"http://{addresses.in_url(local)}:{port}"
    env = programs.environment(
        tenant=tenant.slug,
        provider=provider,
        hosts=addresses.allowed_hosts(host, settings.ALLOWED_HOSTS),
        url=url,
        data=data,
        base=os.environ,
    )
    forget_pulse()  # that of a desk which ended seconds ago says nothing about this one
    with Supervisor(logs, signals) as supervisor:
        with listener:  # the web process has its own copy from here on
            supervisor.start(programs.web(listener, env))
        supervisor.start(programs.worker(env))
        ready = supervisor.wait_until(
            "web", lambda: _answers(local, port, "/healthz"), seconds=_READY_SECONDS
        ) and supervisor.wait_until(
            "worker", lambda: _answers(local, port, "/readyz"), seconds=_READY_SECONDS
        )
        if not ready:
            yield None
            return
        # Nothing waits for beat, so it does not compete with the start of the others.
        supervisor.start(programs.beat(env, data / "run" / "beat-schedule"))
        yield Desk(tenant, host, url, supervisor, logs)


def _answers(host: str, port: int, path: str) -> bool:
    connection = http.client.HTTPConnection(host, port, timeout=5)
    with suppress(OSError, http.client.HTTPException):
        try:
            connection.request("GET", path)
            return connection.getresponse().status == http.client.OK
        finally:
            connection.close()
    return False
