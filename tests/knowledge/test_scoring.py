"""Scores, the noise floor, and bands that nothing but a number can pass."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge.models import Article, ArticleVersion
from knowledge.rules import states
from knowledge.rules.scoring import (
    Band,
    answer_from,
    band_of,
    coverage,
    idf,
    noise_floor,
    passes,
    score,
)


@pytest.mark.parametrize(
    ("distance", "covered", "expected"),
    [
        (0.0, 1.0, 1.3),
        (0.4, 0.0, 0.6),
        (0.4, 0.5, 0.75),
        (1.5, 0.0, 0.0),
        (math.nan, 0.0, 0.0),
        (math.nan, 1.0, 0.3),
    ],
)
def test_score_is_cosine_plus_weighted_coverage(distance, covered, expected):
    assert score(distance, covered) == pytest.approx(expected)


def test_coverage_weighs_rare_words_more():
    terms = [("refund",), ("day",)]
    weights = {("refund",): idf(100, 2), ("day",): idf(100, 60)}
    rare, common = coverage(terms, weights, {"refund"}), coverage(terms, weights, {"day"})
    assert rare > 0.8 > common
    assert coverage(terms, weights, {"day", "refund"}) == pytest.approx(1)


def test_coverage_any_form_of_a_code_counts():
    term = ("ord1042", "1042")
    assert coverage([term], {term: 2.0}, {"1042"}) == 1


def test_coverage_question_without_words_is_zero():
    assert coverage([], {}, {"a"}) == 0


@pytest.mark.parametrize(
    ("scores", "floor"),
    [
        ([0.3], 0.3),
        ([n / 100 for n in range(101)], 0.95),
        ([0.4, 0.2], 0.39),
        ([0.01] * 60, 0.2),
        ([], 0.5),
    ],
)
def test_noise_floor_is_the_95th_percentile(scores, floor):
    assert noise_floor(scores) == pytest.approx(floor)


@settings(deadline=None)
@given(st.lists(st.floats(0, 1.3), min_size=20, max_size=80))
def test_noise_floor_at_most_one_in_twenty_and_one_pass(scores):
    floor = noise_floor(scores)
    assert sum(passes(value, floor) for value in scores) <= len(scores) * 0.05 + 1 or (
        scores.count(floor) > 1
    )


@pytest.mark.parametrize(("floor", "high"), [(0.25, 0.5), (0.45, 0.5), (0.49, 0.54), (0.7, 0.75)])
def test_upper_line_is_half_or_just_above_the_floor(floor, high):
    assert answer_from(floor) == pytest.approx(high)


@pytest.mark.parametrize(
    ("best", "band"),
    [
        (None, Band.NOTHING),
        (0.3999, Band.NOTHING),
        (math.nan, Band.NOTHING),
        (0.4, Band.MAY_HELP),
        (0.4999, Band.MAY_HELP),
        (0.5, Band.ANSWER),
        (1.3, Band.ANSWER),
    ],
)
def test_band_follows_the_two_lines(best, band):
    assert band_of(best, 0.4, 0.5) is band


def test_band_lines_that_are_no_numbers_let_nothing_pass():
    assert band_of(0.9, math.nan, math.nan) is Band.NOTHING


def test_states_every_member_appears_in_its_table():
    assert set(states.ARTICLE_TRANSITIONS) == set(Article.Status.values)
    assert set(states.VERSION_TRANSITIONS) == set(ArticleVersion.State.values)
    for table in (states.ARTICLE_TRANSITIONS, states.VERSION_TRANSITIONS):
        assert all(set(nexts) <= set(table) for nexts in table.values())
    assert states.before("published") == ["queued"]
