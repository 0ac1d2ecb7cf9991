"""A message, the work on it, and the answer."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


def test_message_sent_appears_with_mark(chat):
    chat.ask("Good morning")
    expect(chat.own).to_have_count(1)
    expect(chat.own).to_contain_text("Good morning")
    expect(chat.own).to_contain_text(re.compile(r"Sent \d"))


def test_message_empty_is_not_sent(chat, desk):
    before = len(desk.state["received"])
    chat.say("   ")
    chat.field.press("Enter")
    chat.page.get_by_role("button", name="Send").click()
    chat.ask("Something")
    assert [m["text"] for m in desk.state["received"][before:]] == ["Something"]


def test_shift_enter_breaks_line_and_enter_sends(chat, desk):
    chat.field.type("one")
    chat.field.press("Shift+Enter")
    chat.field.type("two")
    chat.field.press("Enter")
    expect(chat.own.locator("br")).to_have_count(1)
    expect(chat.own).to_contain_text(re.compile(r"Sent \d"))
    assert desk.received("one\ntwo")


def test_enter_while_composing_does_not_send(chat, desk):
    chat.field.fill("にほん")
    chat.field.evaluate(
        """(field) => field.dispatchEvent(new KeyboardEvent("keydown", {
          key: "Enter", isComposing: true, bubbles: true, cancelable: true,
        }))"""
    )
    expect(chat.field).to_have_value("にほん")
    expect(chat.own).to_have_count(0)


def test_counter_near_limit_counts_characters(chat, desk):
    counter = chat.page.locator("#counter")
    chat.field.fill("x" * 7400)
    expect(counter).to_have_text("")
    chat.field.fill("😀" * 8000)
    expect(counter).to_have_text("8,000 / 8,000")
    chat.field.fill("x" * 8012)
    expect(counter).to_contain_text("12 too many")
    chat.field.press("Enter")
    expect(chat.field).to_have_value("x" * 8012)
    expect(chat.own).to_have_count(0)


def test_line_while_working_names_the_step_and_stays_put(chat, desk):
    chat.sign_in()
    desk.control(hold=True)
    chat.say("Where is order 1042?")
    expect(chat.living).to_have_text("Looking up order 1042…")
    place = "element => element.getBoundingClientRect().top + scrollY"
    before = chat.living.evaluate(place)
    desk.control(hold=False)
    expect(chat.answers.last).to_contain_text("ten days late")
    assert chat.answers.last.evaluate(place) == pytest.approx(before, abs=1)


def test_how_after_answer_shows_tree_scores_and_times(chat):
    chat.ask("How long may I return this?")
    how = chat.thread.get_by_role("button", name=re.compile("^How"))
    expect(how).to_have_attribute("aria-expanded", "false")
    how.click()
    expect(how).to_have_attribute("aria-expanded", "true")
    panel = chat.thread.locator(".how")
    titles = panel.locator(".steps .steps .step__title")
    expect(titles).to_have_text(
        [
            "Thinking",
            "Looking through the help articles",
            "Thinking",
            "Reviewed the draft",
            "Checked the answer: passed",
        ]
    )
    expect(panel.locator(".step__agent")).to_have_text(["Reviewer"])
    expect(panel.locator(".hit")).to_have_count(3)
    expect(panel.locator(".hit").first).to_contain_text("Returns policy › How long you have v3")
    expect(panel.locator(".hit__score").first).to_contain_text("1.11")
    expect(panel.locator(".hit[data-below]")).to_have_count(1)
    expect(panel).to_contain_text("61 ms")
    expect(panel.locator(".how__totals")).to_contain_text(
        "2 model calls · 1.2 s · no cost · confidence 86 %"
    )


def test_how_of_a_team_nests_specialists(chat):
    chat.sign_in()
    chat.ask("Where is order 1042?")
    chat.thread.get_by_role("button", name=re.compile("^How")).click()
    asked = chat.thread.locator(".how > .steps > .step > .steps > .step[data-kind=tool]")
    expect(asked.locator("> .step__row .step__title")).to_have_text("Asking about your order")
    orders = asked.locator("> .steps > .step")
    expect(orders.locator("> .step__row .step__title")).to_have_text("Orders")
    expect(orders.locator(".steps .step__title")).to_have_text(
        ["Thinking", "Looking up order 1042", "Asking the carrier"]
    )
    expect(chat.thread.locator(".step[data-state=running]")).to_have_count(0)


def test_sources_open_the_version_that_was_read(chat):
    chat.ask("How long may I return this?")
    chips = chat.thread.get_by_role("list", name="Sources").get_by_role("link")
    expect(chips).to_have_count(2)
    expect(chips.first).to_have_attribute("href", "/help/returns?version=3#how-long-you-have")
    expect(chips.first).not_to_contain_text("changed since")
    expect(chips.nth(1)).to_contain_text("changed since")
    with chat.page.expect_popup() as opened:
        chips.first.click()
    article = opened.value
    expect(article.get_by_role("heading", level=1)).to_have_text("Returns policy")
    expect(article.get_by_text("You are reading version 3")).to_be_visible()
    assert article.evaluate("opener") is None


def test_text_of_model_stays_text(chat, troubles):
    asked: list[str] = []
    chat.page.on("request", lambda request: asked.append(request.url))
    answer = chat.ask("hostile <img src=x onerror='window.broken=1'>")
    chat.thread.get_by_role("button", name=re.compile("^How")).click()
    chat.thread.locator(".step").wait_for()
    assert chat.page.evaluate("window.broken") is None
    assert chat.thread.locator("img, script, b, i").count() == 0
    assert answer.locator("a").count() == 0
    assert answer.locator("strong").inner_text() == "<b>bold</b>"
    assert chat.thread.locator("a").count() == 0
    assert not [url for url in asked if not url.startswith(chat.desk.url)]


def test_stop_while_working_ends_the_run(chat, desk):
    desk.control(hold=True)
    chat.say("Good morning")
    chat.thread.get_by_role("button", name="Stop").click()
    expect(chat.thread.locator(".ending")).to_have_text("Stopped. Nothing was changed.")
    expect(chat.thread.get_by_role("button", name="Stop")).to_have_count(0)
    assert "answer" not in desk.events(chat.page)


def test_failed_run_offers_to_ask_again(chat, desk):
    chat.say("this will fail")
    chat.thread.get_by_role("button", name="Ask again").click()
    expect(chat.own).to_have_count(2)
    expect(chat.own.last).to_contain_text("this will fail")
    expect(chat.thread.locator(".ending")).to_have_count(2)


def test_messages_in_a_row_are_taken_in_order(chat, desk):
    desk.control(hold=True)
    texts = [f"line {index}" for index in range(5)]
    for text in texts:
        chat.say(text)
        expect(chat.field).to_be_enabled()
    expect(chat.own.get_by_text("Sent")).to_have_count(5)
    expect(chat.own.locator(".slip__text")).to_have_text(texts)
    assert [m["text"] for m in desk.state["received"][-5:]] == texts
    desk.control(hold=False)
    expect(chat.answers).to_have_text(["You said: line 0 / line 1 / line 2 / line 3 / line 4"])
    rows = chat.thread.locator("> li")
    expect(rows).to_have_count(6)
    expect(rows.last).to_contain_text("You said")


def test_long_wait_says_what_is_slow_and_offers_a_person(clocked, desk):
    page = clocked
    desk.control(hold=True)
    field = page.get_by_label("Your message")
    field.fill("Good morning")
    field.press("Enter")
    page.locator(".living").wait_for()
    page.clock.run_for(9_000)
    assert page.locator(".slow").is_hidden()
    page.clock.run_for(8_000)
    expect(page.locator(".slow")).to_contain_text("This takes longer than usual: “Thinking”")
    page.locator(".slow").get_by_role("button", name="talk to a person").click()
    page.clock.run_for(1_000)
    expect(page.locator(".handover")).to_contain_text("TKT-")


def test_request_is_a_card_whose_line_says_how_it_stands(chat):
    chat.ask("tour please")
    card = chat.thread.locator(".request")
    expect(card).to_have_count(1)
    expect(card).to_contain_text("Refund €49.90 of €99.80 on order 1042")
    expect(card).to_contain_text("Visa ending 4242")
    expect(card).to_contain_text("Waiting for a person · until 1 January 2099")
    expect(card.get_by_role("button", name="Cancel request")).to_be_visible()
    expect(card.get_by_role("button", name="Confirm")).to_be_hidden()


def test_live_region_hears_answers_only(chat, desk):
    live = chat.page.locator("#live")
    chat.page.evaluate(
        """() => {
          window.heard = [];
          const live = document.getElementById('live');
          new MutationObserver(() => window.heard.push(live.textContent))
            .observe(live, {childList: true, characterData: true, subtree: true});
        }"""
    )
    chat.ask("How long may I return this?")
    expect(live).to_contain_text("You have 30 days after delivery")
    heard = [text for text in chat.page.evaluate("heard") if text]
    assert len(heard) == 1
    assert chat.page.locator("[aria-live]").count() == 1
    assert chat.thread.locator("[role=status], [role=alert], [aria-live]").count() == 0


def test_labels_tell_who_speaks(chat, desk):
    chat.ask("Good morning")
    desk.emit(
        chat.page,
        "message",
        {"id": "1", "author": "staff", "name": "Mila", "label": "person", "text": "Hello"},
    )
    desk.emit(
        chat.page,
        "message",
        {"id": "2", "author": "system", "name": "", "label": "system", "text": "Closed for today"},
    )
    expect(chat.thread.locator(".row--turn .who")).to_have_text("AI assistant")
    expect(chat.thread.locator(".row--other .byline")).to_contain_text("MilaPerson")
    expect(chat.thread.locator(".note")).to_contain_text("System Closed for today")


def test_model_in_trouble_is_told_in_plain_words(chat):
    chat.ask("trouble")
    expect(chat.thread.locator(".by-rules")).to_have_text(
        "The model cannot be reached; the offline rules answer."
    )
    chat.page.get_by_role("button", name="How").last.click()
    tree = chat.thread.locator(".how").last
    expect(tree).to_contain_text("The model did not answer")
    expect(tree).to_contain_text("anthropic · overloaded")
    expect(tree).to_contain_text("The model is busy. I go on within 3 minutes")
