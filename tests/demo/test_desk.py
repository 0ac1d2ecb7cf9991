from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from dsupport.demo import desk, programs
from dsupport.demo.addresses import listen
from dsupport.demo.check import choose_question
from dsupport.demo.desk import ForeignShop, ProviderMissing
from dsupport.demo.logins import CustomerHint, StaffLogin
from dsupport.demo.screen import Welcome
from dsupport.models import Tenant
from tests.conftest import make_tenant
from tests.databases import SEEDED_AT
from tests.demo.shop import stories_at


def test_check_provider_offline_needs_nothing():
    desk.check_provider("offline")


def test_check_provider_this_version_lacks_is_refused_in_one_line(settings):
    settings.DSUPPORT_PROVIDERS = {"offline": "x"}
    with pytest.raises(ProviderMissing, match="not available yet in this version") as refused:
        desk.check_provider("anthropic")
    assert "\n" not in refused.value.message


@pytest.mark.parametrize(
    ("provider", "variable"), [("anthropic", "ANTHROPIC_API_KEY"), ("openai", "OPENAI_API_KEY")]
)
def test_check_provider_without_key_says_which_variable(settings, provider, variable):
    settings.DSUPPORT_PROVIDERS = {provider: "x"}
    with pytest.raises(ProviderMissing, match=variable) as refused:
        desk.check_provider(provider)
    assert "\n" not in refused.value.message


def test_environment_takes_the_owners_powers_away():
    env = programs.environment(
        tenant="demo",
        provider="offline",
        hosts=["localhost", "desk.test"],
        url="http://desk.test:8000",
        data=Path("/data"),
        base={"DATABASE_OWNER_URL": "postgres://owner", "REDIS_URL": "redis://x", "LANG": "C"},
    )
    assert env["DATABASE_OWNER_URL"] == ""
    assert env["ALLOWED_HOSTS"] == "localhost,desk.test"
    assert (env["DSUPPORT_DEMO"], env["DSUPPORT_TENANT"]) == ("1", "demo")
    assert (env["REDIS_URL"], env["LANG"]) == ("redis://x", "C")


def test_web_program_inherits_the_listening_socket():
    with listen("127.0.0.1", 0) as listener:
        program = programs.web(listener, {})
        assert program.keep == (listener.fileno(),)
        assert str(listener.fileno()) in program.argv


def test_prepare_refuses_a_database_with_a_real_shop(demo_db):
    """In a demo anybody may enter as any customer of any shop in the database."""
    make_tenant("tau2")
    assert desk.prepare(tau2=None, progress=False).slug == "demo"
    make_tenant("acme")
    with pytest.raises(ForeignShop, match=r"\(acme\)"):
        desk.prepare(tau2=None, progress=False)


def test_own_database_is_one_this_process_has_leased(tmp_path, settings):
    assert not desk.is_own_database(tmp_path)


def test_choose_question_asks_after_the_delayed_parcel(demo_db):
    question = choose_question(Tenant.objects.get())
    promised = stories_at(SEEDED_AT)["1042"].parcels[0].promised_on
    assert (question.order, question.promised_on) == ("1042", promised)
    assert question.email == "fleur.hendriks@example.com"


@pytest.fixture
def signals_kept() -> Iterator[None]:
    """Give back the signals that the command leaves ignored, as its process ends anyway."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.getsignal(number) for number in numbers]
    yield
    for number, handler in zip(numbers, before, strict=True):
        signal.signal(number, handler)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--reset",), "--reset clears a database that the demo has started itself"),
        (("--host", "203.0.113.7"), "Cannot listen on 203.0.113.7"),
        (("--port", "70000"), "Cannot listen on 127.0.0.1 port 70000"),
        (("--provider", "anthropic"), "The provider anthropic"),
        (("--data", "/no/such/folder"), "/no/such/folder"),
    ],
)
def test_wrong_use_is_one_line_and_status_2(demo_db, signals_kept, settings, arguments, words):
    settings.DSUPPORT_PROVIDERS = {"offline": "x"}
    with pytest.raises(CommandError) as refused:
        call_command("demo", "--port", "0", *arguments)
    assert refused.value.returncode == 2
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_ctrl_c_while_preparing_ends_in_one_line(signals_kept, monkeypatch, capsys):
    def interrupted(**_arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(desk, "prepare", interrupted)
    with pytest.raises(SystemExit) as ended:
        call_command("demo", "--port", "0")
    assert ended.value.code == 130
    assert capsys.readouterr().err.count("\n") == 1
    # What follows, the stop of the servers, cannot be torn apart by one more Ctrl-C.
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_welcome_shows_what_a_newcomer_needs():
    text = str(
        Welcome(
            shop="Holm & Larch",
            url="http://127.0.0.1:8000",
            staff=[StaffLogin("mira", "aaaa-bbbb-cccc", "Administrator")],
            customers=[CustomerHint("fleur@example.com", "Where is my order 1042?")],
            customer_password="dddd-eeee-ffff",
            data=Path("/x/.dsupport"),
            logs=Path("/x/.dsupport/logs"),
        )
    )
    for expected in (
        "http://127.0.0.1:8000/\n",
        "http://127.0.0.1:8000/admin/",
        "mira  aaaa-bbbb-cccc  Administrator",
        "fleur@example.com  ask: Where is my order 1042?",
        "dddd-eeee-ffff",
        "/x/.dsupport/logs",
        "Press Ctrl-C to stop.",
    ):
        assert expected in text
    assert "Whoever reaches" not in text
    assert max(map(len, text.splitlines())) <= 100
    assert os.linesep * 3 not in text
