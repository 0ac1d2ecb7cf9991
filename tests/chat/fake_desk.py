"""What the fake desk remembers and does, apart from how it is spoken to."""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from tests.chat.scenarios import Scenario, desk_says, scenario_for, silence

SHOP = {
    "slug": "hollis",
    "name": "Hollis & Finch",
    "mark": "HF",
    "tagline": "Clothing and gear for long walks. Ask about an order, a return or anything else.",
    "notice": "",
}
HOURS = {"open": False, "text": "Back Monday 9:00"}
STARTERS = [
    "Where is my order?",
    "How long do I have to return something?",
    "My jacket arrived torn",
]
CUSTOMERS = [
    {"email": "emma@example.com", "name": "Emma Bakker", "why": "Order 1042 is ten days late"},
    {
        "email": "noor@example.com",
        "name": "Noor Haddad",
        "why": "Two orders delivered last week, one to return",
    },
    {
        "email": "jonas@example.com",
        "name": "Jonas Weber",
        "why": "Paid with a gift card and a credit card",
    },
]
LONGEST = 8000


@dataclass
class Conversation:
    id: str
    owner: str
    events: list[dict[str, Any]] = field(default_factory=list)
    seen: dict[str, dict[str, Any]] = field(default_factory=dict)
    tickets: list[str] = field(default_factory=list)
    runs: dict[str, asyncio.Task[None]] = field(default_factory=dict)
    latest: Run | None = None
    posture: str = "auto"
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def emit(
        self, type_: str, data: dict[str, Any], *, run: str | None = None, **place: Any
    ) -> dict[str, Any]:
        event = {
            "conversation": self.id,
            "seq": len(self.events) + 1,
            "run": run,
            "at": datetime.now(UTC).isoformat(),
            "type": type_,
            "span": place.get("span"),
            "parent": place.get("parent"),
            "agent": place.get("agent"),
            "data": data,
        }
        self.events.append(event)
        self.changed.set()
        return event


class Refusal(Exception):
    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.body = {"code": code, "message": message}


@dataclass
class Controls:
    """What a test can do to the desk."""

    pace: float = 0.0
    refuse_sockets: bool = False
    swallow_acks: bool = False
    refuse_messages: str = ""
    open: bool = False


class Run:
    """One scripted run; implements `scenarios.Stage`."""

    def __init__(self, desk: Desk, conversation: Conversation, text: str, asker: str) -> None:
        self.desk, self.conversation, self.text, self.asker = desk, conversation, text, asker
        self.id = f"run-{secrets.token_hex(4)}"
        self.over = False

    @property
    def ticket(self) -> str:
        return self.desk.ticket_of(self.conversation)

    async def say(self, type_: str, data: dict[str, Any], **place: Any) -> None:
        self.conversation.emit(type_, data, run=self.id, **place)

    async def pause(self, seconds: float) -> None:
        await asyncio.sleep(seconds * self.desk.controls.pace)

    async def hold(self) -> None:
        await self.desk.gate.wait()

    async def play(self, scenario: Scenario) -> None:
        await self.say("run.started", {})
        try:
            status = await scenario(self)
        except asyncio.CancelledError:
            status = "cancelled"
            await self.say("message", desk_says("Stopped. Nothing was changed."))
        self.over = True
        ending = {"status": status, "ending": "", "ms": 1240, "model_calls": 2, "cost": 0}
        if scenario is silence:
            ending["ending"] = "a_person_answers"
        await self.say("run.finished", ending)


