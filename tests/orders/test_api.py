from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import jwt
import pytest
from django.contrib.auth.hashers import make_password
from django.contrib.sessions.models import Session
from django.test import Client

from dsupport.lib import clock
from dsupport.lib.session import find_principal
from dsupport.models import ApiKey, Tenant
from orders.attempts import ATTEMPTS_AN_HOUR

SECRET = "a shop's secret that is long enough to sign with"
NOBODY = {"asker": "anonymous", "name": "", "proved_orders": []}
ADA = {"asker": "signed_in", "name": "Ada Moore", "proved_orders": []}


class Browser:
    """A visitor of one shop."""

    def __init__(self, tenant: Tenant) -> None:
        self.tenant = tenant
        self.client = Client()

    def ask(self, method: str, path: str = "", body: Any = None, **headers: Any) -> Any:
        return self.client.generic(
            method,
            f"/api/session{path}?shop={self.tenant.slug}",
            json.dumps(body) if body is not None else "",
            content_type="application/json",
            headers=headers,
        )

    def post(self, path: str, **body: Any) -> Any:
        return self.ask("POST", path, body)

    @property
    def key(self) -> str:
        return str(self.client.session.session_key)

    @property
    def visitor(self) -> str:
        principal = find_principal(self.client.session, self.tenant.pk)
        assert principal is not None
        return principal.visitor

    @property
    def who(self) -> dict[str, Any]:
        described: dict[str, Any] = self.ask("GET").json()
        del described["remembered"]
        return described


@pytest.fixture
def browser(shop: Any) -> Browser:
    return Browser(shop.tenant)


@pytest.fixture
def ada(shop: Any) -> Any:
    return shop.customer(password=make_password("right"))


def refusal(response: Any) -> tuple[int, str]:
    document = response.json()
    assert set(document) == {"code", "message"}
    assert document["message"]
    return response.status_code, document["code"]


def test_stranger_is_nobody_with_a_visitor_of_their_own(browser: Browser) -> None:
    assert browser.who == NOBODY
    assert browser.visitor


def test_login_rotates_the_session_and_keeps_the_visitor(browser: Browser, ada: Any) -> None:
    browser.ask("GET")
    planted, visitor = browser.key, browser.visitor
    answer = browser.post("/login", email="Ada@example.com", password="right")
    assert answer.json() == ADA
    assert browser.who == ADA
    assert browser.key != planted
    assert not Session.objects.filter(session_key=planted).exists()
    assert browser.visitor == visitor


def test_wrong_password_says_nothing_more(browser: Browser, ada: Any) -> None:
    known = browser.post("/login", email="ada@example.com", password="wrong")
    unknown = browser.post("/login", email="no@example.com", password="wrong")
    assert refusal(known) == refusal(unknown) == (401, "login_failed")
    assert known.content == unknown.content
    assert browser.who == NOBODY


def test_guest_proves_orders_one_by_one(browser: Browser, shop: Any) -> None:
    shop.order(None, "#W261", email="guest@example.com")
    shop.order(None, "#W262", email="guest@example.com")
    first = browser.post("/guest", order="w261", email="guest@example.com")
    assert first.json() == {"asker": "guest_with_order", "name": "", "proved_orders": ["#W261"]}
    browser.post("/guest", order="w262", email="guest@example.com")
    assert browser.ask("GET").json()["proved_orders"] == ["#W261", "#W262"]


def test_twenty_wrong_proofs_are_the_last(browser: Browser, shop: Any) -> None:
    shop.order(None, "100", email="guest@example.com")
    answers = [
        browser.post("/guest", order="100", email=f"{number}@example.com")
        for number in range(ATTEMPTS_AN_HOUR)
    ]
    assert {refusal(answer) for answer in answers} == {(401, "proof_failed")}
    assert len({answer.content for answer in answers}) == 1
    right = {"order": "100", "email": "guest@example.com"}
    assert refusal(browser.post("/guest", **right)) == (429, "too_many_attempts")
    # New cookies do not help: the address is known.
    assert refusal(Browser(shop.tenant).post("/guest", **right)) == (429, "too_many_attempts")


