"""A canned shop for the offline rules: six tools over fixed facts, played by the real engine."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import date, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from agents.adapters.offline import OfflineRules
from agents.adapters.offline.words import content_stems
from agents.answer import AnswerForm
from agents.assembly import build_desk
from agents.context import Said, assemble
from agents.evidence import Evidence
from agents.intents import intent_labels
from agents.review import produce_answer
from agents.understanding.entities import same_order
from dsupport.contract.principal import Principal, Proof
from dsupport.contract.tools import ErrorCategory, Source, ToolArguments, ToolResult, ToolSpec
from knowledge.adapters.minilm import MiniLM
from orders.tools import RequestChange
from tests.agents.engine import make_scope

TODAY = date(2026, 10, 15)  # a Thursday

ARTICLES = json.loads((Path(__file__).parent / "articles.json").read_text(encoding="utf-8"))

PRODUCTS = [
    {
        "name": "Squall Rain Jacket",
        "description": "Waterproof to 20,000 mm with taped seams. Weighs 420 g.",
        "variants": [
            {"sku": "J-1", "options": {"colour": "Moss", "size": "M"}, "price": "€149.00",
             "other_prices": [], "available": True},
            {"sku": "J-2", "options": {"colour": "Rust", "size": "M"}, "price": "€149.00",
             "other_prices": [], "available": False},
        ],
        "more_variants": 0,
    },
    {
        "name": "Enamel Mug",
        "description": "Steel mug with enamel, 350 ml. Dishwasher safe.",
        "variants": [
            {"sku": "M-1", "options": {}, "price": "€12.00", "other_prices": [], "available": True}
        ],
        "more_variants": 0,
    },
]  # fmt: skip


def _day(offset: int | None) -> str | None:
    return None if offset is None else (TODAY + timedelta(days=offset)).isoformat()


def make_order(
    number: str,
    status: str,
    *items: str,
    placed: int,
    promised: int | None = None,
    delivered: int | None = None,
    late: int | None = None,
    text: str = "",
    refunds: Sequence[dict[str, Any]] = (),
) -> dict[str, Any]:
    parcels = []
    if status in {"shipped", "delivered"}:
        state = "delivered" if status == "delivered" else "in_transit"
        parcels = [
            {
                "carrier": "Norvia Parcel",
                "tracking_number": f"NVP000000{number}EU",
                "status": state,
                "shipped_on": _day(placed + 1),
                "promised_on": _day(promised),
                "delivered_on": _day(delivered),
                "days_late": late,
                "items": [f"1 × {name}" for name in items],
            }
        ]
    return {
        "number": number,
        "status": status,
        "status_text": text or status.capitalize(),
        "placed_on": _day(placed),
        "currency": "EUR",
        "total": "€99.80",
        "items": [
            {"name": name, "options": {}, "quantity": 1, "price": "€49.90", "sku": "X"}
            for name in items
        ],
        "shipments": parcels,
        "payments": [
            {
                "method": "Visa ending 4242",
                "amount": "€99.80",
                "status": "completed",
                "on": _day(placed),
            }
        ],
        "refunds": list(refunds),
        "promised_on": _day(promised),
        "delivered_on": _day(delivered),
        "days_late": late,
        "late": bool(late),
        "return_window_ends_on": None if delivered is None else _day(delivered + 30),
    }


LATE = make_order("1042", "shipped", "Squall Rain Jacket", placed=-16, promised=-10, late=10)
PENDING = make_order("1050", "pending", "Brass Lantern", placed=-1, promised=4, late=0)
DELIVERED = make_order(
    "1033", "delivered", "Larch Tent", placed=-20, promised=-13, delivered=-14, late=0
)
MONDAY = make_order("1060", "shipped", "Enamel Mug", placed=-3, promised=2, late=0)
ORDERS = (PENDING, MONDAY, LATE, DELIVERED)


class _Query(ToolArguments):
    query: str


class _Number(ToolArguments):
    order_number: str


class _List(ToolArguments):
    bought_on: str | None = None
    status: str | None = None


class _Ticket(ToolArguments):
    reason: str
    summary: str
    order_number: str | None = None


@dataclass
class Shop:
    """What the canned tools answer, and what they were asked."""

    orders: Sequence[dict[str, Any]] = ORDERS
    carrier_down: bool = False
    search_down: bool = False
    ticket_fails: bool = False
    already_open: bool = False
    gate_open: Sequence[str] = ()  # orders that the gate takes a request for
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def tools(self) -> dict[str, ToolSpec]:
        made = (
            ("search_kb", _Query, self._search, {}),
            ("get_product", _Query, self._product, {}),
            ("list_my_orders", _List, self._list, {"personal": True}),
            ("get_order", _Number, self._order, {"personal": True}),
            ("track_shipment", _Number, self._track, {"personal": True}),
            ("request_change", RequestChange, self._change, {"personal": True, "writes": True}),
            ("create_ticket", _Ticket, self._ticket, {"writes": True}),
        )
        return {
            name: ToolSpec(name, name, schema, body, **more) for name, schema, body, more in made
        }

    def names(self) -> list[str]:
        return [name for name, _ in self.calls]

    def asked(self, tool: str) -> list[dict[str, Any]]:
        return [arguments for name, arguments in self.calls if name == tool]

    def _note(self, tool: str, arguments: ToolArguments) -> None:
        self.calls.append((tool, arguments.model_dump(exclude_none=True)))

    def _change(self, arguments, _context) -> ToolResult:
        """Show a card for the orders whose gate is open; the gate refuses all others."""
        self._note("request_change", arguments)
        if arguments.order_number not in self.gate_open:
            return ToolResult.error(ErrorCategory.CONFLICT, "not_packed", "It is packed.")
        shown = f"{arguments.action.capitalize()} order {arguments.order_number}"
        return ToolResult(data={"shown": shown}, card={"id": "c1", "title": shown})

    def _search(self, arguments, _context) -> ToolResult:
        self._note("search_kb", arguments)
        if self.search_down:
            return ToolResult.error(ErrorCategory.UNAVAILABLE, "search_down", "Later.")
        wanted = content_stems(arguments.query)
        scored = [(_coverage(wanted, row), row) for row in ARTICLES]
        scored.sort(key=lambda pair: (-pair[0], pair[1]["doc_id"]))
        found = [(score, row) for score, row in scored[:3] if score >= 0.34]
        best = found[0][0] if found else 0.0
        band = "answer" if best >= 0.5 else "may_help" if found else "nothing_relevant_found"
        sources = tuple(
            Source(row["doc_id"], row["title"], row["heading"], 1, score, row["text"])
            for score, row in found
        )
        hits = [asdict(source) for source in sources]
        data = {"hits": hits, "cutoff": 0.34, "answerable": band}
        return ToolResult(data=data, sources=sources, trust="article")

    def _product(self, arguments, _context) -> ToolResult:
        self._note("get_product", arguments)
        wanted = content_stems(arguments.query)
        found = [p for p in PRODUCTS if wanted & content_stems(str(p["name"]))]
        return ToolResult(data={"products": found, "more": 0})

    def _list(self, arguments, _context) -> ToolResult:
        self._note("list_my_orders", arguments)
        kept = [o for o in self.orders if arguments.bought_on in {None, o["placed_on"]}]
        head = ("number", "status", "status_text", "placed_on", "currency", "total", "promised_on",
                "days_late", "late")  # fmt: skip
        rows = [
            {
                **{key: order[key] for key in head},
                "items": [f"1 × {i['name']}" for i in order["items"]],
            }
            for order in kept
        ]
        return ToolResult(data={"orders": rows, "more": False})

    def _find(self, number: str) -> dict[str, Any] | None:
        return next((o for o in self.orders if same_order(str(o["number"]), number)), None)

    def _order(self, arguments, _context) -> ToolResult:
        self._note("get_order", arguments)
        order = self._find(arguments.order_number)
        return ToolResult(data=order) if order else _not_found()

    def _track(self, arguments, _context) -> ToolResult:
        self._note("track_shipment", arguments)
        order = self._find(arguments.order_number)
        if order is None:
            return _not_found()
        event = "Arrived at the depot in Venlo"
        report = {"status": "in_transit", "last_event": event, "at": _day(-5), "estimated_on": None}
        parcels = [
            {**parcel, "carrier_reached": not self.carrier_down,
             "carrier_report": None if self.carrier_down else report}
            for parcel in order["shipments"]
        ]  # fmt: skip
        head = (
            "number",
            "status",
            "status_text",
            "promised_on",
            "delivered_on",
            "days_late",
            "late",
        )
        facts = {**{key: order[key] for key in head}, "shipments": parcels}
        if parcels and self.carrier_down:
            error = ToolResult.error(ErrorCategory.UNAVAILABLE, "carrier_unavailable", "Not now.")
            return replace(error, data={**error.data, "known": facts})
        return ToolResult(data=facts, trust="outside")

    def _ticket(self, arguments, _context) -> ToolResult:
        self._note("create_ticket", arguments)
        if self.ticket_fails:
            return ToolResult.error(ErrorCategory.UNAVAILABLE, "gate_failed", "Not now.")
        data = {"ticket": "TKT-1001", "already_open": self.already_open, "queue": "Support"}
        return ToolResult(data=data, ticket="TKT-1001")


def _coverage(wanted: frozenset[str], row: dict[str, str]) -> float:
    known = content_stems(f"{row['title']} {row['heading']} {row['keys']}")
    return round(len(wanted & known) / max(1, len(wanted)), 3)


def _not_found() -> ToolResult:
    return ToolResult.error(ErrorCategory.NOT_FOUND, "order_not_found", "There is no such order.")


@cache
def embedder() -> MiniLM:
    return MiniLM()


@cache
def rules() -> OfflineRules:
    return OfflineRules(embedder=embedder())


_SIGNED_IN = Principal(tenant_id=1, proof=Proof.LOGIN, visitor="v", customer_id=7)
_GUEST = Principal(tenant_id=1, proof=Proof.ORDER, visitor="v", proved_orders=frozenset({1}))
_PRINCIPALS = {
    "signed_in": _SIGNED_IN,
    "guest_with_order": _GUEST,
    "anonymous": Principal(tenant_id=1, visitor="v"),
}


def make_context(asker: str = "signed_in", proved: Sequence[str] = (), *, desk_open: bool = False):
    return {
        "today": TODAY.isoformat(),
        "now": f"{TODAY.isoformat()}T21:00+02:00",
        "shop": "Larch Goods",
        "asker": asker,
        "asker_name": "Emma Visser" if asker == "signed_in" else "",
        "proved_orders": list(proved),
        "desk_open": desk_open,
        "desk_opens": "" if desk_open else "tomorrow 9:00",
        "intents": list(intent_labels()),
    }


@dataclass
class Talk:
    """A conversation with the canned shop, carried out by the real engine with all its checks."""

    shop: Shop = field(default_factory=Shop)
    asker: str = "signed_in"
    proved: Sequence[str] = ()
    architecture: str = "solo"
    desk_open: bool = False
    said: list[Said] = field(default_factory=list)
    rounds: list[dict[str, Any]] = field(default_factory=list)
    model_calls: int = 0

    def say(self, *words: str) -> AnswerForm:
        """Send messages and return the checked answer; `shop.calls` holds this turn's calls."""
        self.shop.calls.clear()
        context = make_context(self.asker, self.proved, desk_open=self.desk_open)
        earlier = [line.text for line in self.said if line.author == "customer"]
        evidence = Evidence(words=words, earlier_words=earlier, context=context)
        scope = replace(
            make_scope(rules()),
            principal=_PRINCIPALS[self.asker],
            context=context,
            evidence=evidence,
        )
        desk = build_desk(self.architecture, self.shop.tools(), intent_labels())
        form = produce_answer(desk, assemble(self.said, words), scope, "run")
        said = scope.trace.said
        self.rounds = [data for type_, _, data in said if type_ == "review.finished"]
        self.model_calls = scope.meter.usage.model_calls
        self.said += [Said("customer", word) for word in words]
        self.said.append(Said("assistant", form.answer, form.ticket_id or ""))
        return form
