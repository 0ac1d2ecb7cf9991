"""How an order can go: one function for each course of events, from placing to today."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, timedelta

from dsupport.demo.draft import Draft, Trip, refund
from dsupport.demo.facts import OrderFacts, ParcelFacts, sum_of
from orders.rules import OrderStatus, ParcelStatus, PaymentStatus

_MINUTE = timedelta(minutes=1)
_OFFICE_HOURS = (9, 16)


# --- Before it leaves -------------------------------------------------------------------------
def pending(draft: Draft) -> OrderFacts:
    return _waiting(draft, OrderStatus.PENDING, (5, 20 * 60))


def items_changed(draft: Draft) -> OrderFacts:
    return _waiting(draft, OrderStatus.ITEMS_CHANGED, (2 * 60, 22 * 60))


def processed(draft: Draft) -> OrderFacts:
    return _waiting(draft, OrderStatus.PROCESSED, (20 * 60, 40 * 60))


def cancelled(draft: Draft) -> OrderFacts:
    """A card's hold is released and no payment appears; what was taken at once goes back."""
    day = _worked_day(draft, 3, 150)
    placed_at = draft.world.calendar.moment(day, draft.hours.placing, draft.rng)
    cancelled_at = placed_at + draft.rng.randint(10, 9 * 60) * _MINUTE
    taken = tuple(p for p in draft.pay(placed_at, None) if p.status is PaymentStatus.COMPLETED)
    amount = sum_of((payment.amount for payment in taken), draft.currency)
    back = refund(taken, amount, cancelled_at)
    return draft.order(OrderStatus.CANCELLED, placed_at, (), taken + back)


# --- On its way -------------------------------------------------------------------------------
def in_transit(draft: Draft) -> OrderFacts:
    trip = draft.shipped(_worked_day(draft, 1, 2))
    return travelling(draft, trip, ParcelStatus.IN_TRANSIT, draft.world.ago(1))


def out_for_delivery(draft: Draft) -> OrderFacts:
    trip = draft.shipped(_worked_day(draft, 2, 2))
    return travelling(draft, trip, ParcelStatus.OUT_FOR_DELIVERY, draft.world.today)


def late(draft: Draft) -> OrderFacts:
    trip = draft.promised(_worked_day(draft, 1, 9))
    return travelling(draft, trip, ParcelStatus.IN_TRANSIT, draft.world.ago(1))


def held_up(draft: Draft) -> OrderFacts:
    trip = draft.promised(_worked_day(draft, 1, 4))
    return travelling(draft, trip, ParcelStatus.HELD_UP, draft.world.ago(2))


def lost(draft: Draft) -> OrderFacts:
    trip = draft.promised(_worked_day(draft, 12, 25))
    return travelling(draft, trip, ParcelStatus.LOST, trip.shipped_on)


def lost_and_refunded(draft: Draft) -> OrderFacts:
    """The carrier never found it, and the customer chose the money."""
    trip = draft.promised(_worked_day(draft, 35, 60))
    told = travelling(draft, trip, ParcelStatus.LOST, trip.shipped_on)
    paid_back_at = _moment_after(draft, trip.promised_on, 10)
    return draft.order(
        told.status,
        told.placed_at,
        told.parcels,
        told.payments + refund(told.payments, told.total, paid_back_at),
        refund_reason="lost parcel",
    )


def returned_to_sender(draft: Draft) -> OrderFacts:
    """Nobody could take it, so it came back and was paid back."""
    trip = draft.promised(_worked_day(draft, 30, 90))
    told = travelling(draft, trip, ParcelStatus.RETURNED, trip.promised_on)
    paid_back_at = _moment_after(draft, trip.promised_on, 7)
    return draft.order(
        OrderStatus.RETURNED,
        told.placed_at,
        told.parcels,
        told.payments + refund(told.payments, told.total, paid_back_at),
        refund_reason="could not be delivered",
    )


