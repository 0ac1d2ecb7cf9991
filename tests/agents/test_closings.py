"""What code says at the end of a run that has no answer."""

from __future__ import annotations

import pytest

from agents.closings import passed_on


@pytest.mark.parametrize(
    ("orders", "titles", "said"),
    [
        ([], [], "This conversation."),
        (["1042"], [], "This conversation and what I found about order 1042."),
        ([], ["Returns"], "This conversation and what our help says under “Returns”."),
        (
            ["1042", "1043", "1044"],
            ["Returns", "Refunds", "Shipping"],
            "This conversation, what I found about order 1042 and 1043 and what our help says "
            "under “Returns” and “Refunds”.",
        ),
    ],
)
def test_passed_on_names_what_the_person_will_find(orders, titles, said):
    assert passed_on(orders, titles) == said
