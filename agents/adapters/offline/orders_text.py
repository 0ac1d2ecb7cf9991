"""An order's facts as sentences. Every figure is taken from the facts and none is worked out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from agents.adapters.offline import phrases
from agents.adapters.offline.findings import Facts
from agents.adapters.offline.words import clip, join_and, say_day, say_days

AWAITED = frozenset({"pending", "items_changed", "processed", "shipped"})
_ITEMS_SHOWN = 3
_EVENT_CHARS = 160
_LINK = re.compile(r"(?:https?://|www\.)\S+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Standing:
    """How an order stands: our record, and what the carriers say when they were asked.

    `away` are carriers that could not be reached. `trouble` is late, lost, held_up or nothing.
    """

    facts: Facts
    parcels: tuple[Facts, ...]
    away: tuple[str, ...]

    @property
    def status(self) -> str:
        return str(self.facts.get("status", ""))

    @property
    def is_awaited(self) -> bool:
        return self.status in AWAITED

    @property
    def days_late(self) -> int:
        late = self.facts.get("days_late")
        return late if isinstance(late, int) and self.is_awaited else 0

    @property
    def is_lost(self) -> bool:
        return self.is_awaited and any(_says(parcel, "lost") for parcel in self.parcels)

    @property
    def is_held(self) -> bool:
        return self.is_awaited and any(_says(parcel, "held_up") for parcel in self.parcels)

    @property
    def trouble(self) -> str:
        if self.is_lost:
            return "lost"
        return "late" if self.days_late > 0 else ""


def stand(facts: Facts, tracking: Any) -> Standing:
    """Put an order's facts and the answer of a tracking call together.

    `tracking` is the data of the call, an error that carries our record as `known` included.
    """
    data = tracking if isinstance(tracking, Mapping) else {}
    known = data.get("known")
    if isinstance(known, Mapping):
        data = known
    parcels = [p for p in data.get("shipments") or () if isinstance(p, Mapping)]
    if not parcels:
        parcels = [p for p in facts.get("shipments") or () if isinstance(p, Mapping)]
    away = [
        str(p.get("carrier") or "The carrier") for p in parcels if p.get("carrier_reached") is False
    ]
    return Standing(facts, tuple(parcels), tuple(dict.fromkeys(away)))


def name_order(facts: Facts) -> str:
    """Return "Order 1042 (Squall Rain Jacket)"."""
    items = _item_names(facts.get("items"))
    return phrases.ORDER_NAME.format(
        number=facts.get("number", ""), items=f" ({items})" if items else ""
    )


def list_line(row: Facts) -> str:
    """Return one order of a list, as a line to choose from."""
    placed = say_day(row.get("placed_on"))
    items = _item_names(row.get("items"))
    state = str(row.get("status_text") or row.get("status") or "").strip()
    return phrases.ORDER_LINE.format(
        number=row.get("number", ""),
        placed=f", placed {placed}" if placed else "",
        state=state[:1].lower() + state[1:],
        items=f" ({items})" if items else "",
    )


def tell_standing(standing: Standing) -> list[str]:
    """Return how an order stands, with its parcels and the carrier's word."""
    said = [_state_sentence(standing.facts), *_delivery_sentences(standing)]
    if len(standing.parcels) > 1:
        said += [_parcel_sentence(parcel) for parcel in standing.parcels]
    if standing.is_awaited:
        for parcel in standing.parcels:
            if parcel.get("status") != "delivered" or len(standing.parcels) == 1:
                said += _carrier_sentences(parcel)
        said += [_away_sentence(standing.away)] if standing.away else []
    return [sentence for sentence in said if sentence]


def tell_payment(facts: Facts) -> list[str]:
    """Return what an order costs and how it was paid."""
    payments = [p for p in facts.get("payments") or () if isinstance(p, Mapping)]
    said = [phrases.TOTAL.format(total=facts["total"])] if facts.get("total") else []
    for payment in payments:
        if payment.get("status") == "completed" and payment.get("amount"):
            on = say_day(payment.get("on"))
            said.append(
                phrases.PAID.format(
                    amount=payment["amount"],
                    method=payment.get("method") or "the chosen payment method",
                    on=f" on {on}" if on else "",
                )
            )
    return said


def tell_refunds(facts: Facts) -> list[str]:
    """Return what was paid back on an order, or that nothing was."""
    refunds = [r for r in facts.get("refunds") or () if isinstance(r, Mapping)]
    if not refunds:
        return [phrases.NO_REFUND.format(order=f"order {facts.get('number', '')}")]
    return [_refund_sentence(refund) for refund in refunds]


def tell_return_window(facts: Facts, today: str) -> list[str]:
    """Return until when an order may be sent back, if the facts tell."""
    last = facts.get("return_window_ends_on")
    day = say_day(last)
    if not day:
        return []
    phrase = phrases.RETURN_UNTIL if str(last) >= today else phrases.RETURN_OVER
    return [phrase.format(day=day)]


