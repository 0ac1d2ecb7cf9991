"""The chat on a shop's own site: which sites may show it, and a cookie that works there."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import URLPattern, get_resolver
from hypothesis import given
from hypothesis import strategies as st

from approvals.models import AuditEntry
from dsupport.contract.errors import Forbidden, InvalidInput
from dsupport.management.commands import widget
from dsupport.models import Membership, Tenant
from dsupport.sites import MAX_SITES, allow_site, forbid_site, frame_ancestors, parse_site
from tests.conftest import NOW

FRAMED = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "iframe"}


def person(tenant, role: str) -> User:
    user = User.objects.create_user(f"ann-{role}", is_staff=True)
    Membership.objects.create(user=user, tenant=tenant, role=role)
    return user


# --- what counts as a site ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "origin"),
    [
        ("https://shop.example", "https://shop.example"),
        (" https://Shop.Example/ ", "https://shop.example"),
        ("https://shop.example:443", "https://shop.example"),
        ("https://shop.example:8443", "https://shop.example:8443"),
        ("http://localhost:3000", "http://localhost:3000"),
        ("http://127.0.0.1:80", "http://127.0.0.1"),
        ("https://bücher.example", "https://xn--bcher-kva.example"),
    ],
)
def test_site_is_one_origin_as_browsers_write_it(given, origin):
    assert parse_site(given) == origin


@pytest.mark.parametrize(
    "given",
    [
        "",
        "shop.example",
        "http://shop.example",
        "https://*.shop.example",
        "https://*",
        "*",
        "https://shop.example/help",
        "https://shop.example?x",
        "https://ann@shop.example",
        "https://shop.example; script-src *",
        "https://shop.example https://other.example",
        "https://shop.example\nx: y",
        "https://shop.example:99999",
        "https://[::1",
        "https://-.example",
        "javascript:alert(1)",
        "data:text/html,x",
        "https://" + "a" * 300,
    ],
)
def test_site_that_is_none_is_refused_with_the_way_out(given):
    with pytest.raises(InvalidInput, match="Give it like") as refused:
        parse_site(given)
    assert refused.value.code == "invalid_site"


@given(st.text(max_size=60).map(lambda rest: f"https://{rest}"))
def test_site_any_accepted_text_is_safe_in_a_header_and_stable(text):
    try:
        site = parse_site(text)
    except InvalidInput:
        return
    assert parse_site(site) == site
    assert not set(site) & set(" ;,'\"\r\n*")


def test_row_that_nobody_parsed_reaches_no_header():
    rows = ["https://shop.example", "*", "https://a.example; script-src *", "http://b.example"]
    assert frame_ancestors(rows) == "'self' https://shop.example"


# --- who lists them -------------------------------------------------------------------------


def test_administrator_allows_and_forbids_each_with_a_row_in_the_audit(tenant):
    by = person(tenant, "admin")
    for _ in range(2):
        assert allow_site(tenant=tenant, site="https://Shop.example/", by=by, now=NOW) == [
            "https://shop.example"
        ]
    assert forbid_site(tenant=tenant, site="https://shop.example", by=by, now=NOW) == []
    entries = AuditEntry.objects.order_by("id")
    assert [entry.kind for entry in entries] == ["site.allowed", "site.forbidden"]
    assert json.loads(entries[0].detail) == {"site": "https://shop.example"}
    assert entries[0].actor == "staff:ann-admin"


@pytest.mark.parametrize(
    "role", [role for role in Membership.Role.values if role != Membership.Role.ADMIN]
)
def test_nobody_but_an_administrator_lists_a_site(tenant, role):
    with pytest.raises(Forbidden):
        allow_site(tenant=tenant, site="https://shop.example", by=person(tenant, role), now=NOW)
    assert Tenant.objects.get().allowed_sites == []
    assert not AuditEntry.objects.exists()


def test_too_many_sites_are_refused(tenant):
    by = person(tenant, "admin")
    for number in range(MAX_SITES):
        allow_site(tenant=tenant, site=f"https://s{number}.example", by=by, now=NOW)
    with pytest.raises(InvalidInput, match="Forbid one first"):
        allow_site(tenant=tenant, site="https://more.example", by=by, now=NOW)


def test_command_changes_the_list_and_prints_the_tag(tenant):
    person(tenant, "admin")
    shown = json.loads(typed("allow", "https://shop.example", "--by", "ann-admin", "--json"))
    assert shown["sites"] == ["https://shop.example"]
    assert 'data-shop="shop"' in shown["tag"]
    assert "  https://shop.example\n" in typed("list")
    with pytest.raises(CommandError, match="Give site"):
        typed("forbid", "--by", "ann-admin")


def typed(*arguments: str) -> str:
    out, command = StringIO(), widget.Command()
    command.needs_desk = False  # the test has prepared the desk
    call_command(command, *arguments, "--shop", "shop", stdout=out)
    return out.getvalue()


# --- what may be framed ---------------------------------------------------------------------


def test_embedded_chat_names_the_sites_that_may_frame_it(tenant):
    allow_site(tenant=tenant, site="https://shop.example", by=person(tenant, "admin"), now=NOW)
    page = Client().get("/embed/shop/")
    assert "X-Frame-Options" not in page
    assert page["Content-Security-Policy"].endswith("frame-ancestors 'self' https://shop.example")
    assert "data-embedded" in page.content.decode()


def test_no_other_page_may_be_framed(tenant, settings):
    settings.DSUPPORT_TENANT = "shop"
    allow_site(tenant=tenant, site="https://shop.example", by=person(tenant, "admin"), now=NOW)
    routes = [p for p in get_resolver().url_patterns if isinstance(p, URLPattern)]
    addresses = ["/" + str(p.pattern).replace("<slug:slug>", "shop") for p in routes]
    others = [a for a in addresses if not a.startswith("/embed/") and "<" not in a]
    assert len(others) >= 8
    for address in [*others, "/help/none", "/admin/login/", "/api/docs", "/api/session"]:
        page = Client().get(address)
        assert "frame-ancestors 'none'" in page["Content-Security-Policy"], address
        assert page.status_code == 302 or page["X-Frame-Options"] == "DENY", address


def test_embedded_chat_of_an_unknown_shop_is_not_found(tenant):
    page = Client().get("/embed/nowhere/")
    assert page.status_code == 404
    assert "'none'" in page["Content-Security-Policy"]


# --- the cookie in a foreign frame ----------------------------------------------------------


def cookie_of(answer):
    morsel = answer.cookies["sessionid"]
    return (morsel["samesite"], bool(morsel["secure"]), bool(morsel["partitioned"]))


APART = ("None", True, True)
USUAL = ("Lax", False, False)


def test_session_that_begins_in_a_foreign_frame_lives_apart(tenant, settings):
    settings.DSUPPORT_TENANT = "shop"
    client = Client()
    answer = client.get("/embed/shop/", headers=FRAMED)
    assert cookie_of(answer) == APART
    assert "Partitioned" in answer.cookies["sessionid"].OutputString()
    # The cookie is sent again, under a new key, with every change of who is asking.
    left = client.delete("/api/session?shop=shop")
    assert cookie_of(left) == APART
    assert client.get("/api/session?shop=shop").json()["remembered"]


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Dest": "iframe"},
        {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Dest": "iframe"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "document"},
    ],
    ids=["old browser", "subdomain", "own page", "link"],
)
def test_session_elsewhere_keeps_the_usual_cookie(tenant, headers):
    assert cookie_of(Client().get("/embed/shop/", headers=headers)) == USUAL


def test_other_pages_never_loosen_the_cookie(tenant, settings):
    settings.DSUPPORT_TENANT = "shop"
    assert cookie_of(Client().get("/api/session", headers=FRAMED)) == USUAL


def test_session_request_says_whether_the_cookie_came_back(tenant, settings):
    settings.DSUPPORT_TENANT = "shop"
    client = Client()
    assert client.get("/api/session").json()["remembered"] is False
    assert client.get("/api/session").json()["remembered"] is True


def test_message_from_the_framing_page_itself_is_refused(tenant, settings):
    """The page around the frame may show the chat, not act in it with the visitor's cookie."""
    settings.DSUPPORT_TENANT = "shop"
    client = Client()
    client.get("/embed/shop/", headers=FRAMED)
    answer = client.post(
        "/api/conversations?shop=shop",
        "{}",
        content_type="application/json",
        headers={"Origin": "https://shop.example", "Sec-Fetch-Site": "cross-site"},
    )
    assert (answer.status_code, answer.json()["code"]) == (403, "foreign_origin")


# --- what makes the chat installable --------------------------------------------------------


def test_manifest_leads_back_to_the_chat_of_its_own_shop(tenant, settings):
    settings.DSUPPORT_TENANT = "shop"
    Tenant.objects.create(slug="second", name="Second")
    own = Client().get("/manifest.webmanifest").json()
    second = Client().get("/shops/second/manifest.webmanifest").json()
    assert (own["start_url"], second["start_url"]) == ("/", "/shops/second/")
    assert second["name"] == "Second support"
    assert (
        'href="/shops/second/manifest.webmanifest"'
        in Client().get("/shops/second/").content.decode()
    )
    assert 'rel="manifest"' not in Client().get("/embed/second/").content.decode()
