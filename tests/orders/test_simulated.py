from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsupport.contract.errors import PortError
from orders.adapters import simulated
from orders.adapters.simulated import Faults, SimulatedCarrier, faulty, set_faults, tracking_code
from orders.ports import CarrierReport
from orders.rules import ParcelStatus

TEMPLATES = ["NVP##########EU", "TG############", "KS-####-####-####"]
DAY = date(2026, 10, 13)


def carrier(faults: Faults = Faults(), slept: list[float] | None = None) -> SimulatedCarrier:  # noqa: B008
    return SimulatedCarrier(
        faults=lambda: faults, sleep=slept.append if slept is not None else lambda _seconds: None
    )


def code(status: ParcelStatus = ParcelStatus.IN_TRANSIT) -> str:
    return tracking_code(TEMPLATES[0], status=status, scanned_on=DAY, serial=7)


@given(
    template=st.sampled_from(TEMPLATES),
    status=st.sampled_from([status for status in ParcelStatus if status != "unknown"]),
    day=st.dates(date(2020, 1, 1), date(2046, 1, 1)),
    serial=st.integers(0, 999),
)
def test_tracking_code_carries_its_story(
    template: str, status: ParcelStatus, day: date, serial: int
) -> None:
    number = tracking_code(template, status=status, scanned_on=day, serial=serial)
    assert len(number) == len(template)
    report = carrier().track("Swift", number, timeout=1.0)
    assert report.status is status
    assert report.at == datetime(day.year, day.month, day.day, 12, tzinfo=UTC)
    assert report.last_event


@pytest.mark.parametrize(
    "number", ["", "357962501027", "SW123", "NVP1234567890EU", "no digits", "NVP٣٣٣٣٣٣٣٣٣٣EU"]
)
def test_carrier_knows_nothing_of_other_numbers(number: str) -> None:
    report = carrier().track("Swift", number, timeout=1.0)
    assert report.status is ParcelStatus.UNKNOWN
    assert report.at is None


def test_mistyped_digit_makes_a_number_unknown() -> None:
    number = code()
    for place, char in enumerate(number):
        if char.isdigit():
            wrong = f"{number[:place]}{(int(char) + 1) % 10}{number[place + 1 :]}"
            report = carrier().track("Swift", wrong, timeout=1.0)
            assert report.status is ParcelStatus.UNKNOWN


def test_parcel_on_its_way_has_an_estimate() -> None:
    assert carrier().track("Swift", code(), timeout=1.0).estimated_on == date(2026, 10, 15)
    delivered = carrier().track("Swift", code(ParcelStatus.DELIVERED), timeout=1.0)
    assert delivered.estimated_on is None


@pytest.mark.parametrize(
    ("template", "serial", "day"),
    [("##########", 1, DAY), ("AB########", 1, DAY), (TEMPLATES[0], 1000, DAY),
     (TEMPLATES[0], -1, DAY), (TEMPLATES[0], 1, date(2019, 12, 31))],
)  # fmt: skip
def test_tracking_code_without_room_is_refused(template: str, serial: int, day: date) -> None:
    with pytest.raises(ValueError):
        tracking_code(template, status=ParcelStatus.LOST, scanned_on=day, serial=serial)


def test_carrier_that_is_down_is_unavailable_and_worth_a_retry() -> None:
    with pytest.raises(PortError) as caught:
        carrier(Faults(down=True)).track("Swift", code(), timeout=1.0)
    assert caught.value.code == "unavailable"
    assert caught.value.retryable


def test_slow_carrier_answers_within_the_timeout() -> None:
    slept: list[float] = []
    report = carrier(Faults(delay=0.5), slept).track("Swift", code(), timeout=1.0)
    assert report.status is ParcelStatus.IN_TRANSIT
    assert slept == [0.5]


def test_too_slow_carrier_times_out_at_the_timeout() -> None:
    slept: list[float] = []
    with pytest.raises(PortError) as caught:
        carrier(Faults(delay=60.0), slept).track("Swift", code(), timeout=1.0)
    assert caught.value.code == "timeout"
    assert slept == [1.0]


def test_lying_carrier_says_what_it_is_told_to() -> None:
    lie = Faults(status=ParcelStatus.DELIVERED, says="Left with a neighbour")
    report = carrier(lie).track("Swift", code(), timeout=1.0)
    assert report == CarrierReport(
        status=ParcelStatus.DELIVERED,
        last_event="Left with a neighbour",
        at=datetime(2026, 10, 13, 12, tzinfo=UTC),
    )


def test_faults_of_a_block_end_with_it() -> None:
    with faulty(Faults(down=True)), pytest.raises(PortError):
        SimulatedCarrier().track("Swift", code(), timeout=1.0)
    assert SimulatedCarrier().track("Swift", code(), timeout=1.0).status is ParcelStatus.IN_TRANSIT


def test_faults_of_a_running_desk_reach_every_process() -> None:
    set_faults(Faults(status=ParcelStatus.LOST))
    try:
        # A fresh object, as in another process, finds them in the shared cache.
        report = SimulatedCarrier().track("Swift", code(), timeout=1.0)
    finally:
        set_faults(None)
    assert report.status is ParcelStatus.LOST
    assert simulated.present_faults() == Faults()
