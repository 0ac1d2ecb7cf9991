from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from approvals.errors import InvalidArguments
from approvals.evidence import (
    MAX_EVIDENCE_BYTES,
    check_storable,
    clean,
    freeze,
    freeze_evidence,
    masked,
    plain,
)
from dsupport.lib.canonical import CanonicalError, canonical_json

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.dates(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=10,
)


@settings(max_examples=40)
@given(st.dictionaries(st.text(max_size=5), anything))
def test_evidence_any_value_can_be_frozen_again(evidence):
    data = freeze_evidence(evidence)
    assert canonical_json(data).encode().find(b"\\u0000") == -1
    assert freeze(data)[1] == data


@pytest.mark.parametrize(
    "value", [{"day": date(2026, 1, 1)}, {"$x": 1}, {"share": 0.5}, {"some": {1, 2}}]
)
def test_freeze_what_cannot_be_read_back_is_refused(value):
    with pytest.raises(CanonicalError):
        freeze(value)


def test_freeze_spelling_of_keys_does_not_matter():
    assert freeze({"b": 1, "a": "e\u0301"}) == freeze({"a": "é", "b": 1})


@pytest.mark.parametrize("text", ["a\x00b", "\ud800", ["x", {"k": "\x00"}], {"\x00": 1}])
def test_storable_text_that_no_table_keeps_is_refused(text):
    with pytest.raises(InvalidArguments):
        check_storable(text)


def test_storable_ordinary_text_passes():
    check_storable({"a": ["é", "😀", "line\nbreak", 3, None]})


def test_evidence_too_much_is_cut_and_says_so():
    hits = [{"text": "word " * 3_000, "score": 0.123456789} for _ in range(500)]
    data = freeze_evidence({"hits": hits})
    text = canonical_json(data)
    assert len(text.encode()) <= MAX_EVIDENCE_BYTES * 1.01
    assert "[cut]" in text
    assert data["hits"][0]["score"] == "0.123457"


def test_evidence_exploding_value_ends_soon():
    value: list = ["x"]
    for _ in range(15):
        value = [value] * 100
    data = freeze_evidence({"words": ["kept"], "results": value})
    assert data["words"] == ["kept"]
    assert len(canonical_json(data).encode()) <= MAX_EVIDENCE_BYTES * 1.01


@settings(max_examples=40)
@given(st.dictionaries(st.text(max_size=5), anything))
def test_evidence_small_value_is_not_cut(evidence):
    assert "[cut]" not in canonical_json(freeze_evidence(evidence))


def test_plain_endless_depth_ends():
    nested: list = []
    for _ in range(3_000):
        nested = [nested]
    assert "[cut]" in canonical_json(plain(nested))


def test_plain_dataclass_becomes_a_mapping():
    @dataclass
    class Hit:
        doc_id: str
        at: datetime

    hit = Hit("returns", datetime(2026, 1, 1, tzinfo=UTC))
    assert plain({"hit": hit}) == {"hit": {"doc_id": "returns", "at": "2026-01-01 00:00:00+00:00"}}


def test_clean_long_text_keeps_to_its_length():
    assert len(clean("x" * 500, 200)) == 200
    assert clean("short", 200) == "short"


def test_masked_holds_no_personal_data():
    shown = masked({"summary": "write to emma@example.com", "order": "1042"})
    assert shown == {"summary": "write to [email]", "order": "1042"}
