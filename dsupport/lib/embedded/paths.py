"""Where the servers keep their data and sockets, and as whom they run."""

from __future__ import annotations

import hashlib
import json
import os
import pwd
import re
import secrets
import socket
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from .errors import EmbeddedError
from .files import Account, check_ours, private_folder, read_json, write_private

_ROOT_BASE = "/var/lib/dsupport"
_ROOT_BASE_VARIABLE = "DSUPPORT_ROOT_DATA"
# PostgreSQL refuses to run as root. The first of these accounts that exists is used; none is
# ever created, because a demo has no business changing the machine's users.
_ACCOUNTS = ("dsupport", "postgres", "nobody")
_NOTE = "servers-of-root.txt"
# Lower case alone, because URL parsers fold the case of a host, and the socket's folder is one.
_SOCKET_FOLDER = re.compile(r"[a-z0-9/._-]{1,90}")


@dataclass(frozen=True, slots=True)
class Layout:
    """One set of servers: its folder, and the account they run as (`None`: the caller's)."""

    home: Path
    account: Account | None

    @property
    def logs(self) -> Path:
        return self.home / "logs"


def locate(data_dir: Path) -> Path:
    """Return the folder of the servers that belong to a project's data folder.

    Servers of an ordinary user live inside it. Those of root run as another account, which
    could reach a project in a home only if we opened that home to everyone: they live apart.
    """
    data_dir = data_dir.resolve()
    if os.geteuid() != 0:
        return data_dir / "servers"
    return _root_base() / hashlib.sha256(os.fsencode(data_dir)).hexdigest()[:16]


def make_home(data_dir: Path) -> Path:
    """Make the servers' folder; no folder that was there before is changed."""
    _make_data_dir(data_dir)
    home = locate(data_dir)
    if os.geteuid() != 0:
        return private_folder(home)
    base = home.parent
    for folder in [*reversed(base.parents), base]:
        if not folder.exists():
            private_folder(folder, mode=0o755)  # the account passes through; the umask may forbid
    check_ours(base)
    return private_folder(home, mode=0o711)


def prepare(data_dir: Path) -> Layout:
    """Make what the servers need in their folder; call it under its lock."""
    home = locate(data_dir)
    layout = Layout(home, None)
    if os.geteuid() == 0:
        account = _recorded_account(home)
        layout = Layout(home, account)
        _check_traversable(home, account)
        _record(home, account, data_dir.resolve())
    private_folder(layout.logs)
    return layout


def existing(data_dir: Path) -> Layout | None:
    """Return the layout if servers were ever started for this data folder."""
    home = locate(data_dir)
    if not home.exists():
        return None
    check_ours(home)
    return Layout(home, _recorded_account(home) if os.geteuid() == 0 else None)


def forget_note(data_dir: Path) -> None:
    (data_dir / _NOTE).unlink(missing_ok=True)


def socket_folder(layout: Layout, *, preferred: str = "") -> Path:
    """Return a private folder whose path is short and plain enough for a socket.

    `preferred` is where the sockets were before: clients that are still there look for them.
    """
    name = hashlib.sha256(os.fsencode(layout.home)).hexdigest()[:12]
    uid = layout.account.uid if layout.account else os.geteuid()
    candidates = [layout.home / "socket", Path(f"/tmp/dsupport-{uid}-{name}")]  # noqa: S108 - checked
    for candidate in [Path(preferred), *candidates] if preferred else candidates:
        if _SOCKET_FOLDER.fullmatch(str(candidate)) and _holds_sockets(candidate, layout.account):
            return candidate
    # Someone has squatted the name: take one that could not be foreseen.
    spare = Path(f"/tmp/dsupport-{uid}-{secrets.token_hex(8)}")  # noqa: S108 - made by us, 0700
    if not _holds_sockets(spare, layout.account):
        raise EmbeddedError(
            "not_writable",
            "No folder can hold the database's socket. Make /tmp writable for this user, or set "
            "DATABASE_URL to a PostgreSQL of your own.",
        )
    return spare


def remove_socket_folder(folder: Path) -> None:
    """Remove what a stopped server leaves of its socket folder outside our home."""
    if folder.parent == Path("/tmp"):  # noqa: S108 - only to compare
        with suppress(OSError):
            for left in folder.glob(".s.PGSQL.*"):
                left.unlink()
            folder.rmdir()


def _holds_sockets(folder: Path, owner: Account | None) -> bool:
    """Tell whether the folder is ours and its file system knows sockets (some mounts do not)."""
    try:
        private_folder(folder, owner=owner)
        probe = folder / f"probe-{os.getpid()}"
        with socket.socket(socket.AF_UNIX) as trial:
            trial.bind(str(probe))
        probe.unlink()
    except (EmbeddedError, OSError):
        return False
    return True


def _make_data_dir(data_dir: Path) -> None:
    if data_dir.is_dir():
        return
    try:
        data_dir.mkdir(parents=True, mode=0o700, exist_ok=True)
    except OSError as error:
        raise EmbeddedError(
            "not_writable",
            f"{data_dir} cannot be made ({error.strerror}). Set DSUPPORT_DATA to a folder that "
            "this user can write, or set DATABASE_URL and REDIS_URL to servers of your own.",
        ) from error


def _root_base() -> Path:
    return Path(os.environ.get(_ROOT_BASE_VARIABLE) or _ROOT_BASE).resolve()


def _record(home: Path, account: Account, data_dir: Path) -> None:
    """Write down on both sides where the other is, and whose the servers' files are."""
    record = home / "account.json"
    if not record.exists():
        write_private(record, json.dumps({"name": account.name}))
        write_private(home / "project", f"{data_dir}\n")
    note = data_dir / _NOTE
    if not os.path.lexists(note):
        with note.open("x") as file:  # exclusive, so a link planted there is not followed
            file.write(f"The servers that root starts here keep their data in {home}\n")


def _recorded_account(home: Path) -> Account:
    """Return the account that already owns the data, or the first fit one on this machine."""
    record = read_json(home / "account.json")
    for name in [str(record["name"])] if record else _ACCOUNTS:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return Account(entry.pw_name, entry.pw_uid, entry.pw_gid)
    raise EmbeddedError(
        "unsupported",
        f"PostgreSQL does not run as root, and there is no account {' or '.join(_ACCOUNTS)}. "
        "Add one (useradd --system dsupport), run as an ordinary user, or set DATABASE_URL.",
    )


def _check_traversable(home: Path, account: Account) -> None:
    for folder in home.parents:
        found = folder.stat()
        if not found.st_mode & 0o001 and found.st_uid != account.uid:
            raise EmbeddedError(
                "not_traversable",
                f"The account {account.name} cannot enter {folder}, and its permissions are not "
                f"ours to change. Set {_ROOT_BASE_VARIABLE} to a folder that every user can enter.",
            )
