"""Approvers hear of what waits, are reminded, and a shop's own program hears of everything."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from datetime import timedelta

import pytest
from django.core.management import call_command
from hypothesis import given
from hypothesis import strategies as st

from approvals.management.commands import webhooks
from approvals.models import AuditEntry, Notice, Proposal, WebhookPlace
from approvals.services import edit, reject
from approvals.telling.mail import compose, plan_notices, send_notices
from approvals.telling.stages import MAX_ATTEMPTS, Stage, is_told, next_try, stage_at
from approvals.telling.webhooks import endpoint_of, event_of, replay, send_events
from dsupport.contract.errors import InvalidInput
from dsupport.lib.money import Money
from tests.approvals.conftest import NOW, ask, hire, note_thing
from tests.conftest import make_tenant

DAY = timedelta(hours=24)
KEY = b"0123456789abcdef0123456789abcdef"
HOOK = {"url": "https://shop.example/hook", "secret": "whsec_" + base64.b64encode(KEY).decode()}


class Post:
    """A mail server, or the other side of a webhook, that can be away."""

    def __init__(self) -> None:
        self.taken: list = []
        self.away = False

    def __call__(self, *what):
        if self.away:
            raise OSError("it is away")
        self.taken.append(what if len(what) > 1 else what[0])


@pytest.fixture
def post() -> Post:
    return Post()


@pytest.fixture
def people(tenant):
    members = [
        ("ann", "approver"),
        ("sue", "senior_approver"),
        ("ed", "editor"),
        ("op", "operator"),
    ]
    for name, role in members:
        hire(tenant, name, role, email=f"{name}@shop.example")
    hire(tenant, "quiet", "approver")  # has no address
    hire(tenant, "gone", "approver", email="gone@shop.example", is_active=False)
    hire(make_tenant("other"), "eve", "admin", email="eve@other.example")


@pytest.fixture
def proposal(desk, people, customer) -> Proposal:
    outcome = ask(customer, "gifts.high", evidence={"words": ["my secret words"]})
    return Proposal.objects.get(pk=outcome.proposal_id)


def tell(post: Post, now) -> list[str]:
    """Let the clock tell whoever is to be told now; return to whom something went."""
    before = len(post.taken)
    plan_notices(now=now)
    send_notices(now=now, send=post)
    return [message.to[0].partition("@")[0] for message in post.taken[before:]]


def test_those_who_may_decide_are_told_reminded_and_seniors_are_called(proposal, post):
    assert tell(post, NOW) == ["ann", "sue"]
    assert tell(post, NOW + DAY * 0.49) == []
    assert tell(post, NOW + DAY * 0.5) == ["ann", "sue"]
    assert tell(post, NOW + DAY * 0.75) == ["sue"]
    assert tell(post, NOW + DAY * 0.99) == []
    assert tell(post, NOW + DAY) == []


def test_after_a_silence_there_is_one_message_and_not_three(proposal, post):
    assert tell(post, NOW + DAY * 0.8) == ["sue"]


def test_email_says_what_waits_and_carries_no_right_and_nobodys_words(proposal, post, settings):
    settings.DSUPPORT_URL = "https://desk.example"
    tell(post, NOW)
    message = post.taken[0]
    assert message.subject == "Shop: Give 500 on order 1042"
    assert f"https://desk.example/admin/approvals/proposal/{proposal.pk}/change/\n" in message.body
    assert "23" not in message.subject
    for secret in (proposal.hash, "my secret words", "?", "token"):
        assert secret not in message.body


def test_a_description_cannot_write_headers(proposal):
    proposal.description = "Give\r\nBcc: eve@example.org"
    notice = Notice(proposal=proposal, stage="waiting", user_id=1, address="a@shop.example")
    message = compose(notice, NOW).message()
    assert message["Bcc"] is None
    assert message["Subject"] == "Shop: Give Bcc: eve@example.org"


def test_what_is_decided_before_it_is_sent_is_not_sent(tenant, proposal, post):
    plan_notices(now=NOW)
    ben = hire(tenant, "ben")
    reject(proposal_id=str(proposal.pk), by=ben, reason_code="other", reason="no", now=NOW)
    assert send_notices(now=NOW, send=post) == 0
    assert post.taken == []


def test_a_mail_server_that_is_away_is_tried_again_and_given_up_at_last(proposal, post):
    post.away = True
    assert tell(post, NOW) == []
    assert set(Notice.objects.values_list("error", flat=True)) == {"it is away"}
    assert send_notices(now=NOW, send=post) == 0  # not at once
    post.away = False
    assert send_notices(now=NOW + timedelta(seconds=31), send=post) == 2
    assert send_notices(now=NOW + DAY / 4, send=post) == 0
    Notice.objects.update(attempts=MAX_ATTEMPTS, sent_at=None)
    assert send_notices(now=NOW + DAY / 4, send=post) == 0


def test_who_edited_a_request_is_not_asked_to_decide_on_it(tenant, proposal, post):
    from django.contrib.auth import get_user_model

    ann = get_user_model().objects.get(username="ann")
    changed = {"order": "1042", "amount": 300}
    edit(proposal_id=str(proposal.pk), by=ann, arguments=changed, now=NOW)
    assert tell(post, NOW) == ["sue"]


@given(st.floats(0, 2))
def test_stages_only_go_forward_and_end_with_the_time(share):
    now = NOW + DAY * share
    stage = stage_at(NOW, NOW + DAY, now)
    assert (stage is None) == (now >= NOW + DAY)
    later = stage_at(NOW, NOW + DAY, now + DAY / 10)
    order = [*Stage, None]
    assert order.index(later) >= order.index(stage)


@pytest.mark.parametrize(
    ("stage", "role", "amount", "told"),
    [
        (Stage.WAITING, "approver", Money(50_000, "EUR"), True),
        (Stage.WAITING, "approver", Money(50_001, "EUR"), False),
        (Stage.WAITING, "senior_approver", Money(50_001, "EUR"), True),
        (Stage.WAITING, "approver", Money(1, "XTS"), False),
        (Stage.WAITING, "editor", None, False),
        (Stage.ESCALATION, "approver", None, False),
        (Stage.ESCALATION, "admin", None, True),
    ],
)
def test_people_hear_of_what_they_may_decide(stage, role, amount, told):
    assert is_told(stage, {role}, amount) is told


def test_tries_come_further_apart_and_never_stop_being_soon():
    waits = [(next_try(n, NOW) - NOW).total_seconds() for n in range(1, 12)]
    assert waits[:3] == [30, 60, 120]
    assert waits[-1] == 1_800


# --- webhooks -------------------------------------------------------------------------------


@pytest.fixture
def hooked(tenant, settings):
    settings.DSUPPORT_WEBHOOKS = {tenant.slug: HOOK}
    send_events(tenant, now=NOW, post=Post())  # set up: what was before is not told
    return tenant


def heard(post: Post) -> list[tuple[str, str]]:
    return [(head["webhook-id"], json.loads(body)["type"]) for _, body, head in post.taken]


def test_events_come_signed_in_order_and_once(hooked, proposal, post):
    assert send_events(hooked, now=NOW, post=post) == 1
    assert send_events(hooked, now=NOW, post=post) == 0
    url, body, head = post.taken[0]
    signed = f"{head['webhook-id']}.{head['webhook-timestamp']}.".encode() + body
    mac = base64.b64encode(hmac.new(KEY, signed, hashlib.sha256).digest()).decode()
    assert head["webhook-signature"] == f"v1,{mac}"
    assert (url, int(head["webhook-timestamp"])) == (HOOK["url"], int(NOW.timestamp()))
    assert json.loads(body)["data"]["proposal"] == str(proposal.pk)
    assert b"secret words" not in body


def test_nothing_overtakes_what_failed_and_all_of_it_comes(hooked, proposal, post):
    post.away = True
    assert send_events(hooked, now=NOW, post=post) == 0
    ben = hire(hooked, "ben")
    reject(proposal_id=str(proposal.pk), by=ben, reason_code="other", reason="no", now=NOW)
    post.away = False
    assert send_events(hooked, now=NOW, post=post) == 0  # not at once
    assert send_events(hooked, now=NOW + timedelta(minutes=1), post=post) == 2
    assert [kind for _, kind in heard(post)] == ["proposal.pending", "proposal.rejected"]


def test_replay_sends_the_same_ids_again(hooked, proposal, post, capsys):
    send_events(hooked, now=NOW, post=post)
    before = heard(post)
    seq = int(before[0][0].rpartition("_")[2])
    replay(hooked, after=seq - 1, now=NOW)
    send_events(hooked, now=NOW, post=post)
    assert heard(post) == before * 2
    with pytest.raises(InvalidInput, match="no place"):
        replay(hooked, after=10**9, now=NOW)


def test_a_replay_that_is_asked_for_while_sending_is_not_lost(hooked, proposal, post):
    def ask_again(*what):
        post(*what)
        if len(post.taken) == 1:
            replay(hooked, after=0, now=NOW)

    send_events(hooked, now=NOW, post=ask_again)
    assert WebhookPlace.objects.get(tenant=hooked).seq == 0
    send_events(hooked, now=NOW, post=post)
    assert len(heard(post)) == 2
    assert len(set(heard(post))) == 1


def test_only_proposals_of_ones_own_shop_are_told(hooked, post):
    note_thing(hooked.pk, "thing:1")
    note_thing(make_tenant("other").pk, "proposal:1")
    assert send_events(hooked, now=NOW, post=post) == 0
    assert event_of(AuditEntry.objects.filter(tenant_id=hooked.pk).latest("id")) is None


def test_a_weak_key_signs_nothing(tenant, settings):
    settings.DSUPPORT_WEBHOOKS = {tenant.slug: {**HOOK, "secret": "whsec_dG9vIHNob3J0"}}
    with pytest.raises(InvalidInput, match="24 bytes"):
        endpoint_of(tenant)


def test_command_says_how_far_a_webhook_has_heard(hooked, proposal, post, capsys):
    post.away = True
    send_events(hooked, now=NOW, post=post)
    command = webhooks.Command()
    command.needs_desk = False  # the test has prepared the desk
    with pytest.raises(SystemExit):
        call_command(command, "status")
    assert "failing: it is away" in capsys.readouterr().out
    place = WebhookPlace.objects.get(tenant=hooked)
    call_command(command, "replay", hooked.slug, "--after", str(place.seq))
    assert "sent again" in capsys.readouterr().out
