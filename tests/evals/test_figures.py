"""A figure is judged by its median, and nothing measured is nothing passed."""

from __future__ import annotations

from evals.figures import Figure, all_passed


def test_figure_is_judged_by_its_median():
    assert Figure("answer", "ms", (100, 200, 9_000), bar=200).passed
    assert not Figure("answer", "ms", (100, 201, 202), bar=200).passed


def test_figure_without_values_fails():
    empty = Figure("answer", "ms", (), bar=200)
    assert not empty.passed
    assert empty.document()["pass"] is False


def test_no_figures_do_not_pass():
    assert not all_passed([])
    assert not all_passed([Figure("a", "ms", (1,), 2), Figure("b", "ms", (3,), 2)])
