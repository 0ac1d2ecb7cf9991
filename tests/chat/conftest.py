"""A real browser on a fake desk."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Locator,
    Page,
    WebError,
)

from tests.browsers import PATIENCE, running_browser

QUIET = {
    "pace": 0,
    "hold": False,
    "refuse_sockets": False,
    "swallow_acks": False,
    "refuse_messages": "",
    "open": False,
}


class FakeDesk:
    """The other side, as a test steers it."""

    def __init__(self, url: str) -> None:
        self.url = url

    def _call(self, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data=data)
        with urllib.request.urlopen(request, timeout=10) as reply:
            answer: dict[str, Any] = json.load(reply)
        return answer

    def control(self, **what: Any) -> None:
        self._call("/_control", what)

    def emit(self, page: Page, type_: str, data: dict[str, Any]) -> None:
        self.control(emit=[[conversation_of(page), {"type": type_, "data": data}]])

    @property
    def state(self) -> dict[str, Any]:
        return self._call("/_state")

    def received(self, text: str) -> list[dict[str, str]]:
        return [message for message in self.state["received"] if message["text"] == text]

    def events(self, page: Page) -> list[str]:
        return list(self.state["conversations"][conversation_of(page)])


def conversation_of(page: Page) -> str:
    return str(page.evaluate("JSON.parse(sessionStorage['dsupport:hollis:conversation'])"))


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with running_browser() as browser:
        yield browser


@pytest.fixture(scope="session")
def server() -> Iterator[FakeDesk]:
    command = [sys.executable, "-m", "tests.chat.fake_server"]
    root = Path(__file__).resolve().parents[2]
    process = subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    with process, process.stdout:
        yield FakeDesk(process.stdout.readline().strip())
        process.terminate()
        process.wait(timeout=10)


@pytest.fixture
def desk(server: FakeDesk) -> FakeDesk:
    server.control(**QUIET)
    return server


@pytest.fixture(scope="module")
def shared_context(browser: Browser) -> Iterator[BrowserContext]:
    """Keep one browser profile for a module: its cache makes every page but the first cheap."""
    # Still pictures: drawing every frame of an animation in software costs more than the tests do.
    context = browser.new_context(
        viewport={"width": 1280, "height": 800},
        locale="en-GB",
        service_workers="block",
        reduced_motion="reduce",
    )
    context.set_default_timeout(PATIENCE)
    yield context
    context.close()


@pytest.fixture
def context(shared_context: BrowserContext, tab: Page) -> Iterator[BrowserContext]:
    """Give the test a stranger's profile: no cookie, no tab but the module's own."""
    yield shared_context
    for page in shared_context.pages[1:]:
        page.close()
    shared_context.clear_cookies()


@pytest.fixture(scope="module")
def tab(shared_context: BrowserContext) -> Page:
    """Keep one tab for a module, because opening one costs more than most tests do."""
    return shared_context.new_page()


@pytest.fixture
def troubles(context: BrowserContext) -> Iterator[list[str]]:
    """Collect what must never happen: script errors and breaches of the content policy."""
    troubles: list[str] = []

    def on_error(error: WebError) -> None:
        troubles.append(str(error.error))

    def on_console(message: ConsoleMessage) -> None:
        if "Content Security Policy" in message.text:
            troubles.append(message.text)

    context.on("weberror", on_error)
    context.on("console", on_console)
    yield troubles
    context.remove_listener("weberror", on_error)
    context.remove_listener("console", on_console)
    assert troubles == []


@pytest.fixture
def page(tab: Page, context: BrowserContext, desk: FakeDesk, troubles: list[str]) -> Iterator[Page]:
    tab.goto(desk.url)
    tab.locator("html:not(.no-script)").wait_for()
    yield tab
    tab.unroute_all()
    desk.control(**QUIET)
    tab.evaluate("sessionStorage.clear()")
    tab.goto("about:blank")


@pytest.fixture
def clocked(browser: Browser, desk: FakeDesk) -> Iterator[Page]:
    """Give a page whose clock the test moves; the clock belongs to a whole profile."""
    context = browser.new_context(locale="en-GB", service_workers="block", reduced_motion="reduce")
    page = context.new_page()
    page.clock.install()
    page.goto(desk.url)
    page.locator("html:not(.no-script)").wait_for()
    yield page
    context.close()


class Chat:
    """What a customer sees and does, in their words."""

    def __init__(self, page: Page, desk: FakeDesk) -> None:
        self.page, self.desk = page, desk
        self.field = page.get_by_label("Your message")
        self.thread = page.locator("#thread")
        self.own = self.thread.locator(".row--own")
        self.answers = self.thread.locator(".row--turn .prose")
        self.living = self.thread.locator(".living")
        self.bar = page.locator("#link-bar")
        self.card = page.locator(".who-are-you")

    def say(self, text: str) -> None:
        self.field.fill(text)
        self.field.press("Enter")

    def ask(self, text: str) -> Locator:
        """Send a message and wait for one more answer."""
        before = self.answers.count()
        self.say(text)
        answer = self.answers.nth(before)
        answer.wait_for()
        return answer

    def sign_in(self) -> None:
        self.page.locator("#account-button").click()
        self.card.get_by_label("E-mail").fill("emma@example.com")
        self.card.get_by_label("Password").fill("walking")
        self.card.get_by_role("button", name="Sign in").click()
        self.page.locator("#account[data-asker=signed_in]").wait_for()


@pytest.fixture
def chat(page: Page, desk: FakeDesk) -> Chat:
    return Chat(page, desk)
