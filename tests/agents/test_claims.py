"""Claims are read alike however they are spelled."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.claims import collect_facts, find_claims, parse_number
from dsupport.lib.money import Money


def keys(text: str) -> set[tuple[str, str]]:
    return {claim.key for claim in find_claims(text)}


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        ("49.90", "49.90"), ("49,90", "49.90"), ("1,299.00", "1299.00"), ("1.299,00", "1299.00"),
        ("5,800", "5800"), ("5.800", "5800"), ("1 299,50", "1299.50"), ("0.125", "0.125"),
        ("7", "7"), ("1,234,567", "1234567"),
    ],
)  # fmt: skip
def test_number_reads_both_ways_of_writing(raw, value):
    assert parse_number(raw) == Decimal(value)


@pytest.mark.parametrize(
    "text", ["€49.90", "EUR 49.90"[4:] + " EUR", "49,90 euro", "49.9 €", "€ 49.90"]
)
def test_amount_has_one_key(text):
    assert ("amount", "49.9 EUR") in keys(f"It costs {text}, I think")


@pytest.mark.parametrize(
    "text",
    ["2026-10-05", "5 October 2026", "5th of October 2026", "October 5, 2026", "Oct 5th 2026"],
)
def test_date_has_one_key(text):
    assert ("date", "2026-10-05") in keys(f"promised for {text}.")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("within 30 days", {("span", "30 day")}),
        ("within thirty calendar days", {("span", "30 day")}),
        ("5 to 10 business days", {("span", "5 day"), ("span", "10 day")}),
        ("2-3 weeks", {("span", "2 week"), ("span", "3 week")}),
        ("a 20% discount", {("span", "20 percent")}),
    ],
)
def test_span_is_read_with_its_unit(text, expected):
    assert keys(text) == expected


@given(st.integers(0, 10**9), st.sampled_from(["EUR", "USD", "JPY"]))
def test_amount_as_shown_supports_itself(minor, currency):
    shown = str(Money(minor, currency))
    facts = collect_facts([], [{"total": shown}])
    claims = find_claims(f"You paid {shown} for it.")
    assert [claim for claim in claims if claim.kind == "amount"]
    assert all(facts.supports(claim) for claim in claims)


@given(st.dates(date(2000, 1, 1), date(2099, 12, 31)))
def test_date_in_a_result_supports_its_long_form(day):
    facts = collect_facts([], [{"promised_on": day.isoformat()}])
    claims = find_claims(f"It was promised for {day.day} {day:%B} {day.year}.")
    assert claims
    assert all(facts.supports(claim) for claim in claims)


@given(st.integers(1, 400), st.integers(1, 400))
def test_days_in_a_result_support_only_that_number(days, other):
    facts = collect_facts([], [{"days_late": days}])
    (claim,) = find_claims(f"It is {other} days late.")
    assert facts.supports(claim) is (days == other)


@given(st.text(max_size=300))
def test_any_text_supports_its_own_claims(text):
    facts = collect_facts([text])
    assert all(facts.supports(claim) for claim in find_claims(text))
