"""Loading many articles from files; a broken one does not stop the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from dsupport.contract.errors import InvalidInput
from knowledge.errors import ArticleRefused, EmbeddingRefused
from knowledge.rules.articles import ArticleSource, read_json_line, read_markdown
from knowledge.services.archiving import store_draft
from knowledge.services.indexing import calibrate, is_measured
from knowledge.services.publishing import publish_article

_LARGEST_FILE = 1_000_000
_Reader = Callable[[], ArticleSource]


def import_articles(
    *,
    tenant_id: int,
    path: Path,
    actor: str,
    now: datetime,
    on_progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Import a folder of Markdown files, one such file, or an `articles.jsonl`.

    Return `{created, updated, unchanged, refused: [{row, reason}]}`. Importing the same again
    changes nothing; articles that are not in the files are left alone.
    """
    rows = list(_rows(path))
    report: dict[str, Any] = {"created": 0, "updated": 0, "unchanged": 0, "refused": []}
    seen: dict[str, str] = {}
    for number, (row, read) in enumerate(rows, 1):
        try:
            article = read()
            if article.doc_id in seen:
                raise ArticleRefused(f"id {article.doc_id} was used by {seen[article.doc_id]}")
            seen[article.doc_id] = row
            report[_store(tenant_id, article, actor, now)] += 1
        except (ArticleRefused, EmbeddingRefused) as error:
            report["refused"].append({"row": row, "reason": error.message})
        if on_progress:
            on_progress(number, len(rows))
    # An import that was cut short left its articles unmeasured; the next one makes up for it.
    if not is_measured(tenant_id):
        calibrate(tenant_id=tenant_id, now=now)
    return report


def _store(tenant_id: int, article: ArticleSource, actor: str, now: datetime) -> str:
    if article.status == "published":
        outcome = publish_article(
            tenant_id=tenant_id, article=article, actor=actor, now=now, calibrate=False
        )
    else:
        outcome = store_draft(tenant_id=tenant_id, article=article, actor=actor, now=now)
    return outcome.status


def _rows(path: Path) -> Iterator[tuple[str, _Reader]]:
    if path.is_dir():
        files = sorted(path.rglob("*.md"))
        lines = path / "articles.jsonl"
        if not files and not lines.is_file():
            raise InvalidInput(f"{path} holds neither Markdown files nor articles.jsonl.")
        for file in files:
            yield str(file.relative_to(path)), partial(_read_file, file, path)
        if lines.is_file():
            yield from _json_rows(lines)
    elif path.suffix == ".jsonl" and path.is_file():
        yield from _json_rows(path)
    elif path.is_file():
        yield path.name, partial(_read_file, path, path.parent)
    else:
        raise InvalidInput(f"There is no file or folder {path}.")


def _read_file(file: Path, root: Path) -> ArticleSource:
    if file.stat().st_size > _LARGEST_FILE:
        raise ArticleRefused("the file is larger than one megabyte")
    doc_id = file.relative_to(root).with_suffix("").as_posix()
    return read_markdown(_decode(file.read_bytes()), doc_id=doc_id)


def _json_rows(file: Path) -> Iterator[tuple[str, _Reader]]:
    with file.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                yield f"{file.name}:{number}", partial(_read_line, line)


def _read_line(line: bytes) -> ArticleSource:
    return read_json_line(_decode(line))


def _decode(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ArticleRefused(f"not UTF-8 text (byte {error.start})") from None
