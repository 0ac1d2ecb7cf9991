"""Code at three fixed points of a run. The model can neither see nor skip it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from agents.answer import AnswerForm
from agents.evidence import Evidence
from dsupport.contract.principal import Principal
from dsupport.contract.tools import ToolResult, ToolSpec
from dsupport.lib.redaction import find_personal_data, mask, mask_data


@dataclass(frozen=True, slots=True)
class Allow:
    """Go on unchanged."""


@dataclass(frozen=True, slots=True)
class Deny:
    """Do not do it; `instruction` tells the model what to do instead."""

    code: str
    instruction: str


@dataclass(frozen=True, slots=True)
class Modify:
    """Go on with another value: arguments, a result or a form. `why` is for the trace."""

    value: Any
    why: str


Verdict = Allow | Deny | Modify


@dataclass(frozen=True, slots=True)
class Situation:
    """What guardrails judge by: who asks and what the run has seen so far."""

    principal: Principal
    evidence: Evidence


class Guardrail(Protocol):
    """One rule. Each point has a default that allows."""

    name: str

    def before_tool(
        self, spec: ToolSpec, arguments: Mapping[str, Any], situation: Situation
    ) -> Verdict: ...

    def after_tool(self, spec: ToolSpec, result: ToolResult, situation: Situation) -> Verdict: ...

    def before_final(self, form: AnswerForm, situation: Situation) -> Verdict: ...


class _Allowing:
    name = ""

    def before_tool(
        self, spec: ToolSpec, arguments: Mapping[str, Any], situation: Situation
    ) -> Verdict:
        return Allow()

    def after_tool(self, spec: ToolSpec, result: ToolResult, situation: Situation) -> Verdict:
        return Allow()

    def before_final(self, form: AnswerForm, situation: Situation) -> Verdict:
        return Allow()


_IDENTITY_NAMES = re.compile(
    r"^(customer|user|account|tenant|principal|owner|session|visitor)(_?id)?$"
    r"|^e?_?mail(_address)?$",
    re.IGNORECASE,
)


class IdentityGuardrail(_Allowing):
    """Refuse a look-up of personal data for nobody, and any argument that claims an identity."""

    name = "identity"

    def before_tool(
        self, spec: ToolSpec, arguments: Mapping[str, Any], situation: Situation
    ) -> Verdict:
        claimed = sorted(name for name in arguments if _IDENTITY_NAMES.match(name))
        if claimed:
            return Deny(
                f"identity_argument:{claimed[0]}",
                "The desk knows who is asking. Call it without that argument.",
            )
        if not spec.personal:
            return Allow()
        if situation.principal.is_anonymous:
            return Deny(
                "identity_needed",
                "Nobody is established. Ask the customer to sign in, or for an order number and "
                "the e-mail it was placed with; the chat shows the form.",
            )
        if any(kind == "email" for kind, _ in find_personal_data(str(dict(arguments)))):
            return Deny(
                "identity_argument:email", "Look up by order number, never by an e-mail address."
            )
        return Allow()


class PersonalDataGuardrail(_Allowing):
    """Keep e-mail addresses, phone, card and bank numbers out of results and answers.

    What the customer wrote themselves may be said back; what published articles state may be
    quoted. Nothing else may.
    """

    name = "personal_data"

    def after_tool(self, spec: ToolSpec, result: ToolResult, situation: Situation) -> Verdict:
        if result.trust == "article":
            return Allow()
        masked = mask_data(result.data, keep=self._own(situation))
        if masked == result.data:
            return Allow()
        return Modify(replace(result, data=masked), "personal data was masked in the result")

    def before_final(self, form: AnswerForm, situation: Situation) -> Verdict:
        keep = [*self._own(situation), *self._published(situation)]
        masked = mask(form.answer, keep=keep)
        if masked == form.answer:
            return Allow()
        return Modify(form.model_copy(update={"answer": masked}), "personal data was masked")

    def _own(self, situation: Situation) -> list[str]:
        words = "\n".join([*situation.evidence.earlier_words, *situation.evidence.words])
        return [value for kind, value in find_personal_data(words) if kind in {"email", "phone"}]

    def _published(self, situation: Situation) -> list[str]:
        text = "\n".join(source.text for source in situation.evidence.sources)
        return [value for kind, value in find_personal_data(text) if kind in {"email", "phone"}]


class OneTicketGuardrail(_Allowing):
    """Let one problem open one ticket: a second call of the same run is told the number."""

    name = "one_ticket"

    def before_tool(
        self, spec: ToolSpec, arguments: Mapping[str, Any], situation: Situation
    ) -> Verdict:
        opened = situation.evidence.tickets
        if spec.name == "create_ticket" and opened:
            return Deny(
                f"ticket_open:{opened[0]}",
                f"Ticket {opened[0]} is open for this. Tell the customer its number.",
            )
        return Allow()


GUARDRAILS: tuple[Guardrail, ...] = (
    IdentityGuardrail(),
    OneTicketGuardrail(),
    PersonalDataGuardrail(),
)


def judge_call(
    guardrails: Sequence[Guardrail],
    spec: ToolSpec,
    arguments: Mapping[str, Any],
    situation: Situation,
) -> list[tuple[str, Verdict]]:
    """Return what each guardrail says of a call, in order, up to and with the first denial."""
    verdicts: list[tuple[str, Verdict]] = []
    for guardrail in guardrails:
        verdict = guardrail.before_tool(spec, arguments, situation)
        verdicts.append((guardrail.name, verdict))
        if isinstance(verdict, Deny):
            break
        if isinstance(verdict, Modify):
            arguments = verdict.value
    return verdicts
