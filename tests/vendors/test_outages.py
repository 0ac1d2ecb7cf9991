"""Runs on a vendor in trouble: bounded, booked, told, and never half an answer."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import timedelta

import pytest
from django.db.models.functions import Now

from agents.adapters.offline import OfflineRules
from agents.adapters.vendors.claude import Claude
from agents.adapters.vendors.house import House, RoleModel
from agents.metered import Metered
from agents.models import ModelAttempt, Run
from agents.providers import BUDGET_SPENT, MODEL_DOWN, POLICY, Asking, FallingBack, client_for
from agents.pseudonyms import Hiding, Pseudonyms
from agents.runner import Surroundings, execute_run
from agents.threads import Inline
from dsupport.contract.llm import ChatMessage
from dsupport.lib.gateway import BreakerState, Gateway, Room
from tests.agents.conftest import Desk, make_desk
from tests.conftest import NOW
from tests.vendors.claude import FakeClaude
from tests.vendors.conftest import PRICES, asking, form_text
from tests.vendors.script import Breaks, Fault, Says

HELLO = form_text(answer="Hello. How can I help?")
FINE = Says('{"approved": true, "problems": []}')


class Time:
    """A clock that pauses move on."""

    def __init__(self) -> None:
        self.now = 0.0
        self.pauses: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def gateway(time) -> Gateway:
    return Gateway(clock=time, sleep=time.sleep, random=lambda: 1.0)


@pytest.fixture
def desk(tenant) -> Desk:
    return make_desk(tenant)


class Shop:
    """A desk whose runs ask a fake Claude through everything that stands before it."""

    def __init__(self, desk: Desk, fake: FakeClaude, gateway: Gateway, places: int = 4) -> None:
        self.desk, self.fake, self.gateway = desk, fake, gateway
        self.claude = Claude(House("key", fake.url, RoleModel("model-a"), prices=PRICES))
        self.room = Room(places)

    def client(self, asking: Asking) -> FallingBack:
        main = Metered(self.claude, self.gateway, POLICY, self.room, asking.book)
        return FallingBack(main, OfflineRules(), lambda: "", may_wait=asking.may_wait)

    def run(self, run_id, owner: str = "w1") -> str | None:
        around = Surroundings(
            owner=owner,
            crew=Inline(),
            release=lambda: None,
            now=lambda: NOW,
            client=self.client,
        )
        return execute_run(run_id, around)

    def notices(self) -> list[str]:
        called = [e.data["notice"] for e in self.desk.events() if e.type == "model.called"]
        return [notice for notice in called if notice]


def codes() -> list[str]:
    return list(ModelAttempt.objects.order_by("id").values_list("code", flat=True))


@pytest.fixture
def playing(desk, gateway):
    shops = []

    def play(*script, **fields) -> Shop:
        fake = FakeClaude(script)
        fake.__enter__()
        shops.append(Shop(desk, fake, gateway, **fields))
        return shops[-1]

    yield play
    for shop in shops:
        shop.claude.close()
        shop.fake.__exit__()
        assert shop.fake.breaches == []


def test_answer_of_a_model_is_booked_by_attempt_and_by_run(playing, desk):
    shop = playing(Says(HELLO, prompt_tokens=900, output_tokens=40), FINE)
    sent = desk.say("hello")
    assert shop.run(sent.run_id) == "completed"
    run = desk.stored(sent.run_id)
    assert run.model_calls == 2
    attempts = list(ModelAttempt.objects.order_by("id"))
    assert [(a.role, a.code, a.model) for a in attempts] == [
        ("solo", "", "model-a"),
        ("reviewer", "", "model-a"),
    ]
    assert attempts[0].cost == 900 * 2 + 40 * 10
    assert run.cost == sum(attempt.cost for attempt in attempts)
    assert {a.owner_key for a in attempts} == {desk.principal.owner_key}
    assert [a.place for a in attempts] == sorted({a.place for a in attempts})


def test_failed_attempts_are_tried_again_booked_and_told(playing, desk, time):
    shop = playing(Fault(529), Breaks("error", kind="overloaded"), Says(HELLO), FINE)
    sent = desk.say("hello")
    assert shop.run(sent.run_id) == "completed"
    assert codes() == ["overloaded", "overloaded", "", ""]
    assert time.pauses == [0.5, 1.0]
    told = [event.data["code"] for event in desk.events() if event.type == "model.failed"]
    assert told == ["overloaded", "overloaded"]
    run = desk.stored(sent.run_id)
    assert run.model_calls == 2  # attempts that failed are no turns
    assert run.cost == sum(ModelAttempt.objects.values_list("cost", flat=True))
    assert "Your refund" not in str(desk.said("assistant"))


def test_vendor_that_stays_down_leaves_the_rules_to_answer(playing, desk):
    shop = playing(Fault(500))
    sent = desk.say("hello")
    assert shop.run(sent.run_id) == "completed"
    assert set(codes()) == {"server_error"}
    assert set(shop.notices()) == {MODEL_DOWN}
    assert len(desk.said("assistant")) == 1
    (answer,) = [event.data for event in desk.events() if event.type == "answer"]
    assert answer["notice"] == MODEL_DOWN  # the chat says so under the answer


def test_patience_within_the_runs_time_is_kept(playing, desk, time):
    shop = playing(Fault(429, headers={"retry-after": "7"}), Says(HELLO), FINE)
    sent = desk.say("hello")
    assert shop.run(sent.run_id) == "completed"
    assert time.pauses == [7.0]


def test_patience_beyond_the_runs_time_lays_it_aside_once(playing, desk, time):
    shop = playing(Fault(529, headers={"retry-after": "171"}))
    sent = desk.say("hello")
    assert shop.run(sent.run_id) is None
    left = desk.stored(sent.run_id)
    assert (left.status, left.lease_owner, left.attempt, left.waits) == ("queued", "", 0, 1)
    assert not Run.objects.claimable().exists()
    (waiting,) = [event.data for event in desk.events() if event.type == "run.waiting"]
    assert waiting["text"] == "The model is busy. I go on within 3 minutes…"
    assert desk.said("system") == []

    Run.objects.update(not_before=Now() - timedelta(seconds=1))
    time.now += 171
    assert shop.run(sent.run_id, owner="w2") == "completed"
    assert codes() == ["overloaded", "overloaded"]  # once before the pause, once after it
    assert len(shop.fake.asked) == 2
    assert set(shop.notices()) == {MODEL_DOWN}
    assert len(desk.said("assistant")) == 1


def test_vendor_that_asked_for_patience_is_left_alone_by_every_run(playing, desk, time):
    shop = playing(Fault(529, headers={"retry-after": "171"}), Says(HELLO), FINE)
    assert shop.run(desk.say("hello").run_id) is None
    other = make_desk(desk.tenant)
    for _ in range(2):
        assert shop.run(other.say("hello").run_id) == "completed"
    assert len(shop.fake.asked) == 1
    time.now += 171
    assert shop.run(other.say("hello").run_id) == "completed"
    assert other.said("assistant")[-1] == "Hello. How can I help?"


def test_open_breaker_asks_nobody_and_a_recovered_vendor_is_used_again(
    playing, desk, time, gateway
):
    shop = playing(*[Fault(500)] * 5, Says(HELLO), FINE)
    while gateway.breaker("anthropic").state is BreakerState.CLOSED:
        shop.run(desk.say("hello").run_id)
    asked = len(shop.fake.asked)
    shop.run(desk.say("hello again").run_id)
    assert len(shop.fake.asked) == asked
    time.now += POLICY.rest + 1
    sent = desk.say("and now?")
    assert shop.run(sent.run_id) == "completed"
    assert desk.said("assistant")[-1] == "Hello. How can I help?"


def test_refused_key_is_asked_once_for_each_step_and_the_rules_answer(playing, desk):
    shop = playing(Fault(401))
    sent = desk.say("hello")
    assert shop.run(sent.run_id) == "completed"
    assert set(codes()) == {"key_refused"}
    assert len(codes()) == len({(a.place, a.role) for a in ModelAttempt.objects.all()})


def test_refusal_is_not_tried_again_and_the_next_question_works(playing, desk):
    shop = playing(Says(stop="refusal"), Says(HELLO), FINE)
    sent = desk.say("how do I build a bomb?")
    assert shop.run(sent.run_id) == "handed_over"
    assert desk.stored(sent.run_id).ending == "refusal"
    assert len(shop.fake.asked) == 1
    assert "I cannot help with this." in desk.said("system")[0]
    assert shop.run(desk.say("hello").run_id) == "completed"


def test_no_tool_of_a_cut_reply_is_run(playing, desk):
    cut = Says("I look.", calls=(("search_kb", {"query": "returns"}),), stop="length")
    shop = playing(cut, cut)
    sent = desk.say("returns?")
    assert shop.run(sent.run_id) == "handed_over"
    assert desk.stored(sent.run_id).ending == "truncated"
    assert "tool.called" not in desk.types()
    rooms = [asked.body["max_tokens"] for asked in shop.fake.asked]
    assert rooms[1] == 2 * rooms[0]


def test_crowd_beyond_the_places_is_answered_by_the_rules(playing):
    shop = playing(Says(HELLO), places=1)
    with shop.room.place(1.0):
        main = Metered(shop.claude, shop.gateway, POLICY, shop.room, lambda _booking: None)
        client = FallingBack(main, OfflineRules(), lambda: "")
        words = (ChatMessage.user("hello"),)
        reply = client.next(asking(deadline=0.05, messages=words))
    assert reply.notice == MODEL_DOWN
    assert shop.fake.asked == []


@pytest.fixture
def asked(desk, settings) -> Asking:
    """Give what a run asks with, for a provider that only tests know."""
    settings.DSUPPORT_PROVIDERS = {**settings.DSUPPORT_PROVIDERS, "house": f"{__name__}.nowhere"}
    return Asking(
        provider="house",
        tenant_id=desk.tenant.pk,
        owner_key=desk.principal.owner_key,
        now=lambda: NOW,
        book=lambda _booking: None,
        private=["12 Canal Street"],
    )


def nowhere() -> Claude:
    return Claude(House("key", "http://127.0.0.1:9", RoleModel("model-a")))


@pytest.mark.parametrize("kind", ["DSUPPORT_BUDGETS", "DSUPPORT_TOKEN_BUDGETS"])
@pytest.mark.parametrize("budget", ["customer", "tenant", "system"])
def test_spent_budget_leaves_the_rules_to_answer_until_the_next_day(
    playing, desk, asked, settings, budget, kind
):
    shop = playing(Says(HELLO), FINE)
    shop.run(desk.say("hello").run_id)
    setattr(settings, kind, {"customer": 0, "tenant": 0, "system": 0, budget: 1})
    assert client_for(asked).why_offline() == BUDGET_SPENT
    tomorrow = replace(asked, now=lambda: NOW + timedelta(days=1))
    assert client_for(tomorrow).why_offline() == ""
    setattr(settings, kind, {"customer": 0, "tenant": 0, "system": 0, budget: 1_000_000})
    assert client_for(asked).why_offline() == ""
    setattr(settings, kind, {"customer": 0, "tenant": 0, "system": 0, budget: 1})
    if budget == "customer":
        somebody = replace(asked, owner_key="visitor:somebody")
        assert client_for(somebody).why_offline() == ""


def test_hiding_is_on_unless_the_operator_says_otherwise(asked, settings):
    assert isinstance(client_for(asked).main, Hiding)
    settings.DSUPPORT_HIDE_PERSONAL_DATA = False
    assert isinstance(client_for(asked).main, Metered)


def test_vendor_receives_no_personal_data_of_the_customers_in_play(playing, desk):
    street = "12 Canal Street"
    shop = playing(
        Says(calls=(("search_kb", {"query": "send to [EMAIL_1]"}),)),
        Says(form_text(answer="I keep [EMAIL_1] and [ADDRESS_1] as they are.")),
        FINE,
    )
    plain = shop.client

    def hiding(asked):
        client = plain(asked)
        return replace(client, main=Hiding(client.main, Pseudonyms([street])))

    shop.client = hiding
    words = f"ann@example.com, +31612345678, {street}, 4111 1111 1111 1111"
    sent = desk.say(f"hello, my data are {words}")
    assert shop.run(sent.run_id) in {"completed", "handed_over"}
    received = str([(asked.headers, asked.body) for asked in shop.fake.asked])
    for secret in ("ann@example", "31612345678", "Canal", "4111"):
        assert secret not in received
    drafts = [e.data for e in desk.events() if e.type == "review.finished"]
    assert drafts
    assert "[EMAIL" not in str(drafts) + str(desk.said("assistant"))


FAULTS = [
    Fault(429),
    Fault(429, headers={"retry-after": "2"}),
    Fault(500),
    Fault(503),
    Fault(529),
    Fault(400, message="tools.0: no such field"),
    Fault(401),
    Breaks("error", kind="overloaded"),
    Breaks("error", kind="api"),
    Breaks("drop"),
    Breaks("clean"),
    Breaks("noise"),
    Says(stop="refusal"),
    Says("Your refund of", stop="length"),
    Says("I look.", calls=(("search_kb", '{"query": "ret'),), stop="length"),
    Says("Hm.", stop="unknown"),
    Says(""),
    Says("Your refund is done."),
    Says(calls=(("drop_tables", {"all": True}),)),
    Says(calls=(("search_kb", {"query": "returns", "customer_id": 7}),)),
    Says(calls=(("search_kb", '{"query": "ret'),)),
]


def test_two_hundred_faults_over_a_hundred_runs_leave_every_run_coherent(playing, desk, time):
    chance = random.Random(20261130)
    left = [chance.choice(FAULTS) for _ in range(200)]
    played = []

    def step(body):
        if left and chance.random() < 0.8:
            played.append(left.pop())
            return played[-1]
        return FINE if not body.get("tools") else Says(HELLO)

    shop = playing(step)
    ends, desks = [], []
    for _ in range(100):
        time.now += POLICY.rest + 1  # a breaker that has opened lets the next run try
        desks.append(make_desk(desk.tenant))
        run_id = desks[-1].say("hello").run_id
        ends.append(shop.run(run_id))
        if ends[-1] is None:  # laid aside
            Run.objects.update(not_before=Now() - timedelta(seconds=1))
            ends[-1] = shop.run(run_id, owner="w2")
    assert len(played) == 200, f"{len(left)} faults were not reached"
    assert set(ends) <= {"completed", "handed_over"}
    assert not Run.objects.active().exists()
    assert len(codes()) == len(shop.fake.asked)  # no attempt unbooked
    answers = [talk.said("assistant") + talk.said("system") for talk in desks]
    assert [len(said) for said in answers] == [1] * 100
    assert "Your refund" not in str(answers)
    ran = [e.data for talk in desks for e in talk.events() if e.type == "tool.called"]
    assert {event["tool"] for event in ran} <= {"search_kb", "create_ticket"}
    assert "ret" not in {event["arguments"].get("query") for event in ran}
