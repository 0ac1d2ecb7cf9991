"""No query without a scope: the code is read, and so is a breach planted in it."""

from __future__ import annotations

import pytest

from tests.adversarial.scope_scan import ROOT, find_queries, find_raw_sql, source_files


def all_queries():
    for path in source_files():
        yield from find_queries(path.read_text(), str(path.relative_to(ROOT)))


def test_every_query_on_orders_messages_and_chunks_starts_with_a_scope():
    unscoped = [query for query in all_queries() if not query.scoped]
    assert unscoped == []


def test_the_scan_sees_the_queries_that_exist():
    seen = {query.model for query in all_queries()}
    assert {"Order", "Customer", "Message", "Conversation", "Chunk", "Ticket"} <= seen


def test_no_module_has_sql_of_its_own_on_protected_tables():
    found = [
        name
        for path in source_files()
        for name in find_raw_sql(path.read_text(), str(path.relative_to(ROOT)))
    ]
    assert found == []


@pytest.mark.parametrize(
    "breach",
    [
        "Order.objects.get(number=number)",
        "Order.objects.filter(number=number).first()",
        "Order.objects.all()",
        "Message.objects.order_by('id')",
        "Chunk.objects.annotate(d=1).filter(tenant_id=1)",
        "list(Customer._default_manager.filter(email=email))",
        "Order.objects",
        "Order.objects.filter(pk=1).values()",
    ],
)
def test_planted_breach_turns_the_scan_red(breach):
    (query,) = find_queries(f"found = {breach}", "planted.py")
    assert not query.scoped


@pytest.mark.parametrize(
    "fine",
    [
        "Order.objects.for_principal(principal).filter(number=number).first()",
        "Order.objects.create(number=number)",
        "Run.objects.filter(pk=1, status='queued').update(status='running')",
    ],
)
def test_scoped_query_passes_the_scan(fine):
    (query,) = find_queries(f"found = {fine}", "planted.py")
    assert query.scoped


def test_planted_sql_turns_the_scan_red():
    planted = 'rows = execute("SELECT * FROM orders_order WHERE number = %s")'
    assert find_raw_sql(planted, "planted.py") == ["planted.py: orders_order"]
