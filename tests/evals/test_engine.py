"""The benchmark plays the run that it says it plays."""

from __future__ import annotations

import pytest

from agents.models import ModelAttempt, Run, Step
from evals.engine.bare import bare_client, bare_loop
from evals.engine.bench import Cost, model_server, ratios_of
from evals.engine.cases import Journalled, WholeRuns, claude_at, guards_alone
from tests.conftest import make_tenant


@pytest.fixture(scope="module")
def url():
    with model_server() as address:
        yield address


def test_bare_loop_and_guards_come_to_their_end(url):
    with bare_client(url) as client, claude_at(url) as claude:
        bare_loop(client)()
        guards_alone(claude)()


@pytest.mark.parametrize("kind", ["journalled", "whole"])
def test_measured_run_is_four_model_calls_and_two_tools_on_record(url, kind, committed_db):
    shop = make_tenant("bench")
    with claude_at(url) as claude:
        if kind == "whole":
            WholeRuns(claude, shop).both()
        else:
            journalled = Journalled(claude, shop)
            journalled.claim(1)
            journalled.once()
    run = Run.objects.for_tenants({shop.pk}).get()
    assert (run.status, run.model_calls) == (
        ("completed", 4) if kind == "whole" else ("running", 0)
    )
    kinds = list(Step.objects.for_run(run.pk).order_by("place").values_list("kind", flat=True))
    assert (kinds.count("model"), kinds.count("tool")) == (4, 2)
    assert ModelAttempt.objects.filter(run=run).count() == 4


def test_bar_that_is_passed_or_missed_is_said():
    costs = {"bare": Cost(10, 10), "guards": Cost(11, 11), "journal": Cost(15, 17)}
    found = {(ratio.name, ratio.kind): ratio.passed for ratio in ratios_of(costs)}
    assert found == {
        ("guards", "cpu"): True,
        ("guards", "wall"): True,
        ("journal", "cpu"): False,
        ("journal", "wall"): True,
    }
