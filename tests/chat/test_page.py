"""The page itself: first screen, looks, weight, and use without a mouse or with a screen reader."""

from __future__ import annotations

import re
from typing import Literal

import pytest
from playwright.sync_api import BrowserContext, Page, ViewportSize, expect

from tests.chat.conftest import FakeDesk

pytestmark = pytest.mark.browser

CONTRAST = """() => {
  const parse = (color) => {
    const parts = color.match(/[\\d.]+/g).map(Number);
    return [parts[0], parts[1], parts[2], parts[3] ?? 1];
  };
  const over = (top, under) => top.slice(0, 3).map((c, i) => c * top[3] + under[i] * (1 - top[3]));
  const background = (element) => {
    const layers = [];
    for (let node = element; node; node = node.parentElement) {
      layers.push(parse(getComputedStyle(node).backgroundColor));
    }
    return layers.reverse().reduce((under, top) => over(top, under), [255, 255, 255]);
  };
  const light = (rgb) => {
    const linear = (c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    const [r, g, b] = rgb.map((c) => linear(c / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ratio = (a, b) => {
    const [low, high] = [light(a), light(b)].sort((one, two) => one - two);
    return (high + 0.05) / (low + 0.05);
  };
  const seen = new Map();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim()) continue;
    if (!element.checkVisibility({ opacityProperty: true })) continue;
    if (element.closest(".unseen, script, .sprite, button:disabled")) continue;
    const style = getComputedStyle(element);
    const ground = background(element);
    const value = ratio(over(parse(style.color), ground), ground);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    const where = `${element.className || element.tagName}: ${style.color} on ${ground}`;
    seen.set(where, [value, large ? 3 : 4.5]);
  }
  return [...seen].map(([where, [value, least]]) => ({ where, value, least }));
}"""

# Elements that reach beyond the window, those that are hidden from sight on purpose excepted.
BEYOND = """() => [...document.querySelectorAll('main *, .bar *, .dock *')]
  .filter((e) => e.checkVisibility() && !e.closest('.unseen, .wide-only, .account__name'))
  .filter((e) => {
    const box = e.getBoundingClientRect();
    return box.width && (box.right > innerWidth + 0.5 || box.left < -0.5);
  })
  .map((e) => e.className || e.tagName)"""

SHIFTS = """() => {
  window.shifts = [];
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      if (entry.hadRecentInput) continue;
      window.shifts.push([entry.value, entry.sources.map((s) => s.node?.className ?? "")]);
    }
  }).observe({ type: "layout-shift", buffered: true });
}"""


def open_page(
    context: BrowserContext,
    desk: FakeDesk,
    *,
    viewport: ViewportSize | None = None,
    motion: Literal["reduce", "no-preference"] = "reduce",
) -> Page:
    page = context.new_page()
    if viewport:
        page.set_viewport_size(viewport)
    page.emulate_media(reduced_motion=motion)
    page.goto(desk.url)
    page.locator("html:not(.no-script)").wait_for()
    return page


def talk(page: Page, *texts: str) -> None:
    for text in texts:
        before = page.locator(".row--turn .prose").count()
        page.get_by_label("Your message").fill(text)
        page.get_by_label("Your message").press("Enter")
        page.locator(".row--turn .prose").nth(before).wait_for()


def fill_with_everything(page: Page, desk: FakeDesk) -> None:
    """Bring every kind of row onto the page: answers, tree, hand-over, notes, a person, a form."""
    talk(
        page,
        "tour",
        "How long may I return this?",
        "My jacket arrived torn",
        "Where is order 1042?",
    )
    for how in page.locator(".mini--how").all()[:2]:
        how.click()
    page.locator(".step[data-state=error]").first.wait_for()
    page.locator(".hit").first.wait_for()
    desk.emit(
        page,
        "message",
        {"id": "1", "author": "staff", "name": "Mila", "label": "person", "text": "Hello"},
    )
    page.locator(".row--other").wait_for()
    page.get_by_role("tab", name="One order").click()
    page.get_by_role("button", name="Show this order").click()


# -- first screen --------------------------------------------------------------------------------


def test_first_screen_says_who_answers_and_how_to_start(page):
    expect(page.get_by_role("heading", level=1)).to_have_text("Hollis & Finch")
    expect(page.get_by_text("You are talking to an AI assistant.")).to_be_visible()
    expect(page.locator(".assurance")).to_contain_text("A person can take over at any time.")
    expect(page.locator(".assurance")).to_contain_text("Nobody is here right now. Back Monday 9:00")
    expect(page.get_by_role("button", name="Talk to a person")).to_have_count(1)
    expect(
        page.get_by_role("list", name="Questions people often start with").get_by_role("button")
    ).to_have_count(3)
    expect(page.get_by_role("textbox")).to_have_count(1)
    expect(page.get_by_label("Your message")).to_be_focused()