class Desk:
    def __init__(self) -> None:
        self.conversations: dict[str, Conversation] = {}
        self.sessions: dict[str, dict[str, Any]] = {}
        self.sockets: set[asyncio.Task[Any]] = set()
        self.controls = Controls()
        self.gate = asyncio.Event()
        self.gate.set()
        self.received: list[dict[str, str]] = []
        self.tickets = 1000

    # -- conversations --

    def find(self, id_: str, visitor: str) -> Conversation:
        conversation = self.conversations.get(id_)
        if conversation is None or conversation.owner != visitor:
            raise Refusal(
                404, "unknown_conversation", "This conversation is not yours or not there."
            )
        return conversation

    def ticket_of(self, conversation: Conversation) -> str:
        if not conversation.tickets:
            self.tickets += 1
            conversation.tickets.append(f"TKT-{self.tickets}")
        return conversation.tickets[0]

    def accept(
        self, conversation: Conversation, visitor: str, body: dict[str, Any]
    ) -> dict[str, Any]:
        text, client_id = str(body.get("text", "")), str(body.get("client_id", ""))
        self.received.append({"text": text, "client_id": client_id})
        if self.controls.refuse_messages:
            raise Refusal(429, "too_many_messages", self.controls.refuse_messages)
        if not text.strip() or len(text) > LONGEST:
            raise Refusal(422, "bad_message", "A message has 1 to 8,000 characters.")
        if client_id in conversation.seen:
            return conversation.seen[client_id]
        run = self._run_for(conversation, text, visitor)
        message = {
            "id": secrets.token_hex(4),
            "author": "customer",
            "name": "",
            "text": text,
            "client_id": client_id,
            "label": "customer",
        }
        event = conversation.emit("message", message, run=run.id)
        conversation.seen[client_id] = {
            "run_id": event["run"],
            "message_id": message["id"],
            "seq": event["seq"],
        }
        if run.id not in conversation.runs:
            scenario = silence if conversation.posture == "off" else scenario_for(text)
            conversation.runs[run.id] = asyncio.create_task(run.play(scenario))
        return conversation.seen[client_id]

    def _run_for(self, conversation: Conversation, text: str, visitor: str) -> Run:
        """Return the run that answers a message: the one at work, which it joins, or a new one."""
        run = conversation.latest
        if run is None or run.over:
            run = Run(self, conversation, text, self.session(visitor)["asker"])
            conversation.latest = run
        else:
            run.text += f" / {text}"
        return run

    def ask_person(self, conversation: Conversation) -> None:
        opens = "" if self.controls.open else "Monday 9:00"
        ticket = self.ticket_of(conversation)
        passed = "This conversation."
        data = {"reason": "customer_request", "ticket": ticket, "opens": opens, "text": passed}
        conversation.emit("escalated", data)
        when = f"is back {opens}" if opens else "is at work now"
        keep = f"Your ticket number is {ticket}. Our team {when} and answers here."
        text = f"I have passed this talk to a person.\n\n{keep}"
        conversation.emit("message", desk_says(text))

    def cancel(self, run: str) -> None:
        for conversation in self.conversations.values():
            if run in conversation.runs:
                conversation.runs[run].cancel()

    # -- who asks --

    def session(self, visitor: str) -> dict[str, Any]:
        return self.sessions.get(visitor, {"asker": "anonymous", "name": "", "proved_orders": []})

    def login(self, visitor: str, email: str) -> dict[str, Any]:
        person = next((c for c in CUSTOMERS if c["email"] == email), None)
        if person is None:
            raise Refusal(
                401, "wrong_login", "E-mail and password do not match. Check both and try again."
            )
        self.sessions[visitor] = {"asker": "signed_in", "name": person["name"], "proved_orders": []}
        return self.sessions[visitor]

    def prove(self, visitor: str, body: dict[str, Any]) -> dict[str, Any]:
        if (body.get("order"), body.get("email")) != ("1042", "emma@example.com"):
            raise Refusal(
                403,
                "not_proved",
                "No order with this number and e-mail. Check both in your confirmation.",
            )
        self.sessions[visitor] = {
            "asker": "guest_with_order",
            "name": "",
            "proved_orders": ["1042"],
        }
        return self.sessions[visitor]

    # -- steering --

    def control(self, body: dict[str, Any]) -> None:
        for name in ("pace", "refuse_sockets", "swallow_acks", "refuse_messages", "open"):
            if name in body:
                setattr(self.controls, name, body[name])
        if body.get("drop_sockets"):
            for task in list(self.sockets):
                task.cancel()
        if "hold" in body:
            (self.gate.clear if body["hold"] else self.gate.set)()
        for id_, event in body.get("emit", []):
            if event["type"] == "posture.changed":
                self.conversations[id_].posture = event["data"]["posture"]
            self.conversations[id_].emit(event["type"], event["data"], run=event.get("run"))
