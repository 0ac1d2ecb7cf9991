"""The refusals of the order room."""

from __future__ import annotations

from dsupport.contract.errors import Conflict, DomainError, InvalidInput, LimitReached, NotFound

_SIGN_IN_AGAIN = "Open the chat from your account in the shop once more, or sign in here."


class IdentityNeeded(DomainError):
    """Nobody is established, so there are no orders to look at."""

    code = "identity_needed"
    status = 401

    def __init__(self) -> None:
        super().__init__(
            "Nobody is established. Ask the customer to sign in, or for an order number and the "
            "e-mail it was placed with; the chat shows the form."
        )


class OrderNotFound(NotFound):
    """One text for an order that does not exist and for one that is somebody else's."""

    code = "order_not_found"

    def __init__(self) -> None:
        super().__init__(
            "There is no such order among those this customer may see. Check the number; an order "
            "placed with another e-mail must be proved with that e-mail first."
        )


class UnknownStatus(InvalidInput):
    code = "unknown_status"

    def __init__(self, known: str) -> None:
        super().__init__(f"There is no such status. Use one of: {known}; or leave it out.")


class InvalidDate(InvalidInput):
    code = "invalid_date"

    def __init__(self) -> None:
        super().__init__("The day must be written as year-month-day, for example 2026-11-30.")


class EmptyQuery(InvalidInput):
    code = "empty_query"

    def __init__(self) -> None:
        super().__init__("Say which product, for example its name or its article number.")


class StatusNotAllowed(Conflict):
    code = "status_not_allowed"

    def __init__(self, current: str, wanted: str) -> None:
        super().__init__(
            f"An order that is {current} cannot become {wanted}. Read the order again and choose "
            "what its present status allows."
        )


class RuleBroken(Conflict):
    """A rule of the shop does not hold; the code is the rule's name."""

    def __init__(self, rule: str, text: str) -> None:
        super().__init__(
            f"The shop's rules do not allow this. What must hold: {text} Say so, or hand over.",
            code=rule,
        )


class LoginFailed(DomainError):
    """One text for an unknown account, one without a password and a wrong password."""

    code = "login_failed"
    status = 401

    def __init__(self) -> None:
        super().__init__(
            "E-mail and password do not match an account of this shop. Check both, or show one "
            "order by its number and e-mail instead."
        )


class ProofFailed(DomainError):
    """One text for an unknown order and for a wrong e-mail."""

    code = "proof_failed"
    status = 401

    def __init__(self) -> None:
        super().__init__(
            "Order number and e-mail do not belong together. Both stand in the order's "
            "confirmation e-mail; check them there and try again."
        )


class TooManyAttempts(LimitReached):
    code = "too_many_attempts"

    def __init__(self, minutes: int) -> None:
        super().__init__(
            f"Too many attempts did not match. Wait {minutes} minutes and try again, or ask for a "
            "person in the chat."
        )


class AlreadySignedIn(Conflict):
    code = "already_signed_in"

    def __init__(self) -> None:
        super().__init__(
            "You are signed in and see the orders of your account. Sign out first to show an "
            "order that was placed with another e-mail."
        )


class InvalidToken(DomainError):
    """The token is not one that this shop signed for this desk."""

    code = "invalid_token"
    status = 401

    def __init__(self) -> None:
        super().__init__(f"This link into the chat is not valid. {_SIGN_IN_AGAIN}")


class TokenExpired(DomainError):
    code = "token_expired"
    status = 401

    def __init__(self) -> None:
        super().__init__(f"This link into the chat has expired. {_SIGN_IN_AGAIN}")


class TokenUsed(DomainError):
    code = "token_used"
    status = 401

    def __init__(self) -> None:
        super().__init__(f"This link into the chat has been used already. {_SIGN_IN_AGAIN}")


class UnknownCustomer(DomainError):
    """The shop vouches for somebody of whom the desk has no record."""

    code = "unknown_customer"
    status = 401

    def __init__(self) -> None:
        super().__init__(
            "The shop knows this account, but the support desk does not know it yet. Show one "
            "order by its number and e-mail instead."
        )


class KeyHasNoSession(DomainError):
    code = "key_has_no_session"
    status = 403

    def __init__(self) -> None:
        super().__init__("A program's key cannot sign a customer in. Call this without the key.")


class ImportSourceMissing(DomainError):
    code = "source_missing"


class ImportSourceUnreadable(DomainError):
    code = "source_unreadable"
