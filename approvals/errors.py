"""What the approvals room refuses."""

from __future__ import annotations

from dsupport.contract.errors import Conflict, Forbidden, InvalidInput, LimitReached, NotFound


class UnknownAction(NotFound):
    code = "unknown_action"


class InvalidOrigin(InvalidInput):
    code = "invalid_origin"


class InvalidArguments(InvalidInput):
    code = "invalid_arguments"


class KeyConflict(Conflict):
    code = "key_conflict"


class AlreadyRejected(Conflict):
    code = "already_rejected"


class IdentityRequired(Forbidden):
    code = "identity_required"


class SwitchedOff(Forbidden):
    code = "switched_off"


class SwitchesUnreadable(Forbidden):
    code = "switches_unreadable"


class UnknownSwitch(InvalidInput):
    code = "unknown_switch"


class ReasonMissing(InvalidInput):
    code = "reason_missing"


class SwitchForbidden(Forbidden):
    code = "switch_forbidden"


class ProposalNotFound(NotFound):
    code = "unknown_proposal"


class DecisionForbidden(Forbidden):
    code = "decision_forbidden"


class OwnMatter(Forbidden):
    code = "own_matter"


class AmountTooLarge(Forbidden):
    code = "amount_too_large"


class TooFast(LimitReached):
    code = "too_fast"


class UnknownReason(InvalidInput):
    code = "unknown_reason"


class AlreadyDecided(Conflict):
    code = "already_decided"


class DecisionTooLate(Conflict):
    code = "expired"


class ShownDiffers(Conflict):
    code = "shown_differs"


class UnknownUser(NotFound):
    code = "unknown_user"
