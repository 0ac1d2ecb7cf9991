"""Chromium for the tests that look at pages: found, started, and said when it is missing."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"]
# The shell is the same engine without a window manager's worth of start-up.
PLACES = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome-stable"]
# Generous, because other test processes share the machine; nothing waits this long when it works.
PATIENCE = 20_000
expect.set_options(timeout=PATIENCE)


def find_chromium() -> str | None:
    named = os.environ.get("DSUPPORT_CHROMIUM")
    return named or next((path for name in PLACES if (path := shutil.which(name))), None)


@contextmanager
def running_browser() -> Iterator[Browser]:
    """Give a browser; its event loop must not outlive the module that uses it."""
    chromium = find_chromium()
    if chromium is None:
        pytest.skip(
            "no Chromium here: apt-get install chromium-headless-shell, or set DSUPPORT_CHROMIUM"
        )
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        yield browser
        browser.close()
