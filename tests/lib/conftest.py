"""Servers' folders for the tests of the embedded servers."""

from __future__ import annotations

import fcntl
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

from tests.databases import fingerprint
from tests.lib.embedded_support import made_once, scratch


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the folder of servers that ran once, made once for a state of the code."""
    kept: Path = settings.DSUPPORT_DATA / f"made-{fingerprint('dsupport/lib/embedded/*.py')}"
    kept.parent.mkdir(parents=True, exist_ok=True)
    with (kept.parent / "made.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            for old in kept.parent.glob("made-*"):
                shutil.rmtree(old)
            with made_once(tmp_path_factory.mktemp("made")) as home:
                making = kept.with_name("making")
                shutil.rmtree(making, ignore_errors=True)
                subprocess.run(["cp", "-a", str(home), str(making)], check=True)  # keeps owners
                making.rename(kept)
    return kept


@pytest.fixture
def data_dir(tmp_path: Path, made: Path) -> Iterator[Path]:
    """Give a data folder whose servers have run before."""
    with scratch(tmp_path, made=made) as folder:
        yield folder


@pytest.fixture
def new_dir(tmp_path: Path) -> Iterator[Path]:
    """Give a data folder that is not there yet."""
    with scratch(tmp_path) as folder:
        yield folder
