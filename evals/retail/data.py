"""Reading the public retail set: which of its files are there, and what they hold."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dsupport.contract.errors import InvalidInput

Rows = tuple[Mapping[str, Any], ...]


class NoRetailData(InvalidInput):
    code = "no_retail_data"


@dataclass(frozen=True, slots=True)
class RetailData:
    """The folder of the set. A file that is not there is an empty tuple."""

    folder: Path
    gold: Rows
    mutations: Rows
    decisions: Rows


def read_retail(folder: Path) -> RetailData:
    """Read a folder; `NoRetailData` when it holds no shop or nothing to play on it."""
    if not (folder / "db.json").is_file():
        raise NoRetailData(f"There is no db.json in {folder}. Give the set's folder: --data PATH.")
    names = ("gold_effects", "mutations", "order_decisions")
    gold, mutations, decisions = (_rows(folder / f"{name}.jsonl") for name in names)
    if not (gold or mutations or decisions):
        raise NoRetailData(f"{folder} has none of {', '.join(names)} (.jsonl).")
    return RetailData(folder, gold, mutations, decisions)


def _rows(file: Path) -> Rows:
    if not file.is_file():
        return ()
    with file.open(encoding="utf-8") as lines:
        return tuple(json.loads(line) for line in lines if line.strip())
