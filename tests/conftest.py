"""Fixtures that every test may use: databases on the application's role, a shop, a clock."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime

import hypothesis
import pytest
from django.db import connections

from tests import databases

# The same examples on every machine: a red run is then a change of ours. Set HYPOTHESIS_PROFILE to
# `explore` to look for new ones.
hypothesis.settings.register_profile("steady", deadline=None, derandomize=True, max_examples=60)
hypothesis.settings.register_profile("explore", deadline=None, max_examples=1_000)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))

NOW = datetime(2026, 10, 15, 9, 0, tzinfo=UTC)


@pytest.fixture(scope="session")
def django_db_setup(django_db_blocker: pytest.FixtureRequest) -> Iterator[None]:
    """Give this test process a database of its own; pytest-django's `db` rolls back on it."""
    with django_db_blocker.unblock():
        name = databases.create_database(databases.empty_template())
        with databases.connected_to(name):
            yield
        databases.drop_database(name)


@pytest.fixture
def committed_db(django_db_setup: None, django_db_blocker: pytest.FixtureRequest) -> Iterator[str]:
    """Give the test a fresh database where commits are real, and drop it afterwards."""
    yield from _own_database(databases.empty_template, django_db_blocker)


@pytest.fixture(scope="module")
def module_db(django_db_setup: None, django_db_blocker: pytest.FixtureRequest) -> Iterator[str]:
    """Give the tests of a module one fresh database with real commits; each makes its own shop."""
    yield from _own_database(databases.empty_template, django_db_blocker)


@pytest.fixture
def demo_db(django_db_setup: None, django_db_blocker: pytest.FixtureRequest) -> Iterator[str]:
    """Give the test a fresh copy of the demo shop, as seeded at `databases.SEEDED_AT`."""
    yield from _own_database(databases.demo_template, django_db_blocker)


@pytest.fixture(scope="module")
def module_demo_db(
    django_db_setup: None, django_db_blocker: pytest.FixtureRequest
) -> Iterator[str]:
    """Give the tests of a module one copy of the demo shop."""
    yield from _own_database(databases.demo_template, django_db_blocker)


def _own_database(template, blocker) -> Iterator[str]:
    with blocker.unblock():
        name = databases.create_database(template())
        try:
            with databases.connected_to(name):
                yield name
        finally:
            connections.close_all()
            databases.drop_database(name)


@pytest.fixture
def now() -> datetime:
    return NOW


@pytest.fixture
def tenant(db: None):
    return make_tenant()


def make_tenant(slug: str = "shop", **fields):
    """Store a shop that is open on weekdays from nine to five, Amsterdam time."""
    from dsupport.models import Tenant

    hours = {day: [["09:00", "17:00"]] for day in ("mon", "tue", "wed", "thu", "fri")}
    defaults = {
        "name": slug.title(),
        "timezone": "Europe/Amsterdam",
        "opening_hours": hours,
        "return_window_days": 30,
    }
    return Tenant.objects.create(slug=slug, **{**defaults, **fields})
