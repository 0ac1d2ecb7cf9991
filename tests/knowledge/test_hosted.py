"""Hosted embedders: what they are asked, what goes wrong, what it costs, and changing to one."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from django.db import connection

from dsupport.contract.errors import PortError
from dsupport.lib import wiring
from dsupport.lib.gateway import Gateway
from dsupport.lib.gateway import gateway as of_this_process
from dsupport.lib.prices import Price
from knowledge import services
from knowledge.adapters.hosted import Account, OpenAICompatible, Voyage, forget_connections
from knowledge.adapters.memory import HashEmbedder
from knowledge.checks import check_hosted
from knowledge.embedding import embed_documents, embed_query
from knowledge.errors import EmbeddingRefused
from knowledge.models import EmbeddingAttempt, KnowledgeIndex
from knowledge.ports import Attempted
from knowledge.rules.scoring import check_vectors
from tests.conftest import NOW, make_tenant
from tests.knowledge.conftest import article, open_centre
from tests.knowledge.hosted_fake import FakeEmbeddings, Fault

SERVICES = {"voyage": Voyage, "openai": OpenAICompatible}


@pytest.fixture
def fake():
    with FakeEmbeddings() as server:
        yield server
    forget_connections()


@pytest.fixture(params=SERVICES)
def service(request):
    return SERVICES[request.param]


def account(fake, **fields) -> Account:
    known = {"key": "key", "base_url": fake.url, "model": "words", "dims": fake.dims}
    return Account(**{**known, "prices": {"words": Price(Decimal("0.10"), Decimal(0))}, **fields})


def make(service, fake, booked=None, **fields):
    paused: list[float] = []
    made = service(account(fake, **fields), by=Gateway(sleep=paused.append, random=lambda: 0.0))
    made.paused = paused
    return made if booked is None else made.billed(booked.append)


def test_hosted_vectors_have_unit_length_and_stand_in_the_order_of_the_texts(service, fake):
    texts = [f"passage number {number}" for number in range(150)]
    booked: list[Attempted] = []
    vectors = make(service, fake, booked).embed_documents(texts)
    check_vectors(vectors, count=150, dims=fake.dims)
    expected = HashEmbedder().embed_documents(texts)
    assert vectors[149] == pytest.approx(expected[149])
    assert [len(asked["input"]) for asked in fake.asked] == [64, 64, 22]
    assert [b.tokens for b in booked] == [192, 192, 66]
    assert set(fake.keys) == {"Bearer key"}


def test_hosted_no_texts_ask_nobody(service, fake):
    assert make(service, fake).embed_documents([]) == []
    assert fake.asked == []


def test_voyage_is_told_what_a_text_is_and_how_long_its_vector_shall_be(fake):
    model = make(Voyage, fake)
    model.embed_queries(["when does it come?"])
    model.embed_documents(["It comes on Monday."])
    told = [(asked["input_type"], asked["output_dimension"]) for asked in fake.asked]
    assert told == [("query", fake.dims), ("document", fake.dims)]


def test_openai_model_that_cannot_be_shortened_is_not_told_a_length(fake):
    make(OpenAICompatible, fake).embed_queries(["a"])
    make(OpenAICompatible, fake, model="text-embedding-3-small").embed_queries(["a"])
    assert ["dimensions" in asked for asked in fake.asked] == [False, True]


@pytest.mark.parametrize(
    "fault",
    [
        Fault(500),
        Fault(429, headers={"retry-after": "2"}),
        Fault(body=b"not json"),
        Fault(body=b"[]"),
        Fault(body=b'{"data": []}'),
        Fault(body=json.dumps({"data": [{"index": 1, "embedding": [1.0]}]}).encode()),
        Fault(body=b'{"data": [{"index": 0, "embedding": ["x"]}]}'),
    ],
    ids=["500", "429", "no-json", "list", "none", "other-index", "words"],
)
def test_hosted_passing_trouble_is_tried_again_and_booked(service, fake, fault):
    fake.faults = [fault]
    booked: list[Attempted] = []
    model = make(service, fake, booked)
    assert len(model.embed_queries(["when does it come?"])) == 1
    assert [bool(b.code) for b in booked] == [True, False]
    assert booked[0].tokens > 0  # it may have been billed
    assert model.paused == ([2.0] if fault.status == 429 else [])


def test_hosted_service_that_stays_down_gets_three_attempts_then_the_breaker_opens(service, fake):
    fake.down_from = 0
    booked: list[Attempted] = []
    model = make(service, fake, booked)
    codes = []
    for _ in range(3):
        with pytest.raises(PortError) as caught:
            model.embed_queries(["when?"])
        codes.append(caught.value.code)
    assert codes == ["server_error", "server_error", "circuit_open"]
    assert len(booked) == len(fake.asked) == 5


def test_hosted_service_that_asks_for_more_patience_than_there_is_gets_one_attempt(service, fake):
    fake.faults = [Fault(429, headers={"retry-after": "171"})] * 3
    with pytest.raises(PortError) as caught:
        make(service, fake).embed_queries(["when?"])
    assert (caught.value.code, caught.value.retry_after) == ("rate_limited", 171.0)
    assert len(fake.asked) == 1


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (400, "bad_request"),
        (401, "key_refused"),
        (402, "spend_limit"),
        (404, "unknown_model"),
    ],
)
def test_hosted_refusal_is_not_repeated(service, fake, status, code):
    fake.faults = [Fault(status)]
    with pytest.raises(PortError) as caught:
        make(service, fake).embed_queries(["when?"])
    assert (caught.value.code, len(fake.asked)) == (code, 1)


def test_hosted_service_without_a_key_is_not_asked(service):
    account_without = Account("", service.public_url, "words", 8)
    with pytest.raises(PortError) as caught:
        service(account_without, by=Gateway()).embed_queries(["when?"])
    assert caught.value.code == "no_key"


def test_hosted_model_without_key_or_price_is_named_at_the_start(hosted, settings):
    settings.DSUPPORT_EMBEDDER = VOYAGE
    forgotten()
    assert check_hosted() == []
    own = settings.DSUPPORT_EMBEDDINGS["voyage"]
    lacking = {**own, "key": "", "base_url": Voyage.public_url, "model": "unheard-of"}
    settings.DSUPPORT_EMBEDDINGS = {**settings.DSUPPORT_EMBEDDINGS, "voyage": lacking}
    forgotten()
    key, price = (warning.msg for warning in check_hosted())
    assert "no key" in key
    assert "unheard-of has no price" in price


def test_hosted_server_that_is_not_there_is_said_to_be_unreachable(service):
    nowhere = Account("key", "http://127.0.0.1:9", "words", 8)
    model = service(nowhere, by=Gateway(sleep=lambda _seconds: None))
    with pytest.raises(PortError) as caught:
        model.embed_queries(["when?"])
    assert caught.value.code == "unreachable"
    forget_connections()


@pytest.mark.parametrize(
    "numbers",
    [[0.0] * 256, [1.0], [float("nan"), *[1.0] * 255]],
    ids=["zero", "short", "nan"],
)
def test_hosted_vector_without_a_meaning_is_refused(service, fake, numbers):
    body = json.dumps({"data": [{"index": 0, "embedding": numbers}]}).encode()
    fake.faults = [Fault(body=body)]
    model = make(service, fake)
    with pytest.raises(EmbeddingRefused):
        check_vectors(model.embed_queries(["when?"]), count=1, dims=model.dims)


def test_hosted_empty_text_is_refused_before_anybody_is_asked(service, fake):
    with pytest.raises(EmbeddingRefused):
        make(service, fake).embed_documents(["a passage", " \n"])
    assert fake.asked == []


def test_hosted_ids_tell_model_size_and_place_apart(service, fake):
    home = service.public_url
    made = [
        Account("key", home, "words", 8),
        Account("key", home, "words", 16),
        Account("key", home, "others", 8),
        Account("key", "https://vectors.example/v1", "words", 8),
        Account("key", home, "w" * 100, 8),
        Account("key", home, "w" * 101, 8),
    ]
    ids = [service(one).id for one in made]
    assert len(set(ids)) == len(ids)
    assert max(len(one) for one in ids) <= 80
    assert "key" not in "".join(ids)


# --- as a shop uses one ---------------------------------------------------------------------


@pytest.fixture
def hosted(fake, settings, db):
    """Have the settings name Voyage, served by the fake."""
    settings.DSUPPORT_EMBEDDINGS = {
        **settings.DSUPPORT_EMBEDDINGS,
        "voyage": {"key": "key", "base_url": fake.url, "model": "words", "dims": fake.dims},
    }
    settings.DSUPPORT_PRICES = {**settings.DSUPPORT_PRICES, "words": {"input": "2"}}
    forgotten()
    yield fake
    forgotten()


def forgotten():
    wiring.forget()
    of_this_process.forget()


VOYAGE = "knowledge.adapters.hosted.Voyage"


def test_search_by_a_hosted_model_is_booked_and_shows_it_no_address(hosted, settings):
    settings.DSUPPORT_EMBEDDER = VOYAGE
    centre = open_centre()
    assert centre.ids("how many days for a return? mail me at ada@shop.example")[0] == "returns"
    assert "ada@shop.example" not in json.dumps(hosted.asked)
    rows = list(EmbeddingAttempt.objects.since(NOW.replace(year=2000), centre.tenant.pk))
    assert [row.purpose for row in rows] == ["document", "document", "document", "query"]
    assert all(row.tokens > 0 and row.cost == 2 * row.tokens and not row.code for row in rows)


@pytest.mark.parametrize("scope", ["tenant", "system"])
def test_shop_whose_budget_is_spent_asks_no_hosted_model(hosted, settings, scope):
    settings.DSUPPORT_EMBEDDER = VOYAGE
    shop = make_tenant()
    settings.DSUPPORT_TOKEN_BUDGETS = {**settings.DSUPPORT_TOKEN_BUDGETS, scope: 4}
    model = wiring.load("DSUPPORT_EMBEDDER")
    embed_query(model, "three words here", tenant_id=shop.pk)
    embed_query(model, "once more", tenant_id=shop.pk)
    with pytest.raises(PortError) as caught:
        embed_documents(model, ["a passage"], tenant_id=shop.pk)
    assert caught.value.code == "budget_spent"
    assert len(hosted.asked) == 2
    embed_query(HashEmbedder(), "one that runs here is free", tenant_id=shop.pk)


def test_change_to_a_hosted_model_that_goes_down_half_way_serves_the_old_vectors(hosted, settings):
    articles = [article(f"a{n}", f"Topic {n}", f"About matter{n} in general.") for n in range(80)]
    centre = open_centre(articles=articles)
    before = KnowledgeIndex.objects.get(tenant=centre.tenant).active_set
    settings.DSUPPORT_EMBEDDER = VOYAGE
    forgotten()
    hosted.down_from = 2
    with pytest.raises(PortError):
        services.rebuild_index(centre.tenant.pk, now=NOW)
    assert KnowledgeIndex.objects.get(tenant=centre.tenant).active_set == before
    assert centre.ids("matter7")[0] == "a7"

    hosted.down_from = None
    of_this_process.forget()
    asked = len(hosted.asked)
    assert services.rebuild_index(centre.tenant.pk, now=NOW) is True
    texts = [text for one in hosted.asked[asked:] for text in one["input"] if "matter" in text]
    assert len(texts) == 80 - 64  # what was there already is not paid for twice
    after = KnowledgeIndex.objects.get(tenant=centre.tenant).active_set
    assert (before.embedder_id, after.embedder_id) == (
        HashEmbedder.id,
        wiring.load("DSUPPORT_EMBEDDER").id,
    )
    assert centre.ids("matter7")[0] == "a7"


def test_no_connection_is_held_while_a_hosted_model_is_asked(committed_db):
    class Watching(HashEmbedder):
        held: list[bool] = []

        def billed(self, book):
            return self

        def problems(self):
            return []

        def embed_queries(self, texts):
            self.held.append(connection.connection is not None)
            return super().embed_queries(texts)

    shop = make_tenant()
    embed_query(Watching(), "when?", tenant_id=shop.pk)
    assert Watching.held == [False]
