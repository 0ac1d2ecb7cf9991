"""People take over a talk and hand it back; the assistant never speaks after one of them has."""

from __future__ import annotations

import random
import threading

import pytest
from django.contrib.auth import get_user_model
from django.db import connection

from agents import services
from agents.adapters.scripted import ScriptedModel, fills, says
from agents.errors import ConversationNotFound, UnknownPosture
from agents.models import Conversation, Message, Run
from agents.rules import Limits
from agents.runner import Surroundings, execute_run
from agents.takeover import set_posture, speak, unsent_draft
from agents.threads import Inline
from approvals.models import AuditEntry
from dsupport.contract.errors import Forbidden
from dsupport.models import Membership
from tests.agents.conftest import make_desk
from tests.conftest import NOW, make_tenant

HELLO = {"answer": "Hello.", "intent": "greeting", "confidence": 0.9}
YES = fills({"approved": True})


def hire(tenant, role: str = "operator", name: str = "mila", **fields):
    user = get_user_model().objects.create_user(name, is_staff=True, **fields)
    if role:
        Membership.objects.create(tenant=tenant, user=user, role=role)
    return user


@pytest.fixture
def mila(desk):
    return hire(desk.tenant, first_name="Mila", last_name="de Wit")


def stored(desk) -> Conversation:
    return Conversation.objects.get(pk=desk.conversation.pk)


def take(desk, by, posture="off", **fields):
    return set_posture(
        conversation_id=desk.conversation.pk, posture=posture, by=by, now=NOW, **fields
    )


def talk(desk, by, text="I am on it.", **fields):
    return speak(conversation_id=desk.conversation.pk, text=text, by=by, now=NOW, **fields)


def test_takeover_says_who_and_why_to_the_customer_and_to_the_audit(desk, mila):
    take(desk, mila, reason="An angry customer")
    found = stored(desk)
    assert (found.posture, found.posture_by) == ("off", "mila")
    (event,) = [event for event in desk.events() if event.type == "posture.changed"]
    assert (event.data["posture"], event.data["name"]) == ("off", "Mila de Wit")
    assert "angry" not in str(event.data)
    entry = AuditEntry.objects.get(kind="conversation.posture")
    assert (entry.actor, entry.subject) == ("staff:mila", f"conversation:{found.pk}")
    assert "angry" in entry.detail


def test_same_posture_again_is_told_once(desk, mila):
    take(desk, mila)
    take(desk, mila)
    assert desk.types().count("posture.changed") == 1


def test_unknown_posture_and_unknown_talk_are_refused(desk, mila):
    with pytest.raises(UnknownPosture):
        take(desk, mila, "loud")
    for key in ("nonsense", "00000000-0000-0000-0000-000000000000"):
        with pytest.raises(ConversationNotFound):
            set_posture(conversation_id=key, posture="off", by=mila, now=NOW)


@pytest.mark.parametrize("role", ["", "auditor", "editor"])
def test_who_does_not_work_on_cases_speaks_to_nobody(desk, role):
    other = hire(desk.tenant, role, "eve")
    with pytest.raises(Forbidden):
        take(desk, other)
    with pytest.raises(Forbidden):
        talk(desk, other)
    assert (stored(desk).posture, desk.said("staff")) == ("auto", [])


def test_rights_taken_away_and_another_shop_count_at_once(desk, mila):
    Membership.objects.filter(user=mila).delete()
    Membership.objects.create(tenant=make_tenant("other"), user=mila, role="admin")
    with pytest.raises(Forbidden):
        talk(desk, mila)


def test_person_who_speaks_has_taken_over_and_is_named(desk, mila):
    talk(desk, mila)
    message = Message.objects.get(author="staff")
    assert (message.name, message.text) == ("Mila de Wit", "I am on it.")
    assert desk.types() == ["posture.changed", "message"]
    assert stored(desk).posture == "off"


def test_same_message_of_a_person_is_said_once(desk, mila):
    assert talk(desk, mila, client_id="a").pk == talk(desk, mila, client_id="a").pk
    assert desk.said("staff") == ["I am on it."]


def test_where_a_person_answers_no_run_is_made(desk, mila):
    take(desk, mila)
    assert desk.say("are you there?").run_id is None
    assert Run.objects.count() == 0


def test_handed_back_the_assistant_answers_what_waits(desk, mila):
    take(desk, mila)
    desk.say("hello")
    take(desk, mila, "auto")
    run = Run.objects.get()
    desk.run(run.pk, ScriptedModel([fills(HELLO), YES]))
    assert desk.said("assistant") == ["Hello."]
    take(desk, mila)
    take(desk, mila, "auto")
    assert Run.objects.count() == 1  # nothing is left to answer


