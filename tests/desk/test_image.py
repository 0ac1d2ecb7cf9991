"""The image and its services, as far as they can be looked at without building them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from django.core.cache import cache

from agents.liveness import _KEY, forget_pulse

ROOT = Path(__file__).resolve().parents[2]
COMPOSE = yaml.safe_load((ROOT / "docker/compose.yaml").read_text())
DESK = ["migrate", "web", "worker", "beat"]


@pytest.mark.parametrize("name", DESK)
def test_service_has_no_rights_and_writes_nowhere(name):
    service = COMPOSE["services"][name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert "user" not in service  # the image's own, which is not root


def test_image_runs_as_a_user_of_its_own():
    lines = (ROOT / "docker/Dockerfile").read_text().splitlines()
    (user,) = [line for line in lines if line.startswith("USER ")]
    assert not user.startswith(("USER root", "USER 0"))


def test_only_the_migration_knows_the_owners_password():
    with_owner = [
        name
        for name in DESK
        if "DATABASE_OWNER_URL" in COMPOSE["services"][name].get("environment", {})
    ]
    assert with_owner == ["migrate"]


def test_every_service_that_stays_has_a_health_check_or_says_why_not():
    for name, service in COMPOSE["services"].items():
        checked = "healthcheck" in service or name == "web"  # the image's own
        assert checked, name


@pytest.mark.process
def test_health_check_of_the_worker_follows_its_pulse():
    check = COMPOSE["services"]["worker"]["healthcheck"]["test"]
    assert check[:2] == ["CMD", "python"]
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "dsupport.settings"}
    found = []
    for alive in (False, True):
        forget_pulse()
        if alive:
            cache.set(_KEY, "w1", 15)
        done = subprocess.run(
            [sys.executable, *check[2:]],
            cwd=ROOT, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.stderr == ""
        found.append(done.returncode)
    forget_pulse()
    assert found == [1, 0]
