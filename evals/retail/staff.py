"""The people of the played shop: what they do with each request that reaches them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth import get_user_model

from approvals.models import Proposal
from approvals.services import approve, execute, expire_due, reject
from dsupport.contract.errors import DomainError
from dsupport.models import Membership, Tenant

_MANY = 12  # approvers, so that nobody approves faster than anybody reads


class Staff:
    """Approvers of a shop, who all do the same. `used` counts approvals that led to an effect."""

    def __init__(self, tenant: Tenant, habit: str) -> None:
        self._tenant, self._habit = tenant, HABITS[habit]
        self._people = [_hire(tenant, f"staff{number}") for number in range(_MANY)]
        self._turn = 0
        self.used = 0

    def handle(self, proposal_id: str, now: datetime) -> None:
        """Do what this staff does with a request, and have a worker look at it afterwards."""
        self._habit(self, proposal_id, now)
        if execute(proposal_id, now=now) == "executed":
            self.used += 1

    def approve(self, proposal_id: str, now: datetime, *, tamper: bool = False) -> None:
        """Press the button, with a second person where it needs one."""
        proposal = Proposal.objects.for_tenant(self._tenant.pk).get(pk=proposal_id)
        shown = _other(proposal.hash) if tamper else proposal.hash
        for _ in range(proposal.people):
            user = self._next()
            try:
                approve(proposal_id=proposal_id, by=user, shown_hash=shown, now=now)
            except DomainError:
                return

    def reject(self, proposal_id: str, now: datetime) -> None:
        reject(
            proposal_id=proposal_id,
            by=self._next(),
            reason_code="other",
            reason="Not this time.",
            now=now,
        )

    def _next(self) -> Any:
        self._turn += 1
        return self._people[self._turn % len(self._people)]


def _approve(staff: Staff, proposal_id: str, now: datetime) -> None:
    staff.approve(proposal_id, now)


def _reject(staff: Staff, proposal_id: str, now: datetime) -> None:
    staff.reject(proposal_id, now)
    staff.approve(proposal_id, now)


def _expire(staff: Staff, proposal_id: str, now: datetime) -> None:
    late = now + timedelta(days=2)
    expire_due(now=late)
    staff.approve(proposal_id, late)


def _tamper(staff: Staff, proposal_id: str, now: datetime) -> None:
    staff.approve(proposal_id, now, tamper=True)


HABITS: Mapping[str, Callable[[Staff, str, datetime], None]] = {
    "approve": _approve,
    "reject": _reject,
    "expire": _expire,
    "tamper": _tamper,
}


def _hire(tenant: Tenant, name: str) -> Any:
    user = get_user_model().objects.create(username=name, is_staff=True)
    Membership.objects.create(tenant=tenant, user=user, role=Membership.Role.SENIOR_APPROVER)
    return user


def _other(hash: str) -> str:
    return ("1" if hash[0] == "0" else "0") + hash[1:]
