"""Events as they leave the desk: the one shape for sockets, server-sent events and REST."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.utils.text import slugify

from agents.models import Event
from dsupport.contract.principal import Principal
from dsupport.models import Tenant
from knowledge.tools import current_versions

PAGE = 500


def events_after(
    conversation_id: UUID, seq: int, *, run_id: UUID | None = None, limit: int = PAGE
) -> list[dict[str, Any]]:
    """Return the events that follow `seq`, in order, at most a page of them.

    The caller has been allowed to see the conversation.
    """
    found = Event.objects.after(conversation_id, seq)
    if run_id is not None:
        found = found.filter(run_id=run_id)
    return [as_event(event) for event in found[:limit]]


def as_event(event: Event) -> dict[str, Any]:
    """Return an event as programs and browsers get it."""
    return {
        "conversation": str(event.conversation_id),
        "seq": event.seq,
        "run": str(event.run_id) if event.run_id else None,
        "at": event.at.isoformat(),
        "type": event.type,
        "span": event.span,
        "parent": event.parent,
        "agent": event.agent,
        "data": event.data,
    }


def for_customer(
    events: Sequence[dict[str, Any]], shop: Tenant, *, now: datetime
) -> list[dict[str, Any]]:
    """Return events as a customer may see them.

    Drafts stay inside, and with them the words that a check refused. Sources carry the address
    of the version that was read, and `stale` when searches see another one by now.
    """
    read = {
        source["doc_id"]
        for event in events
        if event["type"] == "answer"
        for source in event["data"].get("sources", [])
    }
    current = current_versions(principal=Principal(tenant_id=shop.pk), doc_ids=read, now=now)
    shown = {
        "answer": lambda data: _link(data, shop, current),
        "review.finished": _without_drafts,
        "answerability.finished": lambda data: {"proven": data["proven"]},
    }
    return [
        {**event, "data": shown[event["type"]](event["data"])} if event["type"] in shown else event
        for event in events
    ]


def _without_drafts(data: dict[str, Any]) -> dict[str, Any]:
    return {name: data[name] for name in ("by", "approved", "round", "codes") if name in data}


def _link(data: dict[str, Any], shop: Tenant, current: Mapping[str, int]) -> dict[str, Any]:
    return {**data, "sources": [_source(each, shop, current) for each in data.get("sources", [])]}


def _source(source: dict[str, Any], shop: Tenant, current: Mapping[str, int]) -> dict[str, Any]:
    anchor = slugify(source.get("heading", ""))
    query = f"version={source['version']}"
    if shop.slug != settings.DSUPPORT_TENANT:
        query = f"shop={shop.slug}&{query}"
    url = f"/help/{source['doc_id']}?{query}"
    return {
        **source,
        "anchor": anchor,
        "url": f"{url}#{anchor}" if anchor else url,
        "stale": current.get(source["doc_id"]) != source["version"],
    }
