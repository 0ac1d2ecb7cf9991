"""Results are bounded, and what was cut is said."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from agents.toolbox import bound, validate
from dsupport.contract.tools import Source, ToolCall, ToolResult, ToolSpec
from tests.agents.engine import Nothing, OrderNumber

SPEC = ToolSpec("look", "Look.", Nothing, lambda a, c: ToolResult(data=None), max_bytes=2_000)


def size(data) -> int:
    return len(json.dumps(data, ensure_ascii=False).encode())


def test_small_result_is_untouched():
    result = ToolResult(data={"rows": [1, 2]})
    assert bound(SPEC, result) is result


def test_long_list_loses_rows_and_says_so():
    result = bound(SPEC, ToolResult(data={"orders": [{"n": i} for i in range(5_000)], "of": "Ann"}))
    assert result.truncated
    assert result.data["of"] == "Ann"
    assert result.data["orders"][0] == {"n": 0}
    assert result.data["truncated"].startswith("cut:")
    assert size(result.data) <= SPEC.max_bytes


def test_five_megabytes_of_text_become_its_beginning():
    result = bound(SPEC, ToolResult(data={"text": "é" * 5_000_000}))
    assert size(result.data) <= SPEC.max_bytes
    assert "cut:" in result.data["truncated"]


def test_passage_that_was_cut_may_not_be_cited():
    hits = [{"doc_id": f"a{i}", "text": "x" * 900} for i in range(5)]
    sources = tuple(Source(f"a{i}", "T", "", 1, 0.5, "x") for i in range(5))
    result = bound(SPEC, ToolResult(data={"hits": hits}, sources=sources))
    kept = {hit["doc_id"] for hit in result.data["hits"]}
    assert {source.doc_id for source in result.sources} == kept
    assert len(kept) < 5


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=200,
    )
)
def test_any_result_keeps_to_its_size(data):
    small = ToolSpec("s", "S.", Nothing, lambda a, c: ToolResult(data=None), max_bytes=400)
    assert size(bound(small, ToolResult(data=data)).data) <= 400


def test_malformed_arguments_are_named():
    spec = ToolSpec("get", "Get.", OrderNumber, lambda a, c: ToolResult(data=None))
    result = validate(spec, ToolCall("1", "get", {}, malformed='{"order_number": "10'))
    assert isinstance(result, ToolResult)
    assert result.data["error"] == "malformed_json"
