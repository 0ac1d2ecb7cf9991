"""Customers and colleagues, by real processes and browsers: requests that act, and takeover."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.db import connections
from playwright.sync_api import Browser, Page, expect

from agents.models import Conversation, Message
from approvals.models import Effect, Proposal
from dsupport.models import Membership, Tenant
from orders.models import Order
from tests.browsers import running_browser
from tests.demo.running import desk_environment, started

pytestmark = [pytest.mark.browser, pytest.mark.process]
WORD = "a passphrase for this test"


@pytest.fixture(scope="module")
def environment(module_demo_db: str, tmp_path_factory) -> Iterator[dict[str, str]]:
    with desk_environment(module_demo_db, tmp_path_factory.mktemp("desk")) as environment:
        yield environment


@pytest.fixture(scope="module")
def desk(environment: dict[str, str]) -> Iterator[str]:
    with started(environment) as (process, shown):
        found = re.search(r"Chat +(http://127\.0\.0\.1:\d+)/", shown)
        assert found
        yield found[1]
        process.terminate()
        process.communicate(timeout=90)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with running_browser() as browser:
        yield browser


@pytest.fixture
def chat(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(locale="en-GB", reduced_motion="reduce")
    yield context.new_page()
    context.close()


@pytest.fixture
def console(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(
        locale="en-GB", reduced_motion="reduce", viewport={"width": 360, "height": 740}
    )
    yield context.new_page()
    context.close()


def ask_database(work: Callable[[], Any]) -> Any:
    """Run a look at the database in a thread of its own: the browser's thread has a loop."""

    def done() -> Any:
        try:
            return work()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(done).result()


def pending_order() -> Order:
    return ask_database(_pending_order)


def _pending_order() -> Order:
    shop = Tenant.objects.get(slug="demo")
    rows = Order.objects.for_tenant(shop.pk).filter(status="pending", customer__isnull=False)
    asked = Proposal.objects.values_list("snapshot__order", flat=True)
    return rows.exclude(number__in=list(asked)).select_related("customer").order_by("pk").first()


def ask_to_cancel(chat: Page, url: str, order: Order) -> None:
    """Sign in as the order's customer and ask; wait for the card."""
    chat.goto(url)
    chat.wait_for_load_state("networkidle")  # its own session is there, and cannot come later
    entered = chat.request.post(
        f"{url}/api/session/demo?shop=demo",
        data={"email": order.customer.email},
        headers={"Origin": url},
    )
    assert entered.ok
    chat.reload()
    field = chat.get_by_label("Your message")
    field.fill(f"Please cancel my order {order.number}")
    field.press("Enter")
    chat.locator(".request").wait_for()


def enter_console(console: Page, url: str, role: str) -> None:
    name = ask_database(lambda: hire_once(role))
    console.goto(f"{url}/admin/login/")
    console.get_by_label("Username").fill(name)
    console.get_by_label("Password").fill(WORD)
    console.keyboard.press("Enter")
    console.wait_for_url(f"{url}/admin/")


def hire_once(role: str) -> str:
    user, _ = get_user_model().objects.get_or_create(username=f"test-{role}", is_staff=True)
    # The tests' own hasher is too quick for the desk that runs beside them.
    user.email = f"{user.username}@shop.example"
    user.password = PBKDF2PasswordHasher().encode(WORD, "salt-of-the-test")
    user.save()
    shop = Tenant.objects.get(slug="demo")
    Membership.objects.get_or_create(tenant=shop, user=user, defaults={"role": role})
    return str(user.username)


def proposals_of(order: Order, **more: Any) -> list[Proposal]:
    rows = Proposal.objects.filter(snapshot__order=order.number, **more)
    return ask_database(lambda: list(rows))


def status_of(order: Order) -> str:
    return ask_database(
        lambda: (
            Order.objects.for_tenant(order.tenant_id)
            .values_list("status", flat=True)
            .get(pk=order.pk)
        )
    )


