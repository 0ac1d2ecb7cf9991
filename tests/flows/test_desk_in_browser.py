"""The whole desk in a real browser: the chat on its own page, and on the site of a shop."""

from __future__ import annotations

import http.server
import re
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import jwt
import pytest
from playwright.sync_api import Browser, Frame, Page, expect

from dsupport.models import Tenant
from orders.models import Customer
from tests.browsers import running_browser
from tests.demo.running import desk_environment, run, started

pytestmark = [pytest.mark.browser, pytest.mark.process]


@pytest.fixture(scope="module")
def desk(
    module_demo_db: str, tmp_path_factory
) -> Iterator[tuple[str, dict[str, str], Callable[[str], str]]]:
    """Give the address of a desk that runs with all its processes, and its environment."""
    with (
        desk_environment(module_demo_db, tmp_path_factory.mktemp("desk")) as environment,
        started(environment) as (process, shown),
    ):
        found = re.search(r"Chat +(http://127\.0\.0\.1:\d+)/", shown)
        assert found
        yield found[1], environment, signer_of("demo")
        process.terminate()
        process.communicate(timeout=90)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with running_browser() as browser:
        yield browser


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(locale="en-GB", reduced_motion="reduce")
    yield context.new_page()
    context.close()


@contextmanager
def shop_site(desk_url: str, policy: str = "", tag: list[str] | None = None) -> Iterator[str]:
    """Serve a page of a shop's site; localhost and 127.0.0.1 are two sites to a browser.

    `tag` holds what more the script's tag says, for now.
    """

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Security-Policy", policy)
            self.end_headers()
            more = tag[0] if tag else ""
            script = f'<script src="{desk_url}/widget.js" data-shop="demo" {more} async></script>'
            self.wfile.write(f"<!doctype html><title>Shop</title><h1>Shop</h1>{script}".encode())

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield f"http://localhost:{server.server_port}"
        server.shutdown()


def sign_in(chat: Page | Frame) -> None:
    chat.get_by_role("button", name="Try as a demo customer").click()
    chat.get_by_role("button", name=re.compile("Fleur Hendriks")).click()
    chat.locator("#account[data-asker=signed_in]").wait_for()


def ask(chat: Page | Frame, text: str) -> None:
    field = chat.get_by_label("Your message")
    field.fill(text)
    field.press("Enter")


def open_widget(page: Page) -> Frame:
    """Press the button in the corner as a keyboard does, and wait for the chat in its frame."""
    page.locator("dsupport-widget").wait_for(state="attached")
    page.keyboard.press("Tab")
    with page.expect_event("framenavigated", lambda frame: "/embed/" in frame.url) as navigated:
        page.keyboard.press("Enter")
    frame: Frame = navigated.value
    frame.locator("html:not(.no-script)").wait_for()
    frame.locator("#close").wait_for()
    return frame


def test_widget_shows_nothing_until_its_site_is_listed_and_then_answers_and_remembers(desk, page):
    url, environment, _ = desk
    said: list[str] = []
    # Pages with a strict policy of their own need to name the desk, and nothing else.
    with shop_site(url, f"default-src 'none'; script-src {url}; frame-src {url}") as site:
        assert_refused(page, site, said)
        listed = run(environment, "widget", "allow", site, "--by", "mira")
        assert listed.returncode == 0, listed.stderr

        page.goto(site)
        frame = open_widget(page)
        sign_in(frame)
        ask(frame, "Where is my order 1042?")
        expect(frame.locator(".row--turn .prose")).to_contain_text("promised for 5 October 2026")
        expect(frame.locator(".handover")).to_contain_text("what I found about order 1042")
        expect(frame.locator(".handover__number")).to_have_text(re.compile(r"^TKT-\d+$"))
        (cookie,) = page.context.cookies()
        assert (cookie["name"], cookie["sameSite"]) == ("sessionid", "None")
        assert cookie["partitionKey"] == "http://localhost"

        page.reload()
        frame = open_widget(page)
        expect(frame.locator("#account")).to_have_attribute("data-asker", "signed_in")
        expect(frame.locator(".row--own")).to_contain_text("Where is my order 1042?")
        expect(frame.get_by_label("Your message")).to_be_focused()
        page.keyboard.press("Escape")
        page.wait_for_function("document.activeElement.localName === 'dsupport-widget'")
        assert not frame.frame_element().is_visible()


def assert_refused(page: Page, site: str, said: list[str]) -> None:
    """Open the widget where nobody has listed the site: no chat, and a word for its developer."""
    other = page.context.new_page()
    other.on("console", lambda message: said.append(message.text))
    other.clock.install()
    other.goto(site)
    other.locator("dsupport-widget").wait_for(state="attached")
    with other.expect_event("requestfailed") as failed:
        other.evaluate("DSupport.open()")
    assert "/embed/" in failed.value.url
    assert failed.value.failure == "net::ERR_BLOCKED_BY_RESPONSE"
    other.clock.run_for(20_000)
    assert f"manage.py widget allow {site} --shop demo" in said[-1]
    other.close()


def test_widget_is_for_whom_the_shops_page_names_and_for_nobody_before(desk, page):
    """Two people use one device: the second one sees nothing of the first."""
    url, environment, token_for = desk
    said: list[str] = [""]
    account = "#account"
    with shop_site(url, tag=said) as site:
        assert run(environment, "widget", "allow", site, "--by", "mira").returncode == 0
        said[0] = f'data-token="{token_for("fleur.hendriks@example.com")}"'
        for _ in range(2):  # a reload brings the same token again
            page.goto(site)
            frame = open_widget(page)
            expect(frame.locator(account)).to_contain_text("Fleur Hendriks")
        ask(frame, "Where is my order 1042?")
        expect(frame.locator(".row--turn .prose")).to_contain_text("1042")

        said[0] = f'data-token="{token_for("fleur.hendriks@example.com")}"'
        page.goto(site)
        frame = open_widget(page)
        expect(frame.locator(account)).to_contain_text("Fleur Hendriks")
        expect(frame.locator(".row--own")).to_contain_text("1042")  # the talk goes on

        said[0] = f'data-token="{token_for("niamh.osullivan@example.com")}"'
        page.goto(site)
        frame = open_widget(page)
        expect(frame.locator(account)).to_contain_text("Niamh")
        expect(frame.locator(".row--own")).to_have_count(0)

        for nobody in ('data-token=""', 'data-token="forged.by.somebody"'):
            said[0] = f'data-token="{token_for("niamh.osullivan@example.com")}"'
            page.goto(site)
            frame = open_widget(page)
            expect(frame.locator(account)).to_contain_text("Niamh")
            said[0] = nobody
            page.goto(site)
            frame = open_widget(page)
            expect(frame.locator(account)).to_contain_text("Sign in")


def signer_of(slug: str) -> Callable[[str], str]:
    """Return what the shop's site signs tokens with: by a customer's e-mail.

    It reads the database now, because no query is allowed where a browser is being driven.
    """
    shop = Tenant.objects.get(slug=slug)
    known = dict(Customer.objects.for_tenant(shop.pk).values_list("email", "external_id"))

    def token_for(email: str) -> str:
        claims = {
            "tenant": slug,
            "customer": known[email],
            "exp": datetime.now(UTC) + timedelta(minutes=5),
            "jti": secrets.token_hex(8),
        }
        return jwt.encode(claims, shop.token_secret, algorithm="HS256")

    return token_for