def test_starter_question_is_asked_at_once(chat):
    chat.page.get_by_role("button", name="How long do I have to return something?").click()
    expect(chat.own).to_contain_text("How long do I have to return something?")
    expect(chat.answers).to_contain_text("30 days after delivery")
    expect(chat.field).to_be_focused()
    expect(chat.page.get_by_role("button", name="Talk to a person")).to_be_visible()


def test_notice_of_the_shop_is_text(page, desk):
    page.goto(f"{desk.url}/?notice=<b>Strike</b>: parcels are late")
    expect(page.locator(".intro__notice")).to_have_text("<b>Strike</b>: parcels are late")


def test_first_paint_weighs_less_than_100_kb(page, desk):
    page.goto(desk.url)
    sizes = page.evaluate(
        """async () => {
          const early = performance.getEntriesByType('resource').filter((e) => e.startTime < 700);
          const own = early.map((e) => e.name).filter((name) => /\\.(js|css)$/.test(name));
          const size = async (name) => [name, (await (await fetch(name)).blob()).size];
          return Promise.all([...new Set(own)].map(size));
        }"""
    )
    assert len(sizes) > 10
    assert sum(size for _, size in sizes) < 100_000, sizes


def test_page_names_a_manifest_and_icons_that_exist(page, desk):
    assert page.locator("link[rel=manifest]").get_attribute("href") == "/manifest.webmanifest"
    for rel in ("icon", "apple-touch-icon"):
        href = page.locator(f"link[rel={rel}]").get_attribute("href")
        assert page.request.get(desk.url + href).ok
    for name in ("icon.svg", "icon-192.png", "icon-512.png", "icon-maskable.png", "sw.js"):
        assert page.request.get(f"{desk.url}/static/chat/{name}").ok


def test_without_script_the_page_says_so(browser, desk):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(desk.url)
    expect(page.get_by_text("The chat could not start.")).to_be_visible()
    expect(page.locator(".composer")).to_be_hidden()
    context.close()


# -- looks ---------------------------------------------------------------------------------------


def test_contrast_of_all_text_is_aa(context, desk, troubles):
    page = open_page(context, desk)
    pairs = []
    for filled in (False, True):
        if filled:
            fill_with_everything(page, desk)
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            pairs += page.evaluate(CONTRAST)
    assert len(pairs) > 80
    assert [pair for pair in pairs if pair["value"] < pair["least"]] == []


def test_width_never_scrolls_sideways(context, desk, troubles):
    page = open_page(context, desk)
    for filled in (False, True):
        if filled:
            fill_with_everything(page, desk)
        for width in (320, 360, 640, 768, 1280, 1600):
            page.set_viewport_size({"width": width, "height": 700})
            assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, width
            assert page.evaluate(BEYOND) == [], width


def test_column_is_about_65_characters(chat):
    chat.ask("How long may I return this?")
    characters = chat.answers.evaluate(
        """(prose) => {
          const probe = document.createElement('span');
          probe.textContent = 'the quick brown fox jumps over the lazy dog, then again '.repeat(4);
          probe.style.whiteSpace = 'nowrap';
          prose.append(probe);
          const perCharacter = probe.getBoundingClientRect().width / probe.textContent.length;
          probe.remove();
          return prose.getBoundingClientRect().width / perCharacter;
        }"""
    )
    assert 60 <= characters <= 90


def test_layout_never_shifts_by_itself(browser, desk):
    # A profile that has this size from the start: a tab that is resized may shift while it loads.
    context = browser.new_context(viewport={"width": 1280, "height": 2400}, locale="en-GB")
    page = open_page(context, desk, motion="no-preference")
    page.evaluate(SHIFTS)
    desk.control(pace=1)
    talk(page, "How long may I return this?", "Good morning")
    desk.control(drop_sockets=True)
    talk(page, "How long may I return this?")
    # A mark beside a message may change its width by a few pixels; nothing that is read moves.
    assert [shift for shift in page.evaluate("shifts") if shift[0] > 0.0005] == []
    context.close()


def test_reduced_motion_moves_nothing(context, desk, troubles):
    page = open_page(context, desk, motion="no-preference")
    desk.control(hold=True)
    page.get_by_label("Your message").fill("Good morning")
    page.get_by_label("Your message").press("Enter")
    page.locator(".living").wait_for()
    assert page.evaluate("document.getAnimations().length") > 0
    page.emulate_media(reduced_motion="reduce")
    assert page.evaluate("document.getAnimations().length") == 0