def half_delivered(draft: Draft) -> OrderFacts:
    """The ordinary goods have come; the large item, which travels alone, is still under way."""
    trip = draft.arriving(_worked_day(draft, 1, 1))
    return split(draft, shipped_on=trip.shipped_on, arrived_on=_worked_day(draft, 1, 1))


def split(draft: Draft, *, shipped_on: date, arrived_on: date) -> OrderFacts:
    first = replace(draft.shipped(shipped_on), delivered_on=arrived_on)
    large = _still_in_time(draft, shipped_on)
    parcels = (
        draft.parcel(ParcelStatus.DELIVERED, first, contents=draft.positions(large=False)),
        draft.parcel(
            ParcelStatus.IN_TRANSIT,
            large,
            contents=draft.positions(large=True),
            scanned_on=max(draft.world.ago(1), large.shipped_on),
            extra=1,
        ),
    )
    return _shipped_order(draft, OrderStatus.SHIPPED, first, parcels)


def _still_in_time(draft: Draft, shipped_on: date) -> Trip:
    """Return the large item's trip, begun late enough that a week-end does not make it late."""
    trip = draft.shipped(shipped_on, draft.terms.large_item)
    while trip.promised_on <= draft.world.ago(0):
        shipped_on = draft.world.calendar.after(shipped_on, 1)
        trip = draft.shipped(shipped_on, draft.terms.large_item)
    return trip


# --- Delivered --------------------------------------------------------------------------------
def delivered(draft: Draft) -> OrderFacts:
    return arrived(draft, draft.arriving(_worked_day(draft, 1, 170)))


def arrived(draft: Draft, trip: Trip, status: OrderStatus = OrderStatus.DELIVERED) -> OrderFacts:
    """Return an order whose one parcel came on the trip's last day."""
    parcels = (draft.parcel(ParcelStatus.DELIVERED, trip),)
    return _shipped_order(draft, status, trip, parcels)


def delivered_late(draft: Draft) -> OrderFacts:
    trip = draft.promised(_worked_day(draft, 14, 150))
    came_on = draft.world.calendar.after(trip.promised_on, draft.rng.randint(1, 5))
    return arrived(draft, Trip(trip.shipped_on, trip.promised_on, came_on))


def delivered_in_parts(draft: Draft) -> OrderFacts:
    """The ordinary goods came first, the large item days later; both in time."""
    calendar, large = draft.world.calendar, draft.terms.large_item
    last_on = _worked_day(draft, 3, 120)
    shipped_on = calendar.before(last_on, draft.rng.randint(large.min_days, large.max_days))
    soonest, latest = draft.service.min_days, min(draft.service.max_days, large.min_days - 1)
    taken = draft.rng.randint(soonest, latest)
    small = draft.shipped(shipped_on)
    first = Trip(shipped_on, small.promised_on, calendar.after(shipped_on, taken))
    second = Trip(shipped_on, calendar.after(shipped_on, large.max_days), last_on)
    parcels = (
        draft.parcel(ParcelStatus.DELIVERED, first, contents=draft.positions(large=False)),
        draft.parcel(ParcelStatus.DELIVERED, second, contents=draft.positions(large=True), extra=1),
    )
    return _shipped_order(draft, OrderStatus.DELIVERED, second, parcels)


def paid_at_second_try(draft: Draft) -> OrderFacts:
    """The first payment was declined; another one went through."""
    told = delivered(draft)
    declined = replace(
        told.payments[0], reference="P0", status=PaymentStatus.FAILED, at=told.placed_at
    )
    return draft.order(told.status, told.placed_at, told.parcels, (declined, *told.payments))


# --- Back again -------------------------------------------------------------------------------
def return_requested(draft: Draft) -> OrderFacts:
    trip = draft.arriving(_worked_day(draft, 2, 26))
    return arrived(draft, trip, OrderStatus.RETURN_REQUESTED)


