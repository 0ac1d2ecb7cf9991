"""The customer's and programs' API: translate in, make one call, translate out."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any, Literal
from uuid import UUID

from channels.db import database_sync_to_async
from channels.layers import get_channel_layer
from django.http import HttpRequest, StreamingHttpResponse
from ninja import Field, Router, Schema, Status
from pydantic import ConfigDict

from agents import requests, services
from agents.feed import events_after, for_customer
from agents.models import Message, Run
from agents.notify import group_of
from agents.rules import ACTIVE, MAX_MESSAGE_LENGTH, RunStatus
from approvals.services import cancel
from dsupport.access import principal_of, shop_of
from dsupport.lib import clock

router = Router(tags=["conversations"])
_KEEP_ALIVE = 15.0


class ConversationOut(Schema):
    id: UUID
    shop: str
    posture: str
    tickets: list[str]
    last_seq: int


class MessageIn(Schema):
    """`client_id` is the client's own name for this message: sent again, it is stored once."""

    model_config = ConfigDict(extra="forbid")

    text: str = Field(description=f"At most {MAX_MESSAGE_LENGTH} characters")
    client_id: str = Field(default="", max_length=64)


class SubmittedOut(Schema):
    """`run_id` is null for a yes or no to a card, which is answered at once."""

    run_id: UUID | None
    message_id: UUID
    seq: int
    duplicate: bool


class EventsOut(Schema):
    events: list[dict[str, Any]]


class UsageOut(Schema):
    model_calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: str


class RunOut(Schema):
    id: UUID
    conversation: UUID
    status: str
    ending: str
    answer: dict[str, Any] | None
    usage: UsageOut


class ShownIn(Schema):
    model_config = ConfigDict(extra="forbid")

    hash: str = Field(min_length=64, max_length=64)


class AnsweredOut(Schema):
    status: str
    code: str
    proposal: str
    message: str


class TicketOut(Schema):
    ticket: str


@router.post("/conversations", response={201: ConversationOut}, summary="Start a conversation")
def open_conversation(request: HttpRequest) -> Status[dict[str, Any]]:
    shop = shop_of(request)
    made = services.open_conversation(principal=principal_of(request, shop), now=clock.now())
    return Status(201, _conversation(made, shop.slug))


@router.post("/confirmations/{uuid:confirmation_id}/{answer}", response=AnsweredOut)
def answer_card(
    request: HttpRequest,
    confirmation_id: UUID,
    answer: Literal["confirm", "decline"],
    body: ShownIn,
) -> dict[str, Any]:
    """Answer a card with what it showed: `hash` as the event `confirmation.asked` had it."""
    outcome = requests.answer_card(
        principal=principal_of(request, shop_of(request)),
        confirmation_id=confirmation_id,
        shown_hash=body.hash,
        yes=answer == "confirm",
        now=clock.now(),
    )
    if outcome is None:
        return {"status": "declined", "code": "declined", "proposal": "", "message": ""}
    return {
        "status": outcome.status.value,
        "code": outcome.code,
        "proposal": outcome.proposal_id,
        "message": outcome.message,
    }


@router.post("/proposals/{uuid:proposal_id}/cancel", response=AnsweredOut)
def cancel_proposal(request: HttpRequest, proposal_id: UUID) -> dict[str, Any]:
    """Take back what one has asked for, while nobody has decided."""
    cancel(
        principal=principal_of(request, shop_of(request)),
        proposal_id=str(proposal_id),
        now=clock.now(),
    )
    return {"status": "cancelled", "code": "cancelled", "proposal": str(proposal_id), "message": ""}


@router.get("/conversations/{uuid:conversation_id}", response=ConversationOut)
def read_conversation(request: HttpRequest, conversation_id: UUID) -> dict[str, Any]:
    shop = shop_of(request)
    found = services.get_conversation(
        principal=principal_of(request, shop), conversation_id=conversation_id
    )
    return _conversation(found, shop.slug)


@router.post("/conversations/{uuid:conversation_id}/messages", response={202: SubmittedOut})
def submit_message(
    request: HttpRequest, conversation_id: UUID, body: MessageIn
) -> Status[dict[str, Any]]:
    submitted = requests.receive_message(
        principal=principal_of(request, shop_of(request)),
        conversation_id=conversation_id,
        text=body.text,
        client_id=body.client_id,
        now=clock.now(),
    )
    accepted = {
        "run_id": submitted.run_id,
        "message_id": submitted.message_id,
        "seq": submitted.seq,
        "duplicate": submitted.duplicate,
    }
    return Status(202, accepted)


@router.get("/conversations/{uuid:conversation_id}/events", response=EventsOut)
def read_events(request: HttpRequest, conversation_id: UUID, after: int = 0) -> dict[str, Any]:
    shop = shop_of(request)
    found = services.get_conversation(
        principal=principal_of(request, shop), conversation_id=conversation_id
    )
    return {"events": for_customer(events_after(found.pk, after), shop, now=clock.now())}