def test_field_grows_with_the_text_and_stops(chat):
    low = chat.field.bounding_box()["height"]
    chat.field.fill("\n".join("line" for _ in range(4)))
    higher = chat.field.bounding_box()["height"]
    chat.field.fill("\n".join("line" for _ in range(90)))
    highest = chat.field.bounding_box()["height"]
    assert low < higher < highest < 320


# -- without a mouse -----------------------------------------------------------------------------


def focused(page: Page) -> str:
    return str(page.evaluate("document.activeElement.id || document.activeElement.className"))


def ring(page: Page) -> bool:
    """True when the focused element, or the box drawn around it, shows an outline."""
    return bool(
        page.evaluate(
            """() => {
              const element = document.activeElement;
              const box = element.id === 'field' ? element.closest('.composer') : element;
              const style = getComputedStyle(box);
              return style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0;
            }"""
        )
    )


def test_whole_story_works_by_keyboard(page, desk):
    keyboard = page.keyboard
    keyboard.type("Where is order 1042?")
    keyboard.press("Enter")
    page.locator(".who-are-you").wait_for()
    visited: list[str] = []
    while not focused(page).startswith("tab-") and len(visited) < 20:
        keyboard.press("Shift+Tab")
        visited.append(focused(page))
        assert ring(page), visited
        if "person" in visited[-1]:
            break
    page.locator("#tab-demo").focus()
    keyboard.press("ArrowRight")
    assert focused(page) == "tab-login"
    keyboard.press("Tab")
    keyboard.type("emma@example.com")
    keyboard.press("Tab")
    keyboard.type("walking")
    keyboard.press("Enter")
    expect(page.locator(".row--turn .prose").last).to_contain_text("ten days late")
    assert focused(page) == "field"
    while "mini--how" not in focused(page):
        keyboard.press("Shift+Tab")
        assert ring(page)
    keyboard.press("Enter")
    page.locator(".how:not([hidden]) .step").first.wait_for()
    keyboard.press("Escape")
    expect(page.locator(".how:not([hidden])")).to_have_count(0)
    assert "mini--how" in focused(page)
    page.locator("#account-button").focus()
    keyboard.press("Enter")
    assert "menu__item" in focused(page)
    keyboard.press("Escape")
    assert focused(page) == "account-button"


def test_skip_link_leads_to_the_field(page):
    page.locator(".skip").focus()
    assert ring(page)
    box = page.locator(".skip").bounding_box()
    assert box is not None
    assert box["y"] >= 0
    page.keyboard.press("Enter")
    assert focused(page) == "field"


def test_focus_is_never_hidden_behind_the_field(context, desk, troubles):
    page = open_page(context, desk, viewport={"width": 640, "height": 400})
    fill_with_everything(page, desk)
    hidden = page.evaluate(
        """() => [...document.querySelectorAll('main :is(a, button, input)')].filter((element) => {
          if (!element.checkVisibility()) return false;
          element.focus();
          const box = element.getBoundingClientRect();
          const dock = document.querySelector('.dock').getBoundingClientRect();
          return box.top >= dock.top || box.bottom <= 0;
        }).map((element) => element.className || element.textContent)"""
    )
    assert hidden == []


# -- by ear --------------------------------------------------------------------------------------


def test_every_control_has_a_name(context, desk, troubles):
    page = open_page(context, desk)
    fill_with_everything(page, desk)
    session = context.new_cdp_session(page)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    roles = {"button", "link", "textbox", "tab", "tablist", "tabpanel", "list", "region", "heading"}
    named = {"list"}  # a list of starters or sources has a name; the others explain themselves
    nameless = [
        node["role"]["value"]
        for node in nodes
        if not node.get("ignored")
        and node.get("role", {}).get("value") in roles - named
        and not node.get("name", {}).get("value", "").strip()
    ]
    assert nameless == []


def test_landmarks_and_headings_are_in_order(chat):
    chat.ask("My jacket arrived torn")
    page = chat.page
    for role in ("banner", "main"):
        expect(page.get_by_role(role)).to_have_count(1)
    expect(page.get_by_role("heading", level=1)).to_have_count(1)
    expect(page.get_by_role("list", name="Conversation")).to_be_visible()
    expect(page.get_by_role("region", name=re.compile("Passed to a person"))).to_be_visible()
    assert page.evaluate("document.documentElement.lang") == "en"
