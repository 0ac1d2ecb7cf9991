"""Folders nobody else can plant, and files that are whole or absent."""

from __future__ import annotations

import json
import os
import shutil
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .errors import EmbeddedError


@dataclass(frozen=True, slots=True)
class Account:
    """A system account without rights, for servers that must not run as root."""

    name: str
    uid: int
    gid: int


def private_folder(path: Path, *, mode: int = 0o700, owner: Account | None = None) -> Path:
    """Make a folder, or accept one only when it is ours and nobody else can write in it."""
    try:
        path.mkdir(mode=mode)
    except FileExistsError:
        check_ours(path, owner=owner)
        return path
    except OSError as error:
        raise _not_writable(path, error) from error
    path.chmod(mode)  # mkdir's mode is cut by the umask
    give(path, owner)
    return path


def check_ours(path: Path, *, owner: Account | None = None) -> None:
    """Raise unless the path is a real folder of the right user that others cannot write in."""
    found = path.lstat()
    uid = owner.uid if owner else os.geteuid()
    if not stat.S_ISDIR(found.st_mode):
        why = "is not a folder"
    elif found.st_uid != uid:
        why = f"belongs to user {found.st_uid}, not to user {uid}"
    elif found.st_mode & 0o022:
        why = "can be written by others"
    else:
        return
    raise EmbeddedError(
        "unsafe_folder",
        f"{path} {why}. Run as the user it belongs to, or remove it and run the command again.",
    )


def give(path: Path, owner: Account | None) -> None:
    """Hand a path that we have just made to the account that the servers run as."""
    if owner is not None:
        os.chown(path, owner.uid, owner.gid, follow_symlinks=False)


def write_private(path: Path, text: str, *, owner: Account | None = None) -> None:
    """Replace a file in one step, readable by its owner alone, and safely on disk."""
    fresh = path.with_name(f"{path.name}.new")
    fresh.unlink(missing_ok=True)
    try:
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise _not_writable(path.parent, error) from error
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    give(fresh, owner)
    fresh.replace(path)
    _sync_folder(path.parent)


def read_json(path: Path) -> dict[str, Any] | None:
    """Return the document, or `None` when it is missing or was cut short."""
    try:
        document = json.loads(path.read_text())
    except (FileNotFoundError, ValueError):
        return None
    return document if isinstance(document, dict) else None


def read_pid(path: Path) -> int | None:
    """Return the process id on a file's first line, if there is one."""
    try:
        pid = int(path.read_text().split("\n", 1)[0])
    except (FileNotFoundError, ValueError):
        return None
    return pid if pid > 1 else None


def remove(path: Path) -> None:
    """Remove a file or a folder with all it holds."""
    if path.is_dir() and not path.is_symlink():
        remove_tree(path)
    else:
        path.unlink(missing_ok=True)


def remove_tree(path: Path) -> None:
    """Remove a folder that a dying process may still be writing in."""
    for _ in range(5):
        shutil.rmtree(path, ignore_errors=True)
        if not path.exists():
            return


def _sync_folder(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _not_writable(path: Path, error: OSError) -> EmbeddedError:
    return EmbeddedError(
        "not_writable",
        f"{path} cannot be written ({error.strerror}). Make it writable for this user, set "
        "DSUPPORT_DATA to another folder, or set DATABASE_URL and REDIS_URL to your own servers.",
    )
