"""One conversation through a real socket, as a browser holds it, and what is wrong with it."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import httpx2
from websockets.exceptions import WebSocketException
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin

_QUIET_SECONDS = 0.3

Event = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Question:
    """What to ask, as whom, and what the answer must hold."""

    email: str
    order: str
    promised_on: date | None = None

    @property
    def text(self) -> str:
        return f"Where is my order {self.order}?"

    def problems_of(self, answer: str) -> list[str]:
        expected = [self.order]
        if self.promised_on is not None:
            expected.append(f"{self.promised_on.day} {self.promised_on:%B %Y}")
        return [f"the answer does not mention {text}" for text in expected if text not in answer]


@dataclass(slots=True)
class Played:
    """How a conversation went; without problems it went well."""

    answer: str = ""
    events: list[Event] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def seqs(self) -> list[int]:
        return [event["seq"] for event in self.events]

    @property
    def types(self) -> list[str]:
        return [event["type"] for event in self.events]


def play(base_url: str, shop: str, question: Question, *, seconds: float) -> Played:
    """Sign in, ask, read every event to the end of the run, come back and lack nothing."""
    played = Played()
    deadline = time.monotonic() + seconds
    try:
        with httpx2.Client(
            base_url=base_url, headers={"Origin": base_url}, trust_env=False, timeout=10
        ) as http:
            _post(http, f"/api/session/demo?shop={shop}", {"email": question.email})
            conversation = _post(http, f"/api/conversations?shop={shop}", {})["id"]
            cookie = "; ".join(f"{name}={value}" for name, value in http.cookies.items())
        socket = _Socket(base_url, conversation, cookie, deadline)
        played.events = socket.ask(question.text)
        played.problems += _broken_order(played.seqs)
        _judge_answer(played, question)
        if not played.problems:
            seen = played.seqs[len(played.seqs) // 2]
            if socket.replay(seen) != [event for event in played.events if event["seq"] > seen]:
                played.problems.append(f"coming back after event {seen} does not give the rest")
    except (OSError, TimeoutError, WebSocketException, httpx2.HTTPError, _Unexpected) as error:
        played.problems.append(f"{type(error).__name__.strip('_')}: {error}")
    return played


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds from sending a message to the first event of its run, and to its answer."""

    first_event: float
    answer: float


def time_question(base_url: str, shop: str, question: Question, *, seconds: float) -> Timing:
    """Ask once in a new conversation and return how long it took; raise when no answer comes."""
    deadline = time.monotonic() + seconds
    with httpx2.Client(
        base_url=base_url, headers={"Origin": base_url}, trust_env=False, timeout=10
    ) as http:
        _post(http, f"/api/session/demo?shop={shop}", {"email": question.email})
        conversation = _post(http, f"/api/conversations?shop={shop}", {})["id"]
        cookie = "; ".join(f"{name}={value}" for name, value in http.cookies.items())
    return _Socket(base_url, conversation, cookie, deadline).time(question.text)


class _Unexpected(Exception):
    """An answer of the desk that has no place in a conversation that goes well."""


class _Socket:
    """The conversation's socket, opened anew for every reading."""

    def __init__(self, base_url: str, conversation: str, cookie: str, deadline: float) -> None:
        self._url = f"ws{base_url.removeprefix('http')}/ws/conversations/{conversation}"
        self._origin = base_url
        self._cookie = cookie
        self._deadline = deadline

    def ask(self, text: str) -> list[Event]:
        """Say something and return every event of the conversation up to the end of its run."""
        with self._connect() as socket:
            _say(socket, type="seen", seq=0)
            _say(socket, type="message", text=text, client_id="check-1")
            events: list[Event] = []
            while not events or events[-1]["type"] != "run.finished":
                events.append(self._next(socket))
            return events

    def time(self, text: str) -> Timing:
        """Say something and return when the run began to tell, and when the answer came."""
        first = 0.0
        with self._connect() as socket:
            _say(socket, type="seen", seq=0)
            began = time.monotonic()
            _say(socket, type="message", text=text, client_id="bench-1")
            while True:
                event = self._next(socket)
                now = time.monotonic() - began
                if event["type"] != "message" and not first:
                    first = now
                if event["type"] == "answer":
                    return Timing(first, now)
                if event["type"] == "run.finished":
                    raise _Unexpected("the run ended without an answer")

    def replay(self, seen: int) -> list[Event]:
        """Return what a browser gets that has seen a part already and comes back."""
        with self._connect() as socket:
            _say(socket, type="seen", seq=seen)
            events: list[Event] = []
            while not events or events[-1]["type"] != "run.finished":
                events.append(self._next(socket))
            try:
                events.append(json.loads(socket.recv(timeout=_QUIET_SECONDS)))
            except TimeoutError:
                return events
            raise _Unexpected(f"{events[-1]} was sent after the end of the run")

    def _connect(self) -> ClientConnection:
        return connect(
            self._url,
            origin=Origin(self._origin),
            additional_headers={"Cookie": self._cookie},
            proxy=None,
            open_timeout=self._left(),
        )

    def _next(self, socket: ClientConnection) -> Event:
        event: Event = json.loads(socket.recv(timeout=self._left()))
        if event["type"] == "error" and event["seq"] is None:
            raise _Unexpected(f"the desk refused: {event['data']}")
        return event

    def _left(self) -> float:
        return max(0.1, self._deadline - time.monotonic())


def _say(socket: ClientConnection, **frame: Any) -> None:
    socket.send(json.dumps(frame))


def _post(http: httpx2.Client, path: str, body: Mapping[str, Any]) -> Any:
    reply = http.post(path, json=body)
    if not reply.is_success:
        raise _Unexpected(f"POST {path} gave {reply.status_code}: {reply.text[:200]}")
    return reply.json()


def _broken_order(seqs: list[int]) -> list[str]:
    if seqs == list(range(1, len(seqs) + 1)):
        return []
    return ["the events are not numbered 1, 2, 3 … without a gap"]


def _judge_answer(played: Played, question: Question) -> None:
    answers = [event["data"] for event in played.events if event["type"] == "answer"]
    if len(answers) != 1:
        played.problems.append(f"there are {len(answers)} answers instead of one")
        return
    played.answer = str(answers[0].get("text") or answers[0].get("answer") or "")
    played.problems += question.problems_of(played.answer)