def test_token_signs_in_once(browser: Browser, ada: Any) -> None:
    Tenant.objects.update(token_secret=SECRET)
    payload = {
        "tenant": browser.tenant.slug,
        "customer": "ada",
        "exp": clock.now() + timedelta(minutes=5),
        "jti": "one",
    }
    token = jwt.encode(payload, SECRET, algorithm="HS256")
    assert browser.post("/token", token=token).json() == ADA
    replay = Browser(browser.tenant).post("/token", token=token)
    assert refusal(replay) == (401, "token_used")
    forged = jwt.encode({**payload, "jti": "two"}, SECRET[::-1], algorithm="HS256")
    assert refusal(browser.post("/token", token=forged)) == (401, "invalid_token")


def test_logout_ends_the_old_key_and_the_visitor(browser: Browser, ada: Any) -> None:
    browser.post("/login", email="ada@example.com", password="right")
    key, visitor = browser.key, browser.visitor
    assert browser.ask("DELETE").json() == NOBODY
    assert not Session.objects.filter(session_key=key).exists()
    assert browser.visitor != visitor
    stolen = Client()
    stolen.cookies["sessionid"] = key
    answer = stolen.get(f"/api/session?shop={browser.tenant.slug}").json()
    assert answer == {**NOBODY, "remembered": True}


def test_identity_in_one_shop_is_none_in_another(
    browser: Browser, ada: Any, other_shop: Any
) -> None:
    browser.post("/login", email="ada@example.com", password="right")
    elsewhere = browser.client.get(f"/api/session?shop={other_shop.tenant.slug}")
    assert elsewhere.json() == {**NOBODY, "remembered": True}


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/login", {"email": "a@example.com"}),
        ("/login", {"email": "a@example.com", "password": ""}),
        ("/login", {"email": "a@example.com", "password": "x" * 300}),
        ("/guest", {"order": "", "email": "a@example.com"}),
        ("/guest", {"order": "1", "email": "a@example.com", "customer_id": 1}),
        ("/guest", {"order": ["1"], "email": "a@example.com"}),
        ("/token", {}),
    ],
)
def test_form_that_is_not_whole_is_refused(browser: Browser, path: str, body: Any) -> None:
    assert refusal(browser.ask("POST", path, body)) == (422, "invalid_input")


def test_null_bytes_are_an_ordinary_wrong_answer(browser: Browser, ada: Any) -> None:
    assert refusal(browser.post("/guest", order="\x00", email="\x00"))[1] == "proof_failed"
    assert refusal(browser.post("/login", email="\x00", password="\x00"))[1] == "login_failed"


@pytest.mark.parametrize(
    "headers", [{"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}]
)
def test_another_site_cannot_sign_anybody_in(
    browser: Browser, ada: Any, headers: dict[str, str]
) -> None:
    form = {"email": "ada@example.com", "password": "right"}
    answer = browser.ask("POST", "/login", form, **headers)
    assert refusal(answer) == (403, "foreign_origin")
    assert browser.who == NOBODY


def test_programs_key_has_no_session_to_sign_in(browser: Browser, ada: Any) -> None:
    from dsupport.access import key_digest

    ApiKey.objects.create(
        tenant=browser.tenant,
        name="program",
        digest=key_digest("secret"),
        created_by="test",
        created_at=clock.now(),
    )
    form = {"email": "ada@example.com", "password": "right"}
    answer = browser.ask("POST", "/login", form, Authorization="Bearer secret")
    assert refusal(answer) == (403, "key_has_no_session")


def test_unknown_shop_is_refused(db: None) -> None:
    assert refusal(Client().get("/api/session?shop=nowhere")) == (404, "unknown_shop")


def test_demo_lets_anybody_be_a_customer(browser: Browser, ada: Any, shop: Any) -> None:
    shop.order(ada, "1042", status="shipped")
    offered = browser.ask("GET", "/demo-customers").json()
    assert [customer["email"] for customer in offered] == ["ada@example.com"]
    assert browser.post("/demo", email="ada@example.com").json() == ADA
    assert refusal(browser.post("/demo", email="no@example.com")) == (404, "unknown_customer")


def test_desk_in_earnest_has_no_demo_doors(browser: Browser, ada: Any, settings: Any) -> None:
    settings.DSUPPORT_DEMO = False
    assert refusal(browser.ask("GET", "/demo-customers")) == (404, "not_found")
    assert refusal(browser.post("/demo", email="ada@example.com")) == (404, "not_found")
    assert browser.who == NOBODY