def carrier_words(parcel: Facts) -> tuple[str, str, str]:
    """Return the carrier's name, its latest event and the day of it; empty what is unknown."""
    report = parcel.get("carrier_report")
    report = report if isinstance(report, Mapping) else {}
    event = _LINK.sub("", str(report.get("last_event") or "")).strip()
    event = clip(" ".join(event.split()), _EVENT_CHARS).rstrip(" .!?")
    return str(parcel.get("carrier") or "The carrier"), event, say_day(report.get("at"))


def _state_sentence(facts: Facts) -> str:
    order = name_order(facts)
    phrase = phrases.ORDER_STATES.get(str(facts.get("status", "")))
    if phrase is None:
        state = str(facts.get("status_text") or facts.get("status") or "").rstrip(".")
        return phrases.ORDER_OTHER_STATE.format(order=order, state=state)
    delivered = say_day(facts.get("delivered_on"))
    return phrase.format(order=order, on=f" on {delivered}" if delivered else "")


def _delivery_sentences(standing: Standing) -> list[str]:
    facts = standing.facts
    promised = say_day(facts.get("promised_on"))
    late = facts.get("days_late")
    if standing.days_late > 0:
        days = say_days(standing.days_late)
        phrase = phrases.LATE if promised else phrases.LATE_UNDATED
        said = [phrase.format(day=promised, days=days)]
    elif standing.is_awaited:
        placed = say_day(facts.get("placed_on"))
        said = (
            [phrases.PLACED.format(day=placed)] if placed and standing.status != "shipped" else []
        )
        said += [phrases.PROMISED.format(day=promised)] if promised else []
    elif standing.status == "delivered" and isinstance(late, int) and late > 0:
        said = [phrases.CAME_LATE.format(days=say_days(late))]
    else:
        said = []
    return [
        *said,
        *([phrases.PARCEL_LOST] if standing.is_lost else []),
        *([phrases.PARCEL_HELD] if standing.is_held and not standing.is_lost else []),
    ]


def _parcel_sentence(parcel: Facts) -> str:
    items = join_and([str(item) for item in parcel.get("items") or ()])
    if not items:
        return ""
    state = phrases.PARCEL_STATES.get(str(parcel.get("status", "")), str(parcel.get("status", "")))
    on = say_day(parcel.get("delivered_on"))
    return phrases.PARCEL_OF_MANY.format(items=items, state=state, on=f" on {on}" if on else "")


def _carrier_sentences(parcel: Facts) -> Iterable[str]:
    carrier, event, on = carrier_words(parcel)
    code = str(parcel.get("tracking_number") or "")
    if event:
        yield phrases.LAST_SCAN.format(carrier=carrier, on=f", {on}" if on else "", event=event)
    report = parcel.get("carrier_report")
    if isinstance(report, Mapping):
        yield from _carrier_differs(parcel, report, carrier)
    if code:
        yield phrases.TRACKING.format(
            code=code, carrier=f" ({carrier})" if parcel.get("carrier") else ""
        )


def _carrier_differs(parcel: Facts, report: Facts, carrier: str) -> Iterable[str]:
    expected = say_day(report.get("estimated_on"))
    if expected and report.get("estimated_on") != parcel.get("promised_on"):
        yield phrases.ESTIMATE.format(carrier=carrier, day=expected)
    theirs, ours = str(report.get("status", "")), str(parcel.get("status", ""))
    if theirs == "delivered" and ours != "delivered":
        state = phrases.PARCEL_STATES[theirs]
        yield phrases.CARRIER_DIFFERS.format(carrier=carrier, state=state)


def _away_sentence(away: tuple[str, ...]) -> str:
    return phrases.CARRIER_AWAY.format(carrier=join_and(list(away)))


def _refund_sentence(refund: Facts) -> str:
    phrase = phrases.REFUND_STATES.get(
        str(refund.get("status", "")), phrases.REFUND_STATES["pending"]
    )
    on = say_day(refund.get("on"))
    return phrase.format(
        amount=refund.get("amount", ""),
        method=refund.get("method") or "the original payment method",
        on=f" on {on}" if on else "",
    )


def _item_names(items: Any) -> str:
    names = [_item_name(item) for item in items or ()]
    shown = [name for name in names if name][:_ITEMS_SHOWN]
    return ", ".join(shown) + (" and more" if len(names) > _ITEMS_SHOWN else "")


def _item_name(item: Any) -> str:
    """Return an item's name from a line of a list ("1 × Mug") or from its facts."""
    if isinstance(item, Mapping):
        name, quantity = str(item.get("name", "")), item.get("quantity")
        return f"{quantity} × {name}" if isinstance(quantity, int) and quantity > 1 else name
    text = str(item)
    return text.removeprefix("1 × ")


def _says(parcel: Facts, status: str) -> bool:
    report = parcel.get("carrier_report")
    theirs = report.get("status") if isinstance(report, Mapping) else None
    return status in {parcel.get("status"), theirs}
