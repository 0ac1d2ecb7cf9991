"""The commands as one types them: output, exit status, one line that says what to do."""

from __future__ import annotations

import io
import json

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from approvals.management.commands import approvals, audit, switch
from approvals.models import AuditEntry
from approvals.services import is_off
from dsupport.models import Membership
from tests.approvals.conftest import ask, note_thing, run_sql

COMMANDS = {"approvals": approvals.Command, "audit": audit.Command, "switch": switch.Command}


def run(name: str, *arguments: str) -> tuple[int, str]:
    """Run a command on the test's own database; return exit status and what it printed."""
    out = io.StringIO()
    command = COMMANDS[name]()
    command.needs_desk = False  # the test has prepared the desk
    try:
        call_command(command, *arguments, stdout=out)
    except SystemExit as end:
        return int(end.code or 0), out.getvalue()
    except CommandError as error:
        return error.returncode, str(error)
    return 0, out.getvalue()


def test_audit_verify_counts_entries(db):
    note_thing(), note_thing(None)
    status, printed = run("audit", "verify", "--json")
    assert status == 0
    assert json.loads(printed) == {"entries": 2, "ok": True, "first_bad": None}
    assert run("audit", "verify") == (0, "2 entries, every chain holds.\n")


def test_audit_verify_changed_row_exits_one_and_names_it(committed_db):
    note_thing()
    entry = note_thing()
    run_sql("owner", "ALTER TABLE approvals_auditentry DISABLE TRIGGER ALL")
    run_sql("owner", "UPDATE approvals_auditentry SET kind = 'x.y' WHERE id = %s", entry.pk)
    status, printed = run("audit", "verify", "--json")
    assert status == 1
    assert json.loads(printed) == {
        "entries": 2,
        "ok": False,
        "first_bad": {"id": entry.pk, "tenant": 1, "seq": 2, "problem": "the entry was changed"},
    }
    status, printed = run("audit", "verify")
    assert status == 1
    assert f"entry 2 (row {entry.pk}): the entry was changed" in printed


def test_switch_off_list_on(tenant):
    ann = User.objects.create_user("ann", is_staff=True)
    Membership.objects.create(user=ann, tenant=tenant, role="operator")
    status, printed = run("switch", "off", "model", "--by", "ann", "--reason", "Too slow", "--json")
    assert status == 0
    assert json.loads(printed) | {"changed_at": ""} == {
        "name": "model",
        "off": True,
        "tenant": None,
        "changed_by": "ann",
        "changed_at": "",
        "reason": "Too slow",
    }
    assert is_off("model", tenant.pk)
    listed = json.loads(run("switch", "list", "--json")[1])
    assert [row["name"] for row in listed["set"]] == ["model"]
    assert "actions" in listed["known"]
    assert "never switched" in run("switch", "list")[1]
    status, _ = run(
        "switch", "on", "model", "--by", "ann", "--reason", "Fine", "--tenant", tenant.slug
    )
    assert status == 0
    assert is_off("model", tenant.pk)  # the whole system's switch is still off
    assert AuditEntry.objects.count() == 2


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["off", "model"], "Give by, reason"),
        (["off", "--by", "ann", "--reason", "x"], "Give name"),
        (["off", "model", "--by", "bob", "--reason", "x"], "no member of staff"),
        (["off", "model", "--by", "eve", "--reason", "x"], "no member of staff"),
        (["off", "lights", "--by", "ann", "--reason", "x"], "There is no switch"),
        (["off", "model", "--by", "ann", "--reason", " "], "Give a reason"),
        (["off", "model", "--by", "ann", "--reason", "x", "--tenant", "no"], "There is no shop"),
    ],
)
def test_switch_wrong_use_exits_two(tenant, arguments, hint):
    User.objects.create_user("ann", is_staff=True, is_superuser=True)
    User.objects.create_user("eve")
    status, printed = run("switch", *arguments)
    assert status == 2
    assert hint in printed
    assert len(printed.splitlines()) == 1


def test_approvals_list_and_show(desk, customer):
    ask(customer, "gifts.high", key="a")
    outcome = ask(customer, key="b")
    listed = json.loads(run("approvals", "list", "--json")[1])
    assert [row["action"] for row in listed] == ["gifts.low", "gifts.high"]
    assert listed[0].keys() >= {"id", "action", "arguments", "tier", "status", "hash", "expires_at"}
    pending = json.loads(run("approvals", "list", "--status", "pending", "--json")[1])
    assert [row["tier"] for row in pending] == ["HIGH"]
    shown = json.loads(run("approvals", "show", outcome.proposal_id, "--json")[1])
    assert shown["result"] == {"given": 500, "order": "1042"}
    assert shown["owner"] == "customer:7"
    assert "Give 500 on order 1042" in run("approvals", "list")[1]
    assert outcome.proposal_id in run("approvals", "show", outcome.proposal_id)[1]


def test_approvals_empty_list_teaches(db):
    assert "No proposals" in run("approvals", "list")[1]
    assert run("approvals", "list", "--json") == (0, "[]\n")


@pytest.mark.parametrize("arguments", [["show"], ["show", "x"], ["show", "1" * 32]])
def test_approvals_show_wrong_id_exits_two(db, arguments):
    status, printed = run("approvals", *arguments)
    assert status == 2
    assert printed