def open_proposal(console: Page, url: str, order: Order) -> None:
    (proposal,) = proposals_of(order, status="pending")
    console.goto(f"{url}/admin/approvals/proposal/{proposal.pk}/change/")
    console.locator(".decide").wait_for()


def test_customer_confirms_an_approver_agrees_on_a_phone_and_the_chat_hears_it(desk, chat, console):
    order = pending_order()
    ask_to_cancel(chat, desk, order)
    card = chat.locator(".request")
    expect(card).to_contain_text(f"Cancel order {order.number}")
    expect(card).to_contain_text("This cannot be undone.")
    assert proposals_of(order) == []
    card.get_by_role("button", name="Confirm").focus()
    chat.keyboard.press("Enter")
    expect(card).to_contain_text("Waiting for a person")

    enter_console(console, desk, "approver")
    open_proposal(console, desk, order)
    assert console.evaluate("document.documentElement.scrollWidth") <= 360
    expect(console.locator(".decide")).to_contain_text("The order is not packed")
    console.get_by_role("button", name="Approve").focus()
    console.keyboard.press("Enter")
    expect(console.get_by_text("Approved. A worker carries it out now")).to_be_visible()

    expect(card).to_contain_text("Done", timeout=20_000)
    expect(chat.locator("#thread")).to_contain_text(f"Done: Cancel order {order.number}")
    assert status_of(order) == "cancelled"
    effects = Effect.objects.filter(proposal__snapshot__order=order.number)
    assert ask_database(effects.count) == 1


def test_yes_in_words_and_a_rejection_are_heard_too(desk, chat, console):
    order = pending_order()
    ask_to_cancel(chat, desk, order)
    field = chat.get_by_label("Your message")
    field.fill("yes please")
    field.press("Enter")
    card = chat.locator(".request")
    expect(card).to_contain_text("Waiting for a person")
    enter_console(console, desk, "approver")
    open_proposal(console, desk, order)
    console.get_by_text("Reject…").click()
    console.get_by_label("Why").select_option("not_eligible")
    console.get_by_label("In a few words").fill("It is being packed right now.")
    console.get_by_role("button", name="Reject").click()
    expect(card).to_contain_text("A person has decided against it", timeout=20_000)
    expect(chat.locator("#thread")).not_to_contain_text("being packed right now")
    assert status_of(order) == "pending"


def test_who_may_not_decide_sees_why_and_has_no_button_that_works(desk, chat, console):
    order = pending_order()
    ask_to_cancel(chat, desk, order)
    chat.locator(".request").get_by_role("button", name="Confirm").click()
    expect(chat.locator(".request")).to_contain_text("Waiting for a person")
    enter_console(console, desk, "auditor")
    open_proposal(console, desk, order)
    expect(console.get_by_role("button", name="Approve")).to_be_disabled()
    expect(console.locator(".decide")).to_contain_text("Only approvers of this shop decide")
    expect(console.get_by_text("Reject…")).to_have_count(0)
    chat.locator(".request").get_by_role("button", name="Cancel request").click()
    expect(chat.locator(".request")).to_contain_text("Withdrawn", timeout=20_000)


def newest_talk() -> Conversation:
    return ask_database(lambda: Conversation.objects.order_by("-created_at").first())


def write(chat, text: str) -> None:
    field = chat.get_by_label("Your message")
    field.fill(text)
    field.press("Enter")


