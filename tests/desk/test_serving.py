"""What a proxy and a browser get beside pages: health and static files."""

from __future__ import annotations

import asyncio
import logging

import pytest
from django.test import AsyncClient, Client

from agents.liveness import forget_pulse, worker_is_alive


def test_health_answers_without_any_part(db):
    assert Client().get("/healthz").json() == {"ok": True}


def test_desk_without_a_worker_is_not_ready_and_no_fault(db, caplog):
    forget_pulse()  # of a worker that another test has started
    assert not worker_is_alive()
    with caplog.at_level(logging.WARNING, logger="django.request"):
        answer = Client().get("/readyz")
    assert answer.status_code == 503
    assert answer.json() == {"ok": False, "database": True, "broker": True, "worker": False}
    assert caplog.records == []


@pytest.mark.parametrize(
    ("headers", "status", "length"),
    [({}, 200, None), ({"Range": "bytes=0-9"}, 206, 10)],
    ids=["whole", "a part"],
)
def test_static_file_is_served_whole_under_asgi(headers, status, length):
    answer = asyncio.run(AsyncClient().get("/static/chat/chat.css", headers=headers))
    assert answer.status_code == status
    assert answer["Content-Type"] == 'text/css; charset="utf-8"'
    assert len(answer.content) == int(answer["Content-Length"])
    assert length is None or len(answer.content) == length
    unchanged = {"If-Modified-Since": answer["Last-Modified"]}
    again = asyncio.run(AsyncClient().get("/static/chat/chat.css", headers=unchanged))
    assert (again.status_code, again.content) == (304, b"")
