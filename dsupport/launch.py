"""Starting a command: servers first when none are configured, then Django."""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

# These neither read nor write data, so they start no servers.
_NEED_NO_SERVERS = {"", "help", "version", "--help", "-h", "--version"}
_UNUSED_URL = "postgres://unused@127.0.0.1:1/unused"
_UNUSED_OWNER_URL = "postgres://unused_owner@127.0.0.1:1/unused"
_UNUSED_REDIS = "redis://127.0.0.1:1/0"
_NEED_SETTINGS_ONLY = {
    "check", "compilemessages", "makemessages", "collectstatic", "export_openapi_schema",
}  # fmt: skip


def main(argv: Sequence[str]) -> int:
    """Run one management command and return its exit status; 130 when Ctrl-C ended it."""
    try:
        return _start(argv)
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return 130


def _start(argv: Sequence[str]) -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dsupport.settings")
    from dsupport.environment import EnvironmentProblem, read_environment
    from dsupport.lib.embedded import EmbeddedError

    try:
        environment = read_environment()
    except EnvironmentProblem as problem:
        print(f"The environment is wrong: {problem}", file=sys.stderr)
        return 2
    command = argv[1] if len(argv) > 1 else ""
    with ExitStack() as stack:
        try:
            _provide_servers(stack, command, list(argv), environment.dsupport_data)
        except EmbeddedError as error:
            print(f"{error.code}: {error.message}", file=sys.stderr)
            return 2
        from django.core.exceptions import ImproperlyConfigured
        from django.core.management import execute_from_command_line

        try:
            execute_from_command_line(list(argv))
        except ImproperlyConfigured as error:
            print(error, file=sys.stderr)
            return 2
    return 0


def _provide_servers(stack: ExitStack, command: str, argv: list[str], data: Path) -> None:
    """Fill in what the environment leaves open; what it sets is never overridden."""
    from dsupport.environment import read_environment
    from dsupport.lib import embedded

    environment = read_environment()
    given = {
        "DATABASE_URL": environment.database_url,
        "DATABASE_OWNER_URL": environment.database_owner_url,
        "REDIS_URL": environment.redis_url,
    }
    own_database, own_cache = not given["DATABASE_URL"], not given["REDIS_URL"]
    if command in _NEED_NO_SERVERS or command in _NEED_SETTINGS_ONLY or "--help" in argv:
        defaults = (_UNUSED_URL, _UNUSED_OWNER_URL, _UNUSED_REDIS)
    elif own_database or own_cache:
        if command == "demo" and "--reset" in argv:
            embedded.reset(data)
        ends = stack.enter_context(embedded.lease(data, database=own_database, cache=own_cache))
        defaults = (ends.database_url, ends.database_owner_url, ends.redis_url)
    else:
        defaults = ("", "", "")
    for (name, value), default in zip(given.items(), defaults, strict=True):
        mine = own_cache if name == "REDIS_URL" else own_database
        os.environ[name] = default if mine else value
    if not environment.secret_key and (own_database or own_cache):
        os.environ["SECRET_KEY"] = _local_secret(data)
    read_environment.cache_clear()


def _local_secret(data: Path) -> str:
    """Return this checkout's own signing key, made on first use and readable by its user alone."""
    path = data / "secret_key"
    if not path.exists():
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_urlsafe(48))
    return path.read_text()
