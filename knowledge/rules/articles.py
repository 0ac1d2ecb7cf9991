"""What an article is before it is stored, and how one is read from a file."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

import yaml

from knowledge.errors import ArticleRefused

AUDIENCES = ("public", "internal")
STATUSES = ("draft", "published", "archived")

_MAX_TITLE = 200
_MAX_BODY = 200_000
_MAX_QUESTIONS = 20
_MAX_QUESTION = 300
_MAX_FRONT_MATTER = 20_000
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})?")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")
_FIRST_HEADING = re.compile(r"^#[ \t]+(.+?)[ \t#]*$", re.MULTILINE)
_FIELDS = {
    "id": "doc_id", "doc_id": "doc_id", "title": "title", "topic": "topic",
    "language": "language", "audience": "audience", "status": "status",
    "effective_from": "effective_from", "effective_to": "effective_until",
    "effective_until": "effective_until", "sample_questions": "sample_questions",
    "questions": "sample_questions",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ArticleSource:
    """An article as its author wrote it. Its values have been checked by `check_article`."""

    doc_id: str
    title: str
    body: str
    topic: str = ""
    language: str = "en"
    audience: str = "public"
    status: str = "published"
    effective_from: date | None = None
    effective_until: date | None = None
    sample_questions: tuple[str, ...] = ()


def read_markdown(text: str, *, doc_id: str) -> ArticleSource:
    """Read a Markdown file whose front matter is YAML between two lines of three dashes.

    `doc_id` names the article when the front matter does not; the title may be the first
    heading instead. An unknown field is refused, because a misspelt `audience` would publish.
    """
    front, body = _split_front_matter(text.removeprefix("\ufeff").replace("\r\n", "\n"))
    values: dict[str, Any] = {}
    for name, value in front.items():
        if name not in _FIELDS:
            raise ArticleRefused(
                f"unknown field {str(name)[:40]!r} in the front matter; "
                f"the fields are {', '.join(_FIELDS)}"
            )
        if value is not None:
            values[_FIELDS[name]] = value
    heading = _FIRST_HEADING.search(body)
    values.setdefault("title", heading.group(1) if heading else None)
    values.setdefault("doc_id", doc_id)
    return build_article({**values, "body": body})


def read_json_line(line: str) -> ArticleSource:
    """Read one line of `articles.jsonl`: `id`, `title`, and `text` or `content`.

    Fields of ours are used when they are there; others are left alone, since such files come
    from other systems.
    """
    try:
        row = json.loads(line)
    except (json.JSONDecodeError, RecursionError) as error:
        raise ArticleRefused(f"not a JSON object: {error}") from None
    if not isinstance(row, dict):
        raise ArticleRefused("not a JSON object")
    body = row.get("text") if row.get("text") is not None else row.get("content")
    if body is None:
        raise ArticleRefused("the article has neither text nor content")
    values = {_FIELDS[name]: row[name] for name in _FIELDS if row.get(name) is not None}
    return build_article({**values, "body": body})


def build_article(values: Mapping[str, Any]) -> ArticleSource:
    """Return a checked article from loose values; raise `ArticleRefused` naming the field."""
    doc_id = values.get("doc_id")
    title = _text("title", values.get("title"), _MAX_TITLE)
    article = ArticleSource(
        doc_id=_text("id", str(doc_id) if isinstance(doc_id, int) else doc_id, 120),
        title=title,
        body=_text("text", values.get("body"), _MAX_BODY),
        topic=_text("topic", values.get("topic", ""), 60, empty=True),
        language=_text("language", values.get("language", "en"), 12),
        audience=_text("audience", values.get("audience", _default_audience(title)), 12),
        status=_text("status", values.get("status", "published"), 12),
        effective_from=_date("effective_from", values.get("effective_from")),
        effective_until=_date("effective_until", values.get("effective_until")),
        sample_questions=_questions(values.get("sample_questions", [])),
    )
    check_article(article)
    return article


def check_article(article: ArticleSource) -> None:
    """Raise `ArticleRefused` when the values do not make an article."""
    if "\n" in article.doc_id or article.doc_id.startswith("/") or article.doc_id.endswith("/"):
        raise ArticleRefused("id must be one line and must not start or end with a slash")
    if not _LANGUAGE.fullmatch(article.language):
        raise ArticleRefused("language must be a code such as en or pt-BR")
    _check_choice("audience", article.audience, AUDIENCES)
    _check_choice("status", article.status, STATUSES)
    first, last = article.effective_from, article.effective_until
    if first and last and last < first:
        raise ArticleRefused("effective_to is before effective_from")


def _default_audience(title: str) -> str:
    """Keep an article inside when its title says so and nothing else was said."""
    return "internal" if title.casefold().startswith("internal:") else "public"


def _check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ArticleRefused(f"{name} must be one of {', '.join(choices)}")


def _text(name: str, value: Any, limit: int, *, empty: bool = False) -> str:
    if value is None:
        raise ArticleRefused(f"{name} is missing")
    if not isinstance(value, str):
        raise ArticleRefused(f"{name} must be text, not {type(value).__name__}")
    if _CONTROL.search(value):
        raise ArticleRefused(f"{name} contains control characters")
    text: str = value.strip()
    if not text and not empty:
        raise ArticleRefused(f"{name} is empty")
    if len(text) > limit:
        raise ArticleRefused(f"{name} is longer than {limit} characters")
    return text


def _date(name: str, value: Any) -> date | None:
    if value is None or (isinstance(value, date) and not isinstance(value, datetime)):
        return value
    if isinstance(value, str):
        try:
            return date.fromisoformat(value.strip())
        except ValueError:
            pass
    raise ArticleRefused(f"{name} must be a date such as 2026-10-15")


def _questions(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list | tuple):
        raise ArticleRefused("sample_questions must be a list of questions")
    if len(value) > _MAX_QUESTIONS:
        raise ArticleRefused(f"sample_questions holds more than {_MAX_QUESTIONS} questions")
    questions = (
        _text(f"sample_questions, number {number}", item, _MAX_QUESTION)
        for number, item in enumerate(value, 1)
    )
    return tuple(dict.fromkeys(questions))


def _split_front_matter(text: str) -> tuple[dict[str, Any], str]:
    lines = text.split("\n")
    if lines[0].rstrip() != "---":
        return {}, text
    end = next((n for n, line in enumerate(lines[1:], 1) if line.rstrip() == "---"), None)
    if end is None:
        raise ArticleRefused("the front matter that starts in line 1 has no closing --- line")
    front = "\n".join(lines[1:end])
    if len(front) > _MAX_FRONT_MATTER:
        raise ArticleRefused(f"the front matter is longer than {_MAX_FRONT_MATTER} characters")
    try:
        values = yaml.safe_load(front)
    except yaml.YAMLError as error:
        raise ArticleRefused(_yaml_problem(error)) from None
    if values is None:
        values = {}
    if not isinstance(values, dict):
        raise ArticleRefused("the front matter must hold fields, such as title: Returns")
    return values, "\n".join(lines[end + 1 :])


def _yaml_problem(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or "cannot be read"
    # One line for the counted-from-zero mark, one for the opening dashes.
    place = f"line {mark.line + 2}, column {mark.column + 1}" if mark else "the front matter"
    return f"{place} of the file: {problem}"
