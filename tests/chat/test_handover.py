"""When a person takes over."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, expect

from tests.chat.conftest import Chat

pytestmark = pytest.mark.browser


def block(chat: Chat) -> Locator:
    return chat.thread.locator(".handover")


def test_hand_over_says_why_what_and_when(chat):
    chat.ask("My jacket arrived torn")
    expect(block(chat)).to_contain_text("A complaint is for a person to read.")
    expect(block(chat)).to_contain_text("This conversation and what I found about order 1042.")
    expect(block(chat)).to_contain_text("Passed to our team")
    expect(block(chat)).to_contain_text(
        "We are back Monday 9:00, and somebody answers in this chat then."
    )
    expect(block(chat).locator(".handover__number")).to_have_text(re.compile(r"TKT-\d+"))
    expect(chat.page.locator("#live")).to_contain_text("Your ticket number is TKT-")


def test_ticket_stands_in_the_header_and_survives_a_reload(chat):
    chat.ask("My jacket arrived torn")
    number = block(chat).locator(".handover__number").inner_text()
    badge = chat.page.locator("#tickets")
    expect(badge).to_have_text(f"Your ticket {number}")
    chat.page.reload()
    expect(badge).to_have_text(f"Your ticket {number}")
    expect(block(chat)).to_have_count(1)


def test_person_asked_from_the_first_screen(chat):
    chat.page.get_by_role("button", name="Talk to a person").first.click()
    expect(block(chat)).to_contain_text("I have passed this talk to a person.")
    expect(block(chat)).to_contain_text("Our team is back Monday 9:00 and answers here.")
    expect(chat.thread.locator(".row--note")).to_have_count(0)
    expect(chat.field).to_be_focused()


def test_person_asked_twice_keeps_one_ticket(chat):
    chat.ask("Good morning")
    person = chat.page.locator("#foot-person")
    person.click()
    expect(block(chat)).to_have_count(1)
    person.click()
    expect(chat.thread.locator(".note").last).to_contain_text("already with a person")
    expect(block(chat)).to_have_count(1)


def test_open_desk_promises_a_person_now(chat, desk):
    desk.control(open=True)
    chat.page.reload()
    expect(chat.page.locator(".brand__hours")).to_have_text("People are here until 17:00")
    chat.page.get_by_role("button", name="Talk to a person").first.click()
    expect(block(chat)).to_contain_text("Our team is at work now and answers here.")
    expect(block(chat)).to_contain_text("A person takes over")
    expect(block(chat)).to_contain_text("Passed onThis conversation.")


def test_person_asked_while_unreachable_is_asked_later(chat, desk):
    chat.ask("Good morning")
    chat.page.route("**/api/**", lambda route: route.abort())
    desk.control(refuse_sockets=True, drop_sockets=True)
    chat.page.locator("#foot-person").click()
    expect(chat.thread.locator(".note")).to_contain_text(
        "passed on as soon as the connection is back"
    )
    chat.page.unroute("**/api/**")
    desk.control(refuse_sockets=False)
    expect(block(chat)).to_have_count(1)


def test_person_joining_silences_the_assistant(chat, desk):
    chat.ask("My jacket arrived torn")
    joined = {"posture": "off", "by": "mila", "name": "Mila de Wit", "role": "Support"}
    desk.emit(chat.page, "posture.changed", joined)
    expect(chat.thread.locator(".note")).to_contain_text(
        "Mila de Wit, Support joined. The assistant is silent now."
    )
    expect(chat.page.locator("#foot-chat")).to_contain_text(
        "Mila de Wit, Support. A person answers you."
    )
    chat.say("Thank you")
    expect(chat.own.last).to_contain_text("Sent")
    chat.page.wait_for_timeout(500)
    expect(chat.thread.locator(".row--turn")).to_have_count(1)
    desk.emit(
        chat.page,
        "posture.changed",
        {"posture": "auto", "by": "mila", "name": "Mila de Wit", "role": ""},
    )
    expect(chat.page.locator("#foot-person")).to_be_visible()


def test_ticket_number_is_copied(chat):
    chat.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    chat.ask("My jacket arrived torn")
    number = block(chat).locator(".handover__number").inner_text()
    block(chat).get_by_role("button", name="Copy").click()
    expect(block(chat).locator(".copy")).to_contain_text("Copied")
    assert chat.page.evaluate("navigator.clipboard.readText()") == number


def test_fault_is_told_once_with_the_ticket(chat):
    chat.say("this is broken")
    expect(block(chat)).to_contain_text("I have passed your question to a person.")
    expect(block(chat).locator(".handover__number")).to_have_text(re.compile(r"TKT-\d+"))
    expect(chat.thread.locator(".ending")).to_contain_text("there is no answer")
    expect(chat.thread.get_by_role("button", name="Talk to a person")).to_have_count(0)
    expect(chat.thread.get_by_text("I have passed your question to a person.")).to_have_count(1)
    before = chat.thread.inner_text()
    chat.page.reload()
    expect(block(chat)).to_have_count(1)
    assert chat.thread.inner_text() == before
