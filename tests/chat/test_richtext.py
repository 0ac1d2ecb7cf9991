"""The mini renderer: what becomes an element, and what stays the characters it is."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def blank(shared_context, server):
    """Open one page for all of these; they only call a function in it."""
    page = shared_context.new_page()
    page.goto(server.url)
    yield page
    page.close()


RENDER = """async (text) => {
  const { rich } = await import("/static/chat/richtext.js");
  const box = document.createElement("div");
  box.append(...rich(text, "/help"));
  return box.innerHTML.replaceAll(location.origin, "");
}"""
SHOWN = """async (text) => {
  const { rich } = await import("/static/chat/richtext.js");
  const box = document.createElement("div");
  box.append(...rich(text, "/help"));
  return [box.textContent, box.querySelectorAll("a, img, b, script").length];
}"""
LINK = ' target="_blank" rel="noopener"'


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("one", "<p>one</p>"),
        ("one\n\ntwo", "<p>one</p><p>two</p>"),
        ("one\ntwo", "<p>one<br>two</p>"),
        ("", ""),
        ("- a\n- b", "<ul><li>a</li><li>b</li></ul>"),
        ("Items:\n- a\n- b\nend", "<p>Items:</p><ul><li>a</li><li>b</li></ul><p>end</p>"),
        ("1. a\n2. b", "<ol><li>a</li><li>b</li></ol>"),
        ("3. c\n4. d", '<ol start="3"><li>c</li><li>d</li></ol>'),
        ("**bold** and not ** bold", "<p><strong>bold</strong> and not ** bold</p>"),
        ("2024. A year", "<p>2024. A year</p>"),
        ("[steps](/help/returns#a)", f'<p><a href="/help/returns#a"{LINK}>steps</a></p>'),
        ("- see [it](/help/x)", f'<ul><li>see <a href="/help/x"{LINK}>it</a></li></ul>'),
    ],
)
def test_text_of_plain_answers_is_laid_out(blank, text, html):
    assert blank.evaluate(RENDER, text) == html


@pytest.mark.parametrize(
    "text",
    [
        "[x](javascript:alert(1))",
        "[x](https://evil.example/help/x)",
        "[x](//evil.example/help/x)",
        "[x](/admin/)",
        "[x](/helpful)",
        "[x](/help/../admin/)",
        "[x](data:text/html,hello)",
        "![x](https://evil.example/p.png)",
        "<b>x</b>",
        "<img src=x onerror=alert(1)>",
        "&lt;script&gt;",
        "# heading",
        "`code`",
        "| a | b |",
        "https://evil.example/",
    ],
)
def test_anything_else_stays_its_characters(blank, text):
    assert blank.evaluate(SHOWN, text) == [text, 0]
