"""How much memory processes really take: shared pages counted in proportion (PSS)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

_PROC = Path("/proc")


def pss_of(pids: Iterable[int], *, proc: Path = _PROC) -> int:
    """Return the bytes that these processes and all their descendants take; Linux alone tells.

    A process that ends while we look counts nothing. One that belongs to another user cannot be
    measured and raises `PermissionError`.
    """
    return sum(_pss(proc / str(pid)) for pid in with_descendants(pids, proc=proc))


def with_descendants(pids: Iterable[int], *, proc: Path = _PROC) -> set[int]:
    """Return the living processes among `pids` and all that descend from them."""
    children = defaultdict(list)
    living = set()
    for folder in proc.iterdir():
        parent = _parent(folder) if folder.name.isdecimal() else None
        if parent is not None:
            living.add(int(folder.name))
            children[parent].append(int(folder.name))
    found: set[int] = set()
    waiting = [pid for pid in pids if pid in living]
    while waiting:
        pid = waiting.pop()
        if pid not in found:
            found.add(pid)
            waiting += children[pid]
    return found


def _parent(folder: Path) -> int | None:
    try:
        # The name, in brackets, may hold anything: the fields are counted from its end.
        return int((folder / "stat").read_text().rpartition(")")[2].split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return None


def _pss(folder: Path) -> int:
    try:
        text = (folder / "smaps_rollup").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    for line in text.splitlines():
        name, _, value = line.partition(":")
        if name == "Pss":
            return int(value.split()[0]) * 1024
    return 0
