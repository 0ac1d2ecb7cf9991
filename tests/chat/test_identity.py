"""Who is asking: sign in, prove one order, try as an invented customer, sign out."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


def test_order_question_of_a_stranger_opens_the_form(chat):
    chat.ask("Where is order 1042?")
    expect(chat.card).to_be_visible()
    expect(chat.card).to_contain_text("your question is asked again")
    expect(chat.field).to_be_focused()


def test_sign_in_asks_the_question_again(chat, desk):
    chat.ask("Where is order 1042?")
    chat.card.get_by_role("tab", name="Sign in").click()
    chat.card.get_by_label("E-mail").fill("emma@example.com")
    chat.card.get_by_label("Password").fill("walking")
    chat.card.get_by_role("button", name="Sign in and ask again").click()
    expect(chat.answers.last).to_contain_text("ten days late")
    expect(chat.card).to_have_count(0)
    expect(chat.page.locator("#account-button")).to_contain_text("Emma Bakker")
    expect(chat.thread.locator(".note")).to_contain_text("Signed in as Emma Bakker.")
    expect(chat.field).to_be_focused()
    assert len(desk.received("Where is order 1042?")) >= 2


def test_wrong_password_says_what_to_do(chat):
    chat.page.locator("#account-button").click()
    chat.card.get_by_label("E-mail").fill("emma@example.com")
    chat.card.get_by_label("Password").fill("running")
    chat.card.get_by_role("button", name="Sign in").click()
    expect(chat.card.get_by_role("alert")).to_have_text(
        "E-mail and password do not match. Check both and try again."
    )
    assert "running" not in chat.page.evaluate("JSON.stringify(sessionStorage)")


def test_proof_of_one_order_answers_the_question(chat):
    chat.ask("Where is order 1042?")
    chat.card.get_by_role("tab", name="One order").click()
    chat.card.get_by_label("Order number").fill("#1042")
    chat.card.get_by_label("E-mail").fill("nobody@example.com")
    chat.card.get_by_role("button", name="Show this order and ask again").click()
    expect(chat.card.get_by_role("alert")).to_contain_text("No order with this number and e-mail.")
    chat.card.get_by_label("E-mail").fill("emma@example.com")
    chat.card.get_by_role("button", name="Show this order and ask again").click()
    expect(chat.answers.last).to_contain_text("ten days late")
    expect(chat.page.locator("#account-button")).to_contain_text("Order 1042")


def test_empty_form_names_each_missing_field(chat):
    chat.page.locator("#account-button").click()
    chat.card.get_by_role("tab", name="One order").click()
    chat.card.get_by_role("button", name="Show this order").click()
    expect(chat.card.locator(".field__problem")).to_have_text(
        ["Enter the order number.", "Enter the e-mail address you ordered with."]
    )
    expect(chat.card.get_by_label("Order number")).to_be_focused()
    expect(chat.card.get_by_label("Order number")).to_have_attribute("aria-invalid", "true")


def test_demo_customer_is_one_click(chat):
    chat.page.get_by_role("button", name="Try as a demo customer").click()
    chat.card.get_by_role("button", name="Emma Bakker").click()
    expect(chat.page.locator("#account-button")).to_contain_text("Emma Bakker")
    chat.ask("Where is order 1042?")
    expect(chat.answers.last).to_contain_text("ten days late")


def test_shop_that_is_no_demo_offers_no_demo_customers(chat, desk):
    chat.page.goto(f"{desk.url}/plain")
    expect(chat.page.get_by_role("button", name="Try as a demo customer")).to_have_count(0)
    chat.page.locator("#account-button").click()
    expect(chat.card.get_by_role("tab")).to_have_text(["Sign in", "One order"])


def test_escape_closes_the_form_and_returns_focus(chat):
    opener = chat.page.locator("#account-button")
    opener.click()
    expect(chat.card.get_by_label("E-mail")).to_be_focused()
    chat.page.keyboard.press("Escape")
    expect(chat.card).to_have_count(0)
    expect(opener).to_be_focused()


def test_tabs_move_with_the_arrows(chat):
    chat.page.locator("#account-button").click()
    chat.card.get_by_role("tab", name="Sign in").focus()
    chat.page.keyboard.press("ArrowRight")
    tab = chat.card.get_by_role("tab", name="One order")
    expect(tab).to_be_focused()
    expect(tab).to_have_attribute("aria-selected", "true")
    chat.page.keyboard.press("ArrowLeft")
    expect(chat.card.get_by_label("Password")).to_be_visible()


def test_sign_out_closes_the_conversation_here(chat):
    chat.sign_in()
    chat.ask("Where is order 1042?")
    chat.page.locator("#account-button").click()
    chat.page.get_by_role("button", name="Sign out").click()
    expect(chat.bar).to_contain_text("You are signed out")
    expect(chat.thread.locator("li")).to_have_count(0)
    assert chat.page.evaluate("sessionStorage.length") == 0
    chat.page.reload()
    expect(chat.page.get_by_role("heading", name="How can we help?")).to_be_visible()
    expect(chat.page.locator("#account-button")).to_have_text("Sign in")


def test_form_comes_back_after_a_reload(chat):
    chat.ask("Where is order 1042?")
    chat.page.reload()
    expect(chat.card).to_be_visible()
    expect(chat.answers).to_have_count(1)