def test_what_a_person_has_answered_is_not_answered_again(desk, mila):
    take(desk, mila)
    desk.say("hello")
    talk(desk, mila)
    take(desk, mila, "auto")
    assert Run.objects.count() == 0


def test_draft_finished_after_a_person_has_spoken_becomes_a_note(desk, mila):
    sent = desk.say("hello")

    def spoken(request):
        talk(desk, mila)
        return YES

    desk.run(sent.run_id, ScriptedModel([fills(HELLO), spoken]))
    assert desk.said("assistant") == []
    assert unsent_draft(stored(desk)) in {"Hello.", ""}  # the same second on this clock
    assert desk.stored(sent.run_id).detail == "Hello."


def test_in_draft_only_the_assistant_drafts_and_a_person_sends(desk, mila):
    take(desk, mila, "draft_only")
    sent = desk.say("hello")
    desk.run(sent.run_id, ScriptedModel([fills(HELLO), YES]))
    assert desk.said("assistant") == []
    assert unsent_draft(stored(desk)) == "Hello."
    talk(desk, mila, "Hello there.")
    assert (stored(desk).posture, unsent_draft(stored(desk))) == ("draft_only", "")


def test_run_that_cannot_answer_is_silent_where_a_person_is(desk, mila):
    sent = desk.say("hello")

    def spoken(request):
        talk(desk, mila)
        return says("{no form")

    desk.run(sent.run_id, ScriptedModel([spoken]), limits=Limits(turns=1))
    assert desk.said("system") == []
    assert desk.stored(sent.run_id).ending


# --- 1,000 orders in which things may happen ------------------------------------------------


class Play:
    """One talk in which a customer, a worker and a person act in a drawn order."""

    def __init__(self, desk, person, dice: random.Random) -> None:
        self.desk, self.person, self.dice = desk, person, dice

    def intrude(self) -> None:
        what = self.dice.choice(["nothing", "speak", "off", "draft_only", "auto", "customer"])
        if what == "speak":
            talk(self.desk, self.person)
        elif what == "customer":
            self.desk.say("and another thing")
        elif what != "nothing":
            take(self.desk, self.person, what)

    def model(self) -> ScriptedModel:
        def then(reply):
            def play(request):
                self.intrude()
                return reply

            return play

        return ScriptedModel([then(fills(HELLO)), then(YES)] * 6)

    def go(self) -> None:
        self.desk.say("hello")
        for _ in range(self.dice.randint(1, 3)):
            self.intrude()
            run = Run.objects.active().filter(conversation=self.desk.conversation).first()
            if run is not None:
                self.desk.run(run.pk, self.model())
        self.intrude()


def spoke_out_of_turn(desk) -> bool:
    """Tell whether the assistant said something while a person was the one to answer."""
    posture = "auto"
    for event in desk.events():
        if event.type == "posture.changed":
            posture = event.data["posture"]
        if event.type == "answer" and posture != "auto":
            return True
    return False


@pytest.mark.parametrize("block", range(4))
def test_assistant_never_speaks_where_a_person_does_in_any_of_1000_orders(tenant, block):
    person = hire(tenant)
    answered = 0
    for number in range(250):
        desk = make_desk(tenant)
        Play(desk, person, random.Random(block * 1_000 + number)).go()
        assert not spoke_out_of_turn(desk), (block, number)
        answered += bool(desk.said("assistant"))
    assert 50 < answered < 250  # both happen: the test could have failed


def test_person_and_assistant_at_the_same_moment(committed_db):
    shop = make_tenant("race")
    person = hire(shop)
    for _ in range(25):
        desk = make_desk(shop)
        sent = services.submit_message(
            principal=desk.principal,
            conversation_id=desk.conversation.pk,
            text="hello",
            now=NOW,
            wake=False,
        )
        ready = threading.Barrier(2)

        def last_word(request, ready=ready):
            ready.wait(5)
            return YES

        def answer(desk=desk, sent=sent, last_word=last_word):
            around = Surroundings(
                owner="w",
                crew=Inline(),
                release=connection.close,
                now=lambda: NOW,
                client=lambda _asking: ScriptedModel([fills(HELLO), last_word]),
            )
            execute_run(sent.run_id, around)
            connection.close()

        worker = threading.Thread(target=answer)
        worker.start()
        ready.wait(5)
        talk(desk, person)
        worker.join(10)
        assert not worker.is_alive()
        assert not spoke_out_of_turn(desk)