def returned(draft: Draft) -> OrderFacts:
    """All came back in time and was paid back, without the extra cost of express."""
    trip = draft.arriving(_worked_day(draft, 24, 150))
    return _returned(draft, trip, business_days=draft.rng.randint(5, 10), is_booked=True)


def return_arrived(draft: Draft) -> OrderFacts:
    """It is back in the warehouse and checked; the money is on its way."""
    trip = draft.arriving(_worked_day(draft, 12, 18))
    return _returned(draft, trip, business_days=3, is_booked=False)


def partly_refunded(draft: Draft) -> OrderFacts:
    """One piece arrived damaged and was paid back; the rest stays with the customer."""
    trip = draft.arriving(_worked_day(draft, 11, 120))
    told = arrived(draft, trip)
    line = draft.rng.choice(draft.lines)
    paid_back_at = _moment_after(draft, trip.delivered_on or trip.promised_on, 3)
    return draft.order(
        told.status,
        told.placed_at,
        told.parcels,
        told.payments + refund(told.payments, line.price, paid_back_at),
        refund_reason=f"damaged on arrival: {line.name}",
    )


def exchange_requested(draft: Draft) -> OrderFacts:
    trip = draft.arriving(_worked_day(draft, 2, 24))
    return arrived(draft, trip, OrderStatus.EXCHANGE_REQUESTED)


def exchanged(draft: Draft) -> OrderFacts:
    trip = draft.arriving(_worked_day(draft, 25, 140))
    return arrived(draft, trip, OrderStatus.EXCHANGED)


# --- What they share --------------------------------------------------------------------------
def waiting_since(draft: Draft, placed_at: datetime, status: OrderStatus) -> OrderFacts:
    return draft.order(status, placed_at, draft.waiting_parcels(), draft.pay(placed_at, None))


def _waiting(draft: Draft, status: OrderStatus, minutes: tuple[int, int]) -> OrderFacts:
    placed_at = draft.world.now - draft.rng.randint(*minutes) * _MINUTE
    return waiting_since(draft, placed_at.replace(second=0, microsecond=0), status)


def _worked_day(draft: Draft, nearest: int, furthest: int) -> date:
    """Return a business day that many days ago, or the last one before."""
    day = draft.world.ago(draft.rng.randint(nearest, furthest))
    return draft.world.calendar.latest_worked(day)


def _moment_after(draft: Draft, day: date, business_days: int) -> datetime:
    calendar = draft.world.calendar
    return calendar.moment(calendar.after(day, business_days), _OFFICE_HOURS, draft.rng)


def travelling(draft: Draft, trip: Trip, status: ParcelStatus, scanned_on: date) -> OrderFacts:
    parcel = draft.parcel(status, trip, scanned_on=max(scanned_on, trip.shipped_on))
    return _shipped_order(draft, OrderStatus.SHIPPED, trip, (parcel,))


def _shipped_order(
    draft: Draft, status: OrderStatus, trip: Trip, parcels: tuple[ParcelFacts, ...]
) -> OrderFacts:
    return paid(draft, status, draft.placed_before(trip), parcels)


def paid(
    draft: Draft, status: OrderStatus, placed_at: datetime, parcels: tuple[ParcelFacts, ...]
) -> OrderFacts:
    """Return an order of which something has left, so that its payments are complete."""
    payments = draft.pay(placed_at, parcels[0].shipped_at)
    return draft.order(status, placed_at, parcels, payments)


def _returned(draft: Draft, trip: Trip, *, business_days: int, is_booked: bool) -> OrderFacts:
    told = arrived(draft, trip, OrderStatus.RETURNED)
    amount = told.goods if draft.express else told.total
    at = _moment_after(draft, trip.delivered_on or trip.promised_on, business_days)
    status = PaymentStatus.COMPLETED if is_booked else PaymentStatus.PENDING
    back = refund(told.payments, amount, at, status)
    return draft.order(told.status, told.placed_at, told.parcels, told.payments + back)