@router.post("/conversations/{uuid:conversation_id}/person", response={202: TicketOut})
def request_person(request: HttpRequest, conversation_id: UUID) -> Status[dict[str, str]]:
    ticket = services.request_person(
        principal=principal_of(request, shop_of(request)),
        conversation_id=conversation_id,
        now=clock.now(),
    )
    return Status(202, {"ticket": ticket})


@router.get("/runs/{uuid:run_id}", response=RunOut)
def read_run(request: HttpRequest, run_id: UUID) -> dict[str, Any]:
    run = services.get_run(principal=principal_of(request, shop_of(request)), run_id=run_id)
    return run_document(run)


@router.post("/runs/{uuid:run_id}/cancel", response={202: dict[str, str]})
def cancel_run(request: HttpRequest, run_id: UUID) -> Status[dict[str, str]]:
    principal = principal_of(request, shop_of(request))
    services.cancel_run(principal=principal, run_id=run_id, now=clock.now())
    return Status(202, {"run_id": str(run_id)})


@router.get("/runs/{uuid:run_id}/events", response=EventsOut)
def read_run_events(request: HttpRequest, run_id: UUID, after: int = 0) -> dict[str, Any]:
    shop = shop_of(request)
    run = services.get_run(principal=principal_of(request, shop), run_id=run_id)
    events = events_after(run.conversation_id, after, run_id=run.pk)
    return {"events": for_customer(events, shop, now=clock.now())}


@router.get("/runs/{uuid:run_id}/stream", summary="Server-sent events of a run")
async def stream_run(request: HttpRequest, run_id: UUID, after: int = 0) -> StreamingHttpResponse:
    """Stream the events of a run; `Last-Event-ID` resumes after the number it names."""

    def look_up() -> tuple[Run, Any]:
        shop = shop_of(request)
        return services.get_run(principal=principal_of(request, shop), run_id=run_id), shop

    run, shop = await database_sync_to_async(look_up)()
    last = request.headers.get("Last-Event-ID", "")
    seq = int(last) if last.isascii() and last.isdigit() else after
    response = StreamingHttpResponse(_stream(run, shop, seq), content_type="text/event-stream")
    response["Cache-Control"] = "no-store"
    response["X-Accel-Buffering"] = "no"
    return response


async def _stream(run: Run, shop: Any, seq: int) -> AsyncIterator[str]:
    """Yield what the reader lacks, then wait for a hint, until the run has ended."""
    layer = get_channel_layer()
    channel = await layer.new_channel()
    await layer.group_add(group_of(run.conversation_id), channel)
    try:
        while True:
            for event in await database_sync_to_async(_news)(run, shop, seq):
                seq = event["seq"]
                data = json.dumps(event, ensure_ascii=False)
                yield f"id: {seq}\nevent: {event['type']}\ndata: {data}\n\n"
                if event["type"] == "run.finished":
                    return
            if not await database_sync_to_async(_is_active)(run.pk, seq):
                return
            with suppress(TimeoutError):
                await asyncio.wait_for(layer.receive(channel), _KEEP_ALIVE)
                continue
            yield ": still here\n\n"
    finally:
        await layer.group_discard(group_of(run.conversation_id), channel)


def _news(run: Run, shop: Any, seq: int) -> list[dict[str, Any]]:
    events = events_after(run.conversation_id, seq, run_id=run.pk)
    return for_customer(events, shop, now=clock.now())


def _is_active(run_id: UUID, seq: int) -> bool:
    """Tell whether more events of a run may come after `seq`."""
    run = Run.objects.for_worker(run_id).get()
    over = RunStatus(run.status) not in ACTIVE
    return not over or bool(events_after(run.conversation_id, seq, run_id=run_id, limit=1))


def run_document(run: Run) -> dict[str, Any]:
    """Return a run as programs get it."""
    answer = (
        Message.objects.for_conversation(run.conversation)
        .filter(run=run, author=Message.Author.ASSISTANT)
        .first()
    )
    return {
        "id": run.pk,
        "conversation": run.conversation_id,
        "status": run.status,
        "ending": run.ending,
        "answer": answer.form if answer else None,
        "usage": usage_document(run),
    }


def usage_document(run: Run) -> dict[str, Any]:
    """Return what a run consumed; the cost is a decimal text in US dollars."""
    return {
        "model_calls": run.model_calls,
        "input_tokens": run.input_tokens,
        "output_tokens": run.output_tokens,
        "cost_usd": f"{run.cost / 1_000_000:.6f}",
    }


def _conversation(conversation: Any, shop: str) -> dict[str, Any]:
    tickets = [
        (message.form or {}).get("ticket_id")
        for message in Message.objects.for_conversation(conversation).exclude(form=None)
    ]
    return {
        "id": conversation.pk,
        "shop": shop,
        "posture": conversation.posture,
        "tickets": list(dict.fromkeys(filter(None, tickets))),
        "last_seq": conversation.last_seq,
    }
