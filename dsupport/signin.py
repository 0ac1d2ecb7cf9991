"""Signing in to the console: guesses are limited, and who came in or was refused is recorded."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from unfold.forms import AuthenticationForm

from approvals.services import record
from dsupport.contract.errors import DomainError, Forbidden
from dsupport.lib import clock
from orders.attempts import Guess, counted, network_of
from orders.errors import TooManyAttempts


class StaffLoginForm(AuthenticationForm):
    """The console's form. Wrong guesses count for a network address, not for an account.

    Otherwise anybody could lock an approver out by guessing on purpose.
    """

    def clean(self) -> dict[str, Any]:
        address = str(self.request.META.get("REMOTE_ADDR", "")) if self.request else ""
        target = f"console|{network_of(address)}"  # apart from what customers there guess wrong
        guess = Guess(tenant_id=0, visitor="", address="", target=target)
        try:
            with counted(guess, now=clock.now()):
                return self._checked()
        except TooManyAttempts as error:
            words = "Too many attempts did not match. Try again after the next full hour."
            raise ValidationError(words, code=error.code) from error
        except DomainError as error:
            raise ValidationError(error.message, code=error.code) from error

    def _checked(self) -> dict[str, Any]:
        try:
            cleaned: dict[str, Any] = super().clean()
        except ValidationError as error:
            self._record("staff.refused")
            raise Forbidden(" ".join(error.messages), code="login_failed") from error
        self._record("staff.signed_in")
        return cleaned

    def _record(self, kind: str) -> None:
        name = str(self.cleaned_data.get("username", ""))
        with transaction.atomic():
            record(
                tenant_id=None,
                kind=kind,
                actor=f"staff:{name}" if kind == "staff.signed_in" else "visitor",
                subject=f"staff:{name}",
                detail={},
                now=clock.now(),
            )
