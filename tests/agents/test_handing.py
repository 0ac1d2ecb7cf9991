"""An answer that asks for a person: code opens the ticket, once, after the answer has passed."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db.models.functions import Now

from agents import runner
from agents.adapters.scripted import ScriptedModel, calls, fills
from agents.models import Run
from tickets.models import Ticket

YES = fills({"approved": True})
NO = fills({"approved": False, "problems": ["Say it more kindly."]})
WISH = {"reason": "complaint", "summary": "The customer is unhappy.", "order_number": None}
SORRY = {
    "answer": "I am sorry. Ticket {ticket} is with our team.",
    "intent": "complaint",
    "confidence": 0.8,
    "hand_over": WISH,
}


def tickets() -> list[str]:
    return [ticket.reason for ticket in Ticket.objects.all()]


def test_accepted_answer_gets_its_ticket_and_tells_the_number(desk):
    sent = desk.say("This is a disgrace")
    assert desk.run(sent.run_id, ScriptedModel([fills(SORRY), YES])) == "handed_over"
    (said,) = desk.said("assistant")
    assert said == "I am sorry. Ticket TKT-1001 is with our team."
    assert tickets() == ["complaint"]
    (told,) = [event.data for event in desk.events() if event.type == "escalated"]
    assert (told["ticket"], told["reason"]) == ("TKT-1001", "complaint")
    (answer,) = [event.data for event in desk.events() if event.type == "answer"]
    assert (answer["escalated"], answer["ticket_id"]) == (True, "TKT-1001")
    assert "hand_over" not in answer


def test_answer_without_a_place_for_the_number_gets_a_line(desk):
    sent = desk.say("This is a disgrace")
    silent = {**SORRY, "answer": "I am sorry. Our team reads this."}
    desk.run(sent.run_id, ScriptedModel([fills(silent), YES]))
    assert desk.said("assistant") == [
        "I am sorry. Our team reads this.\n\nYour ticket number is TKT-1001."
    ]


def test_refused_draft_opens_no_ticket(desk):
    sent = desk.say("This is a disgrace")
    calm = {**SORRY, "hand_over": None, "answer": "I am sorry to hear that."}
    model = ScriptedModel([fills(SORRY), NO, fills(calm), YES])
    assert desk.run(sent.run_id, model) == "completed"
    assert tickets() == []


@pytest.mark.parametrize(
    "wish",
    [
        {**WISH, "reason": "because"},
        {**WISH, "summary": " "},
        {**WISH, "order_number": "1" * 60},
    ],
)
def test_wish_that_no_ticket_can_come_of_goes_back_to_the_writer(desk, wish):
    sent = desk.say("This is a disgrace")
    model = ScriptedModel([fills({**SORRY, "hand_over": wish}), fills(SORRY), YES])
    assert desk.run(sent.run_id, model) == "handed_over"
    assert "hand_over:" in str(model.requests[1].messages[-1])
    assert tickets() == ["complaint"]


def test_place_for_a_number_without_a_wish_goes_back_to_the_writer(desk):
    sent = desk.say("This is a disgrace")
    bare = {**SORRY, "hand_over": None}
    assert desk.run(sent.run_id, ScriptedModel([fills(bare), fills(SORRY), YES])) == "handed_over"
    assert desk.said("assistant") == ["I am sorry. Ticket TKT-1001 is with our team."]


def test_ticket_of_a_tool_fills_the_place_for_the_number(desk):
    sent = desk.say("This is a disgrace")
    both = {
        **SORRY,
        "answer": "I am sorry: TKT-1001. Keep {ticket}.",
        "escalated": True,
        "ticket_id": "TKT-1001",
    }
    script = [calls(("create_ticket", WISH)), fills(both), YES]
    assert desk.run(sent.run_id, ScriptedModel(script)) == "handed_over"
    assert desk.said("assistant") == ["I am sorry: TKT-1001. Keep TKT-1001."]
    assert tickets() == ["complaint"]


def test_ticket_that_a_tool_has_opened_is_the_ticket(desk):
    sent = desk.say("This is a disgrace")
    opened = calls(("create_ticket", WISH))
    told = {
        **SORRY,
        "answer": "I am sorry. Ticket TKT-1001 is with our team.",
        "escalated": True,
        "ticket_id": "TKT-1001",
    }
    assert desk.run(sent.run_id, ScriptedModel([opened, fills(told), YES])) == "handed_over"
    assert tickets() == ["complaint"]
    assert desk.said("assistant") == ["I am sorry. Ticket TKT-1001 is with our team."]


def test_run_that_is_taken_over_after_its_ticket_opens_no_second_one(desk, monkeypatch):
    """The worker dies between the ticket and the post; the next one finds both in the journal."""
    sent = desk.say("This is a disgrace")
    with monkeypatch.context() as patch:
        patch.setattr(runner.endings, "post_answer", die)
        patch.setattr(runner._Work, "fail", lambda _self, _error: None)
        with pytest.raises(Dies):
            desk.run(sent.run_id, ScriptedModel([fills(SORRY), YES]))
    Run.objects.update(lease_until=Now() - timedelta(seconds=1))
    idle = ScriptedModel([])
    assert desk.run(sent.run_id, idle, owner="w2") == "handed_over"
    assert idle.requests == []
    assert tickets() == ["complaint"]


class Dies(Exception):
    pass


def die(*_arguments, **_fields):
    raise Dies
