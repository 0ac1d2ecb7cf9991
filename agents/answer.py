"""The form of a final answer and of a review. Forms, not prose, so that code can check them."""

from __future__ import annotations

from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class CitedSource(_Form):
    """An article, by the id that the search returned, and the heading that was used."""

    doc_id: str
    heading: str = ""


TICKET_HERE = "{ticket}"  # where an answer wants the number of the ticket that code opens for it


class HandOver(_Form):
    """The wish that a person takes over. Code opens the ticket once the answer has passed."""

    reason: str
    summary: Annotated[str, Field(min_length=1, max_length=2_000)]
    order_number: str | None = None


class AnswerForm(_Form):
    """What an agent hands in. Nothing of it reaches a customer before code has checked it."""

    answer: Annotated[str, Field(min_length=1, max_length=6_000)]
    intent: str
    sources: tuple[CitedSource, ...] = ()
    confidence: Annotated[float, Field(ge=0, le=1)]
    escalated: bool = False
    ticket_id: str | None = None
    hand_over: HandOver | None = None


class ReviewForm(_Form):
    """The reviewer's verdict on a draft that has already passed the checks of code."""

    approved: bool
    problems: tuple[str, ...] = ()


class AnswerableForm(_Form):
    """Whether retrieved passages answer a question, and the sentence that does, word for word."""

    answers: bool
    doc_id: str = ""
    quote: str = ""


FormType = TypeVar("FormType", bound=BaseModel)


def parse_form(form: type[FormType], text: str) -> tuple[FormType | None, str]:
    """Read a form from a model's text; return it and "", or None and what is wrong with it.

    One fence of three backticks around the JSON is forgiven; nothing else is repaired.
    """
    body = text.strip()
    if body.startswith("```") and body.endswith("```"):
        body = body[3:-3].removeprefix("json").strip()
    try:
        return form.model_validate_json(body), ""
    except ValidationError as error:
        issues = "; ".join(
            f"{'.'.join(str(part) for part in item['loc']) or 'form'}: {item['msg']}"
            for item in error.errors()[:5]
        )
        return None, issues
