"""Trouble on the line: nothing typed is lost, nothing shown is lost or repeated."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.chat.conftest import Chat, FakeDesk

pytestmark = pytest.mark.browser

# A socket of the worst kind: loses every fifth frame and delivers every third one twice.
UNRELIABLE = """
const Real = window.WebSocket;
let frames = 0;
window.WebSocket = class extends Real {
  addEventListener(type, listener) {
    if (type !== "message") return super.addEventListener(type, listener);
    super.addEventListener("message", (event) => {
      frames += 1;
      if (frames % 5 === 0) return;
      listener(event);
      if (frames % 3 === 0) listener(event);
    });
  }
};
"""


def cut(page: Page, desk: FakeDesk) -> None:
    """Take the server out of reach, sockets and requests alike."""
    page.route("**/api/**", lambda route: route.abort())
    desk.control(refuse_sockets=True, drop_sockets=True)


def mend(page: Page, desk: FakeDesk) -> None:
    page.unroute("**/api/**")
    desk.control(refuse_sockets=False)


def steps_shown(chat: Chat) -> list[str]:
    how = chat.thread.get_by_role("button", name=re.compile("^How"))
    if how.get_attribute("aria-expanded") == "false":
        how.click()
    chat.thread.locator(".step").first.wait_for()
    return chat.thread.locator(".step__title").all_inner_texts()


ALL_STEPS = [f"Step {index}" for index in range(120)]


def test_reload_continues_the_same_conversation(chat, desk):
    chat.ask("Good morning")
    chat.ask("How long may I return this?")
    before = chat.thread.inner_text()
    chat.page.reload()
    expect(chat.answers).to_have_count(2)
    assert chat.thread.inner_text() == before
    chat.ask("And now?")
    expect(chat.own).to_have_count(3)
    assert len([c for c in desk.state["conversations"].values() if "answer" in c]) >= 1


def test_reload_announces_nothing_old(chat):
    chat.ask("Good morning")
    chat.page.reload()
    expect(chat.answers).to_have_count(1)
    chat.page.wait_for_timeout(200)
    assert chat.page.locator("#live").inner_text() == ""


def test_socket_dropped_while_working_loses_and_repeats_nothing(chat, desk):
    desk.control(hold=True)
    chat.say("Good morning")
    chat.living.wait_for()
    desk.control(drop_sockets=True)
    desk.control(hold=False)
    expect(chat.answers).to_have_text(["You said: Good morning"])
    chat.say("many steps please")
    desk.control(drop_sockets=True)
    expect(chat.answers).to_have_count(2)
    chat.thread.get_by_role("button", name=re.compile("^How")).last.click()
    expect(chat.thread.locator(".step__title")).to_have_text(ALL_STEPS)


def test_socket_that_loses_and_doubles_frames_shows_everything_once(context, desk, troubles):
    page = context.new_page()
    page.add_init_script(UNRELIABLE)
    page.goto(desk.url)
    chat = Chat(page, desk)
    chat.ask("many steps please")
    expect(chat.own).to_have_count(1)
    assert steps_shown(chat) == ALL_STEPS


def test_message_while_unreachable_is_kept_and_sent_once(chat, desk):
    chat.ask("Good morning")
    cut(chat.page, desk)
    chat.say("sent into the dark")
    expect(chat.bar).to_contain_text("Reconnecting…")
    expect(chat.own.last).to_contain_text("Waiting to send")
    chat.field.fill("half a thou")
    mend(chat.page, desk)
    expect(chat.answers.last).to_have_text("You said: sent into the dark")
    expect(chat.own.last).to_contain_text("Sent")
    expect(chat.bar).to_be_hidden()
    expect(chat.field).to_have_value("half a thou")
    assert len({m["client_id"] for m in desk.received("sent into the dark")}) == 1
    assert desk.events(chat.page).count("message") == 2


def test_try_now_does_not_wait_for_the_next_attempt(clocked, desk):
    page = clocked
    chat = Chat(page, desk)
    chat.ask("Good morning")
    cut(page, desk)
    expect(chat.bar).to_contain_text("Reconnecting…")
    # From here the page's own timers stand still, so that only the button can help.
    page.clock.pause_at(page.evaluate("Date.now()") + 60_000)
    page.wait_for_timeout(1000)
    mend(page, desk)
    chat.bar.get_by_role("button", name="Try now").click()
    expect(chat.bar).to_contain_text("Connected again.")


def test_first_message_while_unreachable_waits(chat, desk):
    cut(chat.page, desk)
    chat.say("hello from the train")
    expect(chat.own).to_contain_text("Waiting to send")
    mend(chat.page, desk)
    expect(chat.answers).to_have_text(["You said: hello from the train"])


def test_offline_browser_says_so(chat, desk):
    chat.ask("Good morning")
    chat.page.context.set_offline(True)
    try:
        expect(chat.bar).to_contain_text("You are offline. What you write is kept and sent later.")
    finally:
        chat.page.context.set_offline(False)
    expect(chat.bar).to_be_hidden()


def test_lost_acknowledgement_sends_again_without_repeating(chat, desk):
    chat.ask("Good morning")
    desk.control(swallow_acks=True)
    chat.say("did you get this")
    expect(chat.answers.last).to_have_text("You said: did you get this")
    expect(chat.own.last).to_contain_text("Sent")
    expect(chat.own).to_have_count(2)
    assert desk.events(chat.page).count("message") == 2


def test_no_socket_at_all_still_answers(chat, desk):
    desk.control(refuse_sockets=True)
    chat.ask("Good morning")
    chat.ask("How long may I return this?")
    expect(chat.bar).to_be_hidden()
    expect(chat.answers).to_have_count(2)


def test_draft_outlives_a_reload(chat):
    chat.field.fill("a long and careful text")
    chat.page.reload()
    expect(chat.field).to_have_value("a long and careful text")


def test_unsent_message_outlives_a_reload(chat, desk):
    chat.ask("Good morning")
    cut(chat.page, desk)
    chat.say("before the reload")
    expect(chat.own.last).to_contain_text("Waiting to send")
    chat.page.reload()
    expect(chat.own).to_contain_text(["before the reload"])
    mend(chat.page, desk)
    expect(chat.answers.last).to_have_text("You said: before the reload")
    expect(chat.own.locator(".slip__text")).to_have_text(["Good morning", "before the reload"])
    assert desk.events(chat.page).count("message") == 2


def test_refused_message_says_why_and_can_be_retried_or_edited(chat, desk):
    chat.ask("Good morning")
    desk.control(refuse_messages="You write faster than we read. Wait a minute and try again.")
    chat.say("one message")
    expect(chat.own.last).to_contain_text("Not sent. You write faster than we read.")
    chat.say("and another")
    desk.control(refuse_messages="")
    chat.own.nth(1).get_by_role("button", name="Try again").click()
    expect(chat.answers.last).to_have_text("You said: one message")
    chat.own.filter(has_text="and another").get_by_role("button", name="Edit").click()
    expect(chat.field).to_have_value("and another")
    expect(chat.own).to_have_count(2)


def test_conversation_gone_starts_another_with_the_message(chat, desk):
    chat.page.evaluate(
        "sessionStorage['dsupport:hollis:conversation'] = JSON.stringify('c-of-someone-else')"
    )
    chat.page.reload()
    chat.ask("Good morning")
    expect(chat.own).to_have_count(1)
    assert desk.events(chat.page).count("message") == 1


def test_new_conversation_is_empty_and_the_old_one_comes_back(chat, desk):
    chat.ask("Good morning")
    chat.field.fill("not yet sent")
    chat.page.get_by_role("button", name="New conversation").click()
    expect(chat.page.get_by_role("heading", name="How can we help?")).to_be_visible()
    expect(chat.thread.locator("li")).to_have_count(0)
    expect(chat.field).to_have_value("not yet sent")
    chat.page.get_by_role("button", name="Back to the previous conversation").click()
    expect(chat.answers).to_have_text(["You said: Good morning"])


def test_first_message_does_not_overtake_the_session(chat, desk):
    page = chat.page
    order: list[str] = []

    def later(route):
        page.wait_for_timeout(700)
        route.continue_()

    page.route("**/api/session?*", later)
    page.on("response", lambda response: order.append(f"answered {response.url}"))
    page.on("request", lambda request: order.append(f"asked {request.url}"))
    page.reload()
    chat.ask("Good morning")
    api = [entry for entry in order if "/api/" in entry]
    assert [entry.partition("?")[0].replace(desk.url, "") for entry in api[:3]] == [
        "asked /api/session",
        "answered /api/session",
        "asked /api/conversations",
    ]
