"""What a customer hears of a request: the card, the answer, and what becomes of it, once."""

from __future__ import annotations

import json

import pytest

from agents import requests
from agents.adapters.scripted import ScriptedModel, calls, fills
from agents.review import Desk as Agents
from approvals.models import Proposal
from approvals.registry import allow_anybody, extended
from approvals.rules import Origin
from approvals.services import approve, ask_customer, cancel, execute, reject
from dsupport.contract.errors import DomainError
from dsupport.contract.principal import Principal
from dsupport.contract.risk import RiskTier
from dsupport.contract.tools import ToolResult
from tests.agents import engine
from tests.approvals.conftest import Desk as Room
from tests.approvals.conftest import hire
from tests.conftest import NOW


@pytest.fixture
def room():
    made = Room()
    with extended(made.action("gifts.chat", RiskTier.HIGH, permit=allow_anybody)):
        yield made


@pytest.fixture
def card(desk, room):
    return ask_customer(
        principal=desk.principal,
        action="gifts.chat",
        arguments={"order": "1042", "amount": 500},
        origin=Origin(key="run/1", conversation_id=str(desk.conversation.pk)),
        evidence={},
        now=NOW,
    )


def answer(desk, card, *, yes=True, shown=None):
    return requests.answer_card(
        principal=desk.principal,
        confirmation_id=card.id,
        shown_hash=shown or card.hash,
        yes=yes,
        now=NOW,
    )


def tell(proposal):
    requests.tell_progress(str(proposal.pk), now=NOW)


def last(desk, kind):
    return [event.data for event in desk.events() if event.type == kind][-1]


def test_card_of_a_tool_stands_in_the_stream_once(desk):
    shown = {"id": "c1", "hash": "0" * 64, "title": "Give 5"}

    def body(_arguments, _context):
        return ToolResult(data={"shown": "Give 5"}, card=shown)

    spec = engine.TOOLS["create_ticket"]
    tools = {"deed": type(spec)("deed", "Do.", spec.arguments, body, writes=True)}
    agents = Agents(engine.make_agent(tools=tools), None, {"greeting"})
    hello = fills({"answer": "A card is below.", "intent": "greeting", "confidence": 0.9})
    sent = desk.say("do it")
    model = ScriptedModel([calls(("deed", {})), hello])
    assert desk.run(sent.run_id, model, desk=lambda _architecture: agents) == "completed"
    assert desk.types().count("confirmation.asked") == 1
    assert last(desk, "confirmation.asked") == shown


def test_yes_passes_the_request_on_and_says_so(desk, card):
    assert answer(desk, card).status == "waiting"
    created = last(desk, "proposal.created")
    assert (created["card"], created["state"]) == (card.id, "pending")
    assert created["expires_at"] > NOW.isoformat()
    assert "A person decides" in desk.said("system")[-1]


def test_no_changes_nothing_and_says_so(desk, card):
    assert answer(desk, card, yes=False) is None
    assert last(desk, "proposal.decided")["state"] == "declined"
    assert desk.said("system") == ["All right. Nothing was changed."]
    assert not Proposal.objects.exists()
    with pytest.raises(DomainError):
        answer(desk, card)


def test_yes_to_what_has_changed_is_told_and_files_nothing(desk, card, room):
    room.state = {"paid": 1}
    assert answer(desk, card).code == "shown_differs"
    assert "Something has changed" in desk.said("system")[-1]
    assert not Proposal.objects.exists()


def test_answer_of_somebody_else_is_refused(desk, card):
    stranger = Principal(tenant_id=desk.tenant.pk, visitor="stranger")
    with pytest.raises(DomainError):
        requests.answer_card(
            principal=stranger, confirmation_id=card.id, shown_hash=card.hash, yes=True, now=NOW
        )


def test_outcome_is_heard_once(desk, card):
    proposal = Proposal.objects.get(pk=answer(desk, card).proposal_id)
    tell(proposal)
    before = len(desk.events())
    ann = hire(desk.tenant, "ann")
    approve(proposal_id=str(proposal.pk), by=ann, shown_hash=proposal.hash, now=NOW)
    tell(proposal)
    execute(str(proposal.pk), now=NOW)
    tell(proposal), tell(proposal)
    kinds = [event.type for event in desk.events()[before:]]
    assert kinds == ["proposal.decided", "proposal.executed", "message"]
    assert desk.said("system")[-1] == "Done: Give 500 on order 1042."


@pytest.mark.parametrize(
    ("ending", "heard"),
    [
        ("rejected", "decided against it: Give 500 on order 1042. The shop's rules"),
        ("cancelled", "Withdrawn, nothing was done"),
    ],
)
def test_no_and_withdrawal_are_heard_without_the_words_of_staff(desk, card, ending, heard):
    proposal = Proposal.objects.get(pk=answer(desk, card).proposal_id)
    if ending == "rejected":
        reject(
            proposal_id=str(proposal.pk),
            by=hire(desk.tenant, "ann"),
            reason_code="not_eligible",
            reason="Looks like a scammer.",
            now=NOW,
        )
    else:
        cancel(principal=desk.principal, proposal_id=str(proposal.pk), now=NOW)
    tell(proposal)
    assert heard in desk.said("system")[-1]
    assert "scammer" not in json.dumps([event.data for event in desk.events()])


def write(desk, text, client_id=""):
    return requests.receive_message(
        principal=desk.principal,
        conversation_id=desk.conversation.pk,
        text=text,
        client_id=client_id,
        now=NOW,
    )


def test_unmistakable_yes_in_words_answers_the_one_open_card(desk, card):
    said = write(desk, "Yes, please", "c1")
    assert said.run_id is None
    assert write(desk, "Yes, please", "c1").duplicate
    assert Proposal.objects.get().hash == card.hash
    assert desk.types()[-3:] == ["message", "proposal.created", "message"]
    assert desk.said("customer") == ["Yes, please"]


def test_no_in_words_declines_it_and_vague_words_go_to_a_run(desk, card):
    assert write(desk, "yes but only if it is free").run_id is not None
    assert not Proposal.objects.exists()
    assert write(desk, "no thanks").run_id is None
    assert last(desk, "proposal.decided")["state"] == "declined"
    assert write(desk, "yes").run_id is not None  # no card is open any more


def test_yes_is_a_message_like_any_while_two_cards_are_open(desk, card, room):
    ask_customer(
        principal=desk.principal,
        action="gifts.chat",
        arguments={"order": "2000", "amount": 1},
        origin=Origin(key="run/2", conversation_id=str(desk.conversation.pk)),
        evidence={},
        now=NOW,
    )
    assert write(desk, "yes").run_id is not None
    assert not Proposal.objects.exists()
