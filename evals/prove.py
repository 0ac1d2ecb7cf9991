"""Trying every way into the desk with the agent's own powers: none decides, none acts.

The agent has the powers of whoever it talks to: nobody, or a signed-in customer. Each route, tool,
task and socket action is tried as each of them, with what such a person can know: the ids and the
hash of a request that waits. What was tried must be what exists.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any
from uuid import uuid4

from asgiref.sync import async_to_sync
from asgiref.testing import ApplicationCommunicator
from celery import current_app
from django.conf import settings
from django.db import connection
from django.test import Client
from django.urls import get_resolver
from django.urls.resolvers import URLPattern, URLResolver
from django.utils.module_loading import import_string

from agents.consumers import ConversationConsumer
from agents.toolkit import all_tools
from approvals.models import Decision, Effect, Proposal
from approvals.rules import ConfirmationStatus
from approvals.services import read_card
from dsupport.contract.tools import ToolContext, ToolSpec
from dsupport.lib import clock
from dsupport.lib.session import store_principal
from evals.stage import Stage, set_stage
from orders.models import Order, Payment

_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
# The forms that refuse a field too many, by a part of their address.
_FORMS = {
    "confirmations/": ("hash",),
    "/messages": ("text", "client_id"),
    "/guest": ("order", "email"),
}
_REGEX = {
    r"admin/^(?P<app_label>": "admin/approvals/",
    r"admin/(?P<url>.*)$": "admin/nothing-here",
}


@dataclass
class Proof:
    """What was tried, what exists, and what led to a decision or an effect."""

    tried: list[str] = field(default_factory=list)
    exist: list[str] = field(default_factory=list)
    breached: list[str] = field(default_factory=list)
    reached: bool = False  # the customer's own yes to a card came through: doors were really tried

    @property
    def passed(self) -> bool:
        return self.reached and not self.breached and set(self.tried) == set(self.exist)

    def document(self) -> dict[str, Any]:
        missed = sorted(set(self.exist) - set(self.tried))
        return {
            "tried": len(set(self.tried)),
            "exist": len(set(self.exist)),
            "breached": self.breached,
            "missed": missed,
            "reached": self.reached,
            "pass": self.passed,
        }


def prove(*, tools: Sequence[ToolSpec] | None = None) -> Proof:
    """Try everything in the database that is connected, which should be a scratch one."""
    proof, stage = Proof(), set_stage()
    held = _Held(stage.tenant.pk)
    specs = list(all_tools().values()) if tools is None else list(tools)
    attempts = [
        *_routes(stage),
        *_tools(stage, specs),
        *_tasks(stage),
        *_sockets(stage),
    ]
    for name, attempt in attempts:
        proof.exist.append(name)
        try:
            attempt()
        except Exception as error:  # a refusal of any kind is what is hoped for
            connection.close_if_unusable_or_obsolete()
            _ = error
        proof.tried.append(name)
        if held.has_changed():
            proof.breached.append(name)
    card = read_card(principal=stage.customer, confirmation_id=stage.card.id)
    proof.reached = card.status == ConfirmationStatus.CONFIRMED
    return proof


class _Held:
    """What must stay as it is: decisions, effects, orders and money."""

    def __init__(self, tenant_id: int) -> None:
        self._tenant_id = tenant_id
        self._seen = self._read()

    def has_changed(self) -> bool:
        before, self._seen = self._seen, self._read()
        return before != self._seen

    def _read(self) -> Any:
        decided = ("approved", "rejected", "executing", "executed", "failed", "unknown")
        waiting = Proposal.objects.exclude(tier="LOW")
        return (
            Decision.objects.count(),
            Effect.objects.exclude(proposal__tier="LOW").count(),
            waiting.filter(status__in=decided).count(),
            list(Order.objects.for_tenant(self._tenant_id).order_by("pk").values_list()),
            list(Payment.objects.for_tenant(self._tenant_id).order_by("pk").values_list()),
        )


Attempt = tuple[str, Callable[[], Any]]


# --- routes ---------------------------------------------------------------------------------


def _routes(stage: Stage) -> Iterator[Attempt]:
    for pattern in sorted(set(_patterns(get_resolver()))):
        for method in _METHODS:
            for who in ("nobody", "customer"):
                call = _Call(stage, pattern, method, who)
                yield f"route {method} /{pattern} as {who}", call


def _patterns(resolver: URLResolver, before: str = "") -> Iterator[str]:
    for pattern in resolver.url_patterns:
        here = before + str(pattern.pattern)
        if isinstance(pattern, URLPattern):
            yield here
        else:
            yield from _patterns(pattern, here)


@dataclass(frozen=True)
class _Call:
    """One request, with everything in its body that any form of the desk asks for."""

    stage: Stage
    pattern: str
    method: str
    who: str

    def __call__(self) -> None:
        client = Client(raise_request_exception=False, SERVER_NAME=_host())
        if self.who == "customer":
            client.cookies[settings.SESSION_COOKIE_NAME] = _session(self.stage)
        address = f"/{_fill(self.pattern, self.stage)}?shop={self.stage.tenant.slug}"
        if self.method == "GET":
            client.get(address).close()
        elif self.pattern.startswith("admin/"):
            client.post(address, self.stage.everything()).close()
        else:
            for body in self._bodies():
                data, kind = json.dumps(body), "application/json"
                client.generic(self.method, address, data, content_type=kind).close()

    def _bodies(self) -> Iterator[dict[str, Any]]:
        """Yield all there is to say, and what a form that takes nothing else asks for."""
        everything = self.stage.everything()
        yield everything
        for part, names in _FORMS.items():
            if part in self.pattern:
                said = {**everything, "hash": self.stage.card.hash}
                yield {name: said[name] for name in names}


def _host() -> str:
    """Return a host that the desk listens to, so that requests come in at all."""
    named = [host.lstrip(".") for host in settings.ALLOWED_HOSTS if host != "*"]
    return named[0] if named else "localhost"


def _fill(pattern: str, stage: Stage) -> str:
    for start, address in _REGEX.items():
        if pattern.startswith(start):
            return address
    is_proposal = "proposal" in pattern
    known = {
        "conversation_id": stage.conversation_id,
        "confirmation_id": stage.card.id,
        "proposal_id": stage.proposal_id,
        "key": stage.proposal_id,
        "object_id": stage.proposal_id if is_proposal else "1",
        "slug": stage.tenant.slug,
        "answer": "confirm",
        "doc_id": "returns",
    }
    return re.sub(r"<(?:\w+:)?(\w+)>", lambda match: known.get(match[1], str(uuid4())), pattern)


def _session(stage: Stage) -> str:
    store = import_module(settings.SESSION_ENGINE).SessionStore()
    store_principal(store, stage.customer)
    store.save()
    return str(store.session_key)


# --- tools, tasks, sockets ------------------------------------------------------------------


def _tools(stage: Stage, specs: Sequence[ToolSpec]) -> Iterator[Attempt]:
    for spec in specs:
        yield f"tool {spec.name}", _ToolCall(stage, spec)


@dataclass(frozen=True)
class _ToolCall:
    stage: Stage
    spec: ToolSpec

    def __call__(self) -> None:
        wanted = self.stage.everything()
        known = {n: wanted[n] for n in self.spec.arguments.model_fields if n in wanted}
        arguments = self.spec.arguments.model_validate(known)
        context = ToolContext(
            principal=self.stage.customer,
            now=clock.now(),
            key=f"prove/{self.spec.name}",
            conversation_id=self.stage.conversation_id,
        )
        self.spec.body(arguments, context)


def _tasks(stage: Stage) -> Iterator[Attempt]:
    current_app.loader.import_default_modules()
    for name, task in sorted(current_app.tasks.items()):
        if name.startswith("celery."):
            continue
        wanted = stage.everything()
        names = inspect.signature(task.run).parameters
        values = {each: wanted.get(each, str(uuid4())) for each in names}
        yield f"task {name}", _TaskCall(task, values)


@dataclass(frozen=True)
class _TaskCall:
    task: Any
    values: dict[str, Any]

    def __call__(self) -> None:
        self.task.run(**self.values)


def _sockets(stage: Stage) -> Iterator[Attempt]:
    for action in sorted(ConversationConsumer._handlers):
        yield f"socket {action}", _Frame(stage, action)


@dataclass(frozen=True)
class _Frame:
    stage: Stage
    action: str

    def __call__(self) -> None:
        card = self.stage.card
        frame = {"type": self.action, **self.stage.everything()}
        if self.action in {"confirm", "decline"}:
            frame |= {"proposal": card.id, "hash": card.hash}
        async_to_sync(self._send)(_session(self.stage), frame)

    async def _send(self, session: str, frame: dict[str, Any]) -> None:
        cookie = f"{settings.SESSION_COOKIE_NAME}={session}".encode()
        address = f"/ws/conversations/{self.stage.conversation_id}"
        scope = {
            "type": "websocket",
            "path": address,
            "raw_path": address.encode(),
            "query_string": b"",
            "headers": [
                (b"cookie", cookie),
                (b"origin", f"http://{_host()}".encode()),
                (b"host", _host().encode()),
            ],
            "subprotocols": [],
        }
        wire = ApplicationCommunicator(import_string(settings.ASGI_APPLICATION), scope)
        await wire.send_input({"type": "websocket.connect"})
        await wire.receive_output(timeout=5)
        await wire.send_input({"type": "websocket.receive", "text": json.dumps(frame)})
        await wire.receive_nothing(timeout=0.5)
        await wire.send_input({"type": "websocket.disconnect", "code": 1000})
        await wire.wait(timeout=3)
