"""The check itself is checked: a desk that behaves badly must be found out."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.server import ServerConnection, serve

from dsupport.demo import conversation
from dsupport.demo.conversation import Played, Question, play

QUESTION = Question("fleur.hendriks@example.com", "1042", date(2026, 10, 5))
ANSWER = "Order 1042 is on its way. It was promised for 5 October 2026."


def stream(*types: str, answer: str = ANSWER) -> list[dict[str, Any]]:
    return [
        {"seq": seq, "type": kind, "data": {"answer": answer} if kind == "answer" else {}}
        for seq, kind in enumerate(types, start=1)
    ]


GOOD = stream("message", "run.started", "tool.called", "answer", "run.finished")


@dataclass
class FakeDesk:
    """Speaks the protocol of the socket: what it says to a question, and to one who comes back."""

    says: list[dict[str, Any]]
    repeats: Any = None
    login_status: int = 200
    closes: bool = False
    asked: list[dict[str, Any]] = field(default_factory=list)
    seen_headers: list[tuple[str | None, str | None]] = field(default_factory=list)

    def talk(self, socket: ServerConnection) -> None:
        assert socket.request is not None
        headers = socket.request.headers
        self.seen_headers.append((headers.get("Cookie"), headers.get("Origin")))
        try:
            seen = json.loads(socket.recv())["seq"]
            if seen == 0:
                self.asked.append(json.loads(socket.recv()))
                events = self.says
            else:
                events = (self.repeats or self._rest)(seen)
            for event in events:
                socket.send(json.dumps(event))
            if not self.closes:
                socket.recv()  # until the other side goes
        except ConnectionClosed:
            pass

    def _rest(self, seen: int) -> list[dict[str, Any]]:
        return [event for event in self.says if event["seq"] > seen]


@contextmanager
def desk(fake: FakeDesk) -> Iterator[str]:
    """Serve HTTP and the socket on two ports; the player is told of one and sent to the other."""

    class Api(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(fake.login_status if "session" in self.path else 201)
            self.send_header("Set-Cookie", "sessionid=abc; Path=/")
            self.end_headers()
            self.wfile.write(b'{"id": "c1"}')

        def log_message(self, *_arguments: object) -> None:
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Api) as api, serve(fake.talk, "127.0.0.1", 0) as ws:
        threading.Thread(target=api.serve_forever, args=(0.02,), daemon=True).start()
        threading.Thread(target=ws.serve_forever, daemon=True).start()
        fake_port = ws.socket.getsockname()[1]
        with pytest.MonkeyPatch.context() as patch:
            real = conversation.connect
            patch.setattr(
                conversation,
                "connect",
                lambda _url, **kw: real(f"ws://127.0.0.1:{fake_port}/", **kw),
            )
            try:
                yield f"http://127.0.0.1:{api.server_port}"
            finally:
                api.shutdown()
                ws.shutdown()


def played_against(fake: FakeDesk, *, seconds: float = 10) -> Played:
    with desk(fake) as url:
        return play(url, "demo", QUESTION, seconds=seconds)


def test_play_good_desk_has_no_problem():
    fake = FakeDesk(GOOD)
    played = played_against(fake)
    assert played.problems == []
    assert played.answer == ANSWER
    assert played.seqs == [1, 2, 3, 4, 5]
    assert fake.asked[0]["text"] == "Where is my order 1042?"
    assert fake.asked[0]["client_id"]
    cookie, origin = fake.seen_headers[0]
    assert cookie == "sessionid=abc"
    assert origin is not None
    assert origin.startswith("http://127.0.0.1:")


@pytest.mark.parametrize(
    ("fake", "problem"),
    [
        (FakeDesk([GOOD[0], *GOOD[2:]]), "without a gap"),
        (FakeDesk([GOOD[0], GOOD[0], *GOOD[1:]]), "without a gap"),
        (FakeDesk([GOOD[1], GOOD[0], *GOOD[2:]]), "without a gap"),
        (FakeDesk([{**event, "seq": event["seq"] + 1} for event in GOOD]), "without a gap"),
        (FakeDesk(stream("message", "run.finished")), "0 answers instead of one"),
        (FakeDesk(stream("answer", "answer", "run.finished")), "2 answers instead of one"),
        (
            FakeDesk(
                stream("answer", "run.finished", answer="It was promised for 5 October 2026.")
            ),
            "does not mention 1042",
        ),
        (
            FakeDesk(stream("answer", "run.finished", answer="1042: 6 October 2026")),
            "does not mention 5 October 2026",
        ),
        (FakeDesk(GOOD, repeats=lambda seen: GOOD[seen - 1 :]), "does not give the rest"),
        (FakeDesk(GOOD, repeats=lambda seen: GOOD[seen + 1 :]), "does not give the rest"),
        (FakeDesk(GOOD, repeats=lambda seen: [*GOOD[seen:], GOOD[-1]]), "after the end"),
        (FakeDesk(GOOD, login_status=404), "session/demo?shop=demo gave 404"),
        (FakeDesk(GOOD[:2], closes=True), "ConnectionClosed"),
        (
            FakeDesk([{"seq": None, "type": "error", "data": {"code": "limit"}}]),
            "the desk refused: {'code': 'limit'}",
        ),
    ],
)
def test_play_bad_desk_is_found_out(fake, problem):
    played = played_against(fake)
    assert len(played.problems) == 1
    assert problem in played.problems[0]


def test_play_silent_desk_is_given_up():
    played = played_against(FakeDesk(GOOD[:3]), seconds=0.5)
    assert any("TimeoutError" in problem for problem in played.problems)


def test_play_no_desk_is_a_problem():
    played = play("http://127.0.0.1:1", "demo", QUESTION, seconds=1)
    assert "ConnectError" in played.problems[0]


def test_question_without_promise_asks_for_the_number_alone():
    question = Question("someone@example.com", "#W1", None)
    assert question.problems_of("Order #W1 is on its way") == []
    assert question.problems_of("It is on its way") == ["the answer does not mention #W1"]