def test_colleague_watches_takes_over_answers_and_hands_back(desk, chat, console):
    chat.goto(desk)
    write(chat, "How many days do I have to return an item?")
    thread = chat.locator("#thread")
    expect(thread).to_contain_text("30 days", timeout=20_000)
    talk = newest_talk()

    enter_console(console, desk, "operator")
    console.goto(f"{desk}/admin/agents/conversation/{talk.pk}/change/")
    assert console.evaluate("document.documentElement.scrollWidth") <= 360
    console.get_by_role("button", name="Take over").focus()
    console.keyboard.press("Enter")
    expect(thread).to_contain_text("joined. The assistant is silent now.")

    write(chat, "I would rather talk to you about it")
    said = console.locator(".desk-talk")
    expect(said).to_contain_text("I would rather talk to you about it", timeout=10_000)
    console.get_by_label("Your words to the customer").fill("Of course. I am here.")
    console.get_by_role("button", name="Send").click()
    expect(thread).to_contain_text("Of course. I am here.")

    console.get_by_role("button", name="Hand back to the assistant").click()
    expect(thread).to_contain_text("The assistant answers again")
    write(chat, "Hello")
    expect(chat.locator("#thread")).to_contain_text("What can I do for you", timeout=20_000)
    authors = ask_database(
        lambda: list(
            Message.objects.for_conversation(talk)
            .exclude(author="system")
            .values_list("author", flat=True)
        )
    )
    assert authors[:4] == ["customer", "assistant", "customer", "staff"]


def confirm_by_card(chat: Page, url: str, order: Order) -> None:
    ask_to_cancel(chat, url, order)
    chat.locator(".request").get_by_role("button", name="Confirm").click()
    expect(chat.locator(".request")).to_contain_text("Waiting for a person")


def link_in_mail(environment: dict[str, str], order: Order, name: str) -> str:
    """Wait for the e-mail about an order to somebody; return the link in it."""
    folder, deadline = Path(environment["DSUPPORT_DATA"]) / "mail", time.monotonic() + 60
    while time.monotonic() < deadline:
        for file in folder.glob("*.log"):
            for mail in file.read_text().split("-" * 79):
                if f"To: {name}@" in mail and f"order {order.number} " in mail:
                    found = re.search(r"^http\S+$", mail, re.MULTILINE)
                    assert found
                    return found[0]
        time.sleep(0.5)
    raise AssertionError(f"no e-mail about order {order.number} to {name}")


def tab_to(page: Page, name: str, most: int = 40) -> None:
    """Go on by the Tab key until what is named has the focus."""
    for _ in range(most):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.innerText.trim()") == name:
            return
    raise AssertionError(f"{name} is not reached with {most} times Tab")


def test_approver_decides_from_the_emails_link_by_keyboard_alone(
    desk, environment, chat, console, browser
):
    """Somebody who has never seen the desk: a link, a password, a page, a decision."""
    name = ask_database(lambda: hire_once("approver"))
    wanted = pending_order()
    confirm_by_card(chat, desk, wanted)
    console.goto(link_in_mail(environment, wanted, name))
    expect(console.get_by_label("Username")).to_be_visible()
    console.get_by_label("Username").focus()
    console.keyboard.type(name)
    console.keyboard.press("Tab")
    console.keyboard.type(WORD)
    console.keyboard.press("Enter")
    expect(console.locator(".decide__title").first).to_contain_text(f"Cancel order {wanted.number}")
    assert console.evaluate("document.documentElement.scrollWidth") <= 360
    tab_to(console, "Approve")
    console.keyboard.press("Enter")
    expect(console.get_by_text("Approved. A worker carries it out now")).to_be_visible()
    expect(chat.locator(".request")).to_contain_text("Done", timeout=20_000)

    other = browser.new_context(locale="en-GB", reduced_motion="reduce")
    unwanted, second = pending_order(), other.new_page()
    confirm_by_card(second, desk, unwanted)
    console.goto(link_in_mail(environment, unwanted, name))
    tab_to(console, "Reject…")
    console.keyboard.press("Enter")
    console.keyboard.press("Tab")
    console.keyboard.type("Details")
    console.keyboard.press("Tab")
    console.keyboard.type("It is another order.")
    console.keyboard.press("Tab")
    console.keyboard.press("Enter")
    expect(console.get_by_text("Rejected. The customer is told.")).to_be_visible()
    (row,) = proposals_of(unwanted)
    assert (row.status, row.reason_code) == ("rejected", "wrong_details")
    assert (status_of(wanted), status_of(unwanted)) == ("cancelled", "pending")
    other.close()
