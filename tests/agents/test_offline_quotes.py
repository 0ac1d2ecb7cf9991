"""What is quoted of an article, and what is told of a product."""

from __future__ import annotations

import numpy as np
import pytest

from agents.adapters.offline.findings import Hit, Search
from agents.adapters.offline.products import tell_products
from agents.adapters.offline.quotes import best_quote, check_after
from agents.adapters.offline.words import content_stems, join_units, plain, say_day, units
from tests.agents.understanding.shop import PRODUCTS


def embed(texts: list[str]) -> np.ndarray:
    """Place texts by the stems they share with the first of them."""
    first = content_stems(texts[0])
    rows = [[len(first & content_stems(text)) / max(1, len(first)), 0.1] for text in texts]
    return np.asarray(rows, np.float32)


def search(
    *texts: str, titles: tuple[str, ...] = ("Help", "More help"), scores=(0.9, 0.8)
) -> Search:
    hits = tuple(
        Hit(f"d{index}", titles[index], "Heading", scores[index], text)
        for index, text in enumerate(texts)
    )
    return Search(hits, "answer")


LONG = " ".join(
    f"Filler sentence number {word} talks about nothing at all." for word in "abcdefghijklmn"
)


def test_short_passage_is_quoted_whole():
    quote = best_quote(search("You have thirty days. Keep the box."), "how long", embed)
    assert quote is not None
    assert quote.text == "You have thirty days. Keep the box."


def test_long_passage_is_quoted_around_the_nearest_sentence():
    quote = best_quote(
        search(f"{LONG} The lantern glows green. {LONG}"), "why does the lantern glow", embed
    )
    assert quote is not None
    assert "The lantern glows green." in quote.text
    assert len(quote.text.split()) <= 110


def test_sentence_that_leans_back_brings_the_one_before():
    text = f"{LONG} A kettle boils water. It also whistles loudly. {LONG}"
    quote = best_quote(search(text), "what whistles loudly", embed)
    assert quote is not None
    assert "A kettle boils water. It also whistles loudly." in quote.text


def test_list_is_quoted_whole_with_its_lead():
    items = "\n".join(f"- item {word} of the list" for word in ("one", "two", "three"))
    quote = best_quote(
        search(f"{LONG}\nNot returnable are:\n{items}\n{LONG}"), "item two list", embed
    )
    assert quote is not None
    for line in ("Not returnable are:", "- item one of the list", "- item three of the list"):
        assert line in quote.text


def test_rows_of_a_table_say_what_their_columns_mean():
    table = (
        "Region | Time | Cost\nEU | 2 days | EUR 4\nUS | 3 days | USD 5\nTimes count from dispatch."
    )
    assert units(table) == [
        "- EU: Time 2 days, Cost EUR 4",
        "- US: Time 3 days, Cost USD 5",
        "Times count from dispatch.",
    ]
    assert join_units(units(table)).splitlines()[-1] == "Times count from dispatch."


def test_heading_inside_a_passage_is_not_quoted():
    assert units("It is free.\nAfter delivery\nKeep the box.") == ["It is free.", "Keep the box."]


def test_marks_of_markdown_are_not_quoted():
    text = plain("## Time\nSee **our** [page](https://x.example) and *wait*.\n* one\n![x](y)")
    assert text == "Time\nSee our page and wait.\n- one"


def test_later_passage_on_the_topic_is_preferred_to_one_on_another():
    found = search("We repay you.", "Send it back.", titles=("Refunds", "Returns policy"))
    quote = best_quote(found, "return policy", embed, topic="return")
    assert quote is not None
    assert quote.title == "Returns policy"
    untouched = search(
        "We repay you.", "Send it back.", titles=("Shipping times", "Returns policy")
    )
    quote = best_quote(untouched, "policy", embed, topic="return")
    assert quote is not None
    assert quote.title == "Shipping times"


def test_search_without_text_gives_no_quote():
    assert best_quote(search(""), "anything", embed) is None


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("After 7 days past the promised date a person checks with the carrier.", 7),
        ("When it is more than ten days late, we open an enquiry.", 10),
        ("Send it back within 30 days. A person checks it.", None),
        ("A refund takes 5 days.", None),
    ],
)
def test_rule_for_a_check_is_read_from_the_article(text, days):
    found = check_after(search(text))
    assert (found[0] if found else None) == days


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("is the squall rain jacket waterproof", "Waterproof to 20,000 mm"),
        ("how much is the rain jacket", "Squall Rain Jacket costs €149.00."),
        ("is the rain jacket available", "In stock: Moss, M. Not in stock at the moment: Rust, M."),
        ("is the rain jacket in stock in rust", "Not in stock at the moment: Rust, M."),
        ("is the enamel mug in stock", "Enamel Mug is in stock."),
        ("do you have a mug", "Enamel Mug"),
    ],
)
def test_product_is_told_by_what_is_asked(question, said):
    told = tell_products(PRODUCTS, question)
    assert told is not None
    assert told.sure
    assert said in told.text


def test_products_that_fit_alike_are_named():
    tents = [{"name": f"{name} Tent"} for name in ("Brook", "Larch")]
    told = tell_products(tents, "which tents do you have")
    assert told is not None
    assert told.text == "I found these: Brook Tent and Larch Tent. Which one do you mean?"


def test_number_in_words_finds_a_name_with_digits():
    tents = [{"name": f"{n}-Person Tent", "description": f"For {n}."} for n in (1, 2, 4)]
    told = tell_products(tents, "is there a two person tent")
    assert told is not None
    assert told.text.startswith("2-Person Tent")


def test_nothing_named_is_nothing_told():
    assert tell_products(PRODUCTS, "do you have a swimming pool") is None
    assert tell_products([], "jacket") is None


@pytest.mark.parametrize(
    ("value", "said"), [("2026-10-05", "5 October 2026"), (None, ""), ("soon", "")]
)
def test_day_is_said_as_people_read_it(value, said):
    assert say_day(value) == said
