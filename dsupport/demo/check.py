"""The main job, played against a running desk by a program."""

from __future__ import annotations

import time
from typing import Any

from dsupport.contract.errors import NotFound
from dsupport.demo.conversation import Question, play
from dsupport.demo.desk import Desk
from dsupport.demo.stories import STORIES
from dsupport.models import Tenant
from orders.models import Order, Shipment

_SECONDS = 30.0


def check(desk: Desk, *, began: float) -> dict[str, Any]:
    """Play one conversation and return what came of it; `began` is when the command started."""
    question = choose_question(desk.tenant)
    played = play(desk.url, desk.tenant.slug, question, seconds=_SECONDS)
    pids = desk.supervisor.pids
    return {
        "ok": not played.problems,
        "answer": played.answer,
        "order": question.order,
        "events": played.types,
        "seqs": played.seqs,
        "web_pid": pids["web"],
        "worker_pid": pids["worker"],
        "seconds": round(time.monotonic() - began, 1),
        "problems": played.problems,
    }


def choose_question(tenant: Tenant) -> Question:
    """Return what to ask: after the delayed parcel, or in another shop after any order."""
    orders = Order.objects.for_tenant(tenant.pk).exclude(customer=None)
    told = orders.filter(number=STORIES[0].number).first()
    order = told or orders.order_by("pk").first()
    if order is None:
        raise NotFound("This shop has no orders to ask about. Import some and check again.")
    promised = Shipment.objects.for_tenant(tenant.pk).filter(order=order).exclude(promised_on=None)
    parcel = promised.order_by("position").first()
    return Question(order.email, order.number, parcel.promised_on if parcel else None)
