"""A yes is a yes to exactly what is shown; a no, a wish and a question never are."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import pytest

from agents.consent import Consent, read_consent

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("DSUPPORT_TEST_DATA", ROOT.parent / "shared" / "data")) / "multidogo"


@pytest.mark.parametrize(
    "text",
    [
        "yes", "Yes!", "ok", "Sure, go ahead.", "yes please", "That's correct", "Absolutely",
        "ja", "Ja, bitte", "Ja genau", "Einverstanden", "klopt", "Akkoord", "ja graag", "doe maar",
        "yes confirm the order",
    ],
)  # fmt: skip
def test_plain_words_of_agreement_are_a_yes(text):
    assert read_consent(text) is Consent.YES


@pytest.mark.parametrize(
    "text", ["no", "No thanks", "nope", "not now", "never mind", "nein danke", "nee", "niet nu"]
)
def test_plain_words_of_refusal_are_a_no(text):
    assert read_consent(text) is Consent.NO


@pytest.mark.parametrize(
    "text",
    [
        "yes?", "is that ok?", "yes but not the shoes", "ok, only one of them", "yes 2 of them",
        "yes if it is free", "no, the other one", "don't do it", "sure later",
        "ok what happens then", "yes and change my address", "I said yes to the blue one",
        "ja aber nur eins", "nicht okay", "niet goed", "ja maar later", "not ok", "okay wait",
        "", "👍", "yes " * 7, "that is not correct", "thank you", "great",
    ],
)  # fmt: skip
def test_anything_else_is_neither(text):
    assert read_consent(text) is Consent.UNCLEAR


def test_real_refusals_are_never_read_as_consent_and_most_confirmations_are():
    files = sorted(DATA.glob("*.tsv"))
    if not files:
        pytest.skip(f"the chats are not at {DATA}")
    said: dict[str, list[str]] = {"confirmation": [], "rejection": []}
    for file in files:
        with file.open(encoding="utf-8", newline="") as rows:
            for row in csv.DictReader(rows, delimiter="\t"):
                if row["intent"] in said:
                    said[row["intent"]].append(row["utterance"])
    taken = [text for text in said["rejection"] if read_consent(text) is Consent.YES]
    assert len(said["rejection"]) > 300
    assert taken == []
    heard = sum(read_consent(text) is Consent.YES for text in said["confirmation"])
    assert heard / len(said["confirmation"]) >= 0.60
    assert not any(read_consent(text) is Consent.NO for text in said["confirmation"])
