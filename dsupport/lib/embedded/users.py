"""Who uses a set of servers: one locked file for each command, under one lock for all.

A user's file stays locked for as long as its process lives; the kernel lets go of the lock
however the process ends. So a killed user shows itself, whoever bears its pid later.
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from .errors import EmbeddedError
from .files import private_folder, read_json
from .processes import POLL_SECONDS

logger = logging.getLogger(__name__)

_LOCK_SECONDS = 180.0


@dataclass(frozen=True, slots=True)
class User:
    """One lease: the process that holds it and the servers it needs."""

    pid: int
    parts: frozenset[str]
    path: Path
    descriptor: int = -1


@contextmanager
def exclusive(home: Path, *, seconds: float = _LOCK_SECONDS) -> Iterator[None]:
    """Let one command at a time look at, start or stop the servers."""
    descriptor = _lock(home / "lock", time.monotonic() + seconds)
    try:
        yield
    finally:
        fcntl.flock(descriptor, fcntl.LOCK_UN)  # closing alone would leave a forked child's copy
        os.close(descriptor)


def register(home: Path, parts: frozenset[str]) -> User:
    """Enter this process as a user; call it, and all below, under `exclusive`."""
    folder = private_folder(home / "users")
    path = folder / f"{os.getpid()}-{secrets.token_hex(4)}"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    _try_lock(descriptor, path)
    os.write(descriptor, json.dumps({"pid": os.getpid(), "parts": sorted(parts)}).encode())
    return User(os.getpid(), parts, path, descriptor)


def leave(user: User) -> None:
    """Strike a user off; a forked child that still has the file does not keep it locked."""
    user.path.unlink(missing_ok=True)
    fcntl.flock(user.descriptor, fcntl.LOCK_UN)
    os.close(user.descriptor)


def living(home: Path) -> list[User]:
    """Return the users that live, and strike off those that were killed."""
    folder = home / "users"
    found = []
    for path in sorted(folder.iterdir()) if folder.exists() else []:
        if not _is_locked(path):
            path.unlink(missing_ok=True)
            continue
        entry = read_json(path) or {}
        parts = frozenset(str(part) for part in entry.get("parts", ()))
        found.append(User(int(entry.get("pid", 0)), parts, path))
    return found


def _is_locked(path: Path) -> bool:
    descriptor = os.open(path, os.O_RDWR)
    try:
        return not _try_lock(descriptor, path)
    finally:
        os.close(descriptor)


def _lock(path: Path, deadline: float) -> int:
    said = False
    while True:
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        except FileNotFoundError as error:
            raise EmbeddedError(
                "locked", f"{path.parent} was removed meanwhile. Run this again."
            ) from error
        if _try_lock(descriptor, path) and _is_same(path, descriptor):
            return descriptor
        os.close(descriptor)
        if time.monotonic() > deadline:
            raise EmbeddedError(
                "locked",
                f"Another command has been starting or stopping the servers for too long ({path}). "
                "Wait for it to end, or end it, and run this again.",
            )
        if not said:
            logger.info("Waiting for another command that starts or stops the servers")
            said = True
        time.sleep(POLL_SECONDS)


def _try_lock(descriptor: int, path: Path) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        raise EmbeddedError(
            "unsupported",
            f"The file system of {path.parent} knows no locks ({error.strerror}). Set "
            "DSUPPORT_DATA to a folder on a local disk.",
        ) from error
    return True


def _is_same(path: Path, descriptor: int) -> bool:
    """Tell whether the file is still there, or was removed while we waited for it."""
    try:
        return path.stat().st_ino == os.fstat(descriptor).st_ino
    except FileNotFoundError:
        return False
