"""One PostgreSQL with pgvector: made once, started when nobody runs it, reached by a socket."""

from __future__ import annotations

import json
import logging
import secrets
import signal
import time
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote

import psycopg
from psycopg import sql

from .errors import EmbeddedError
from .files import (
    private_folder,
    read_json,
    read_pid,
    remove_tree,
    write_private,
)
from .paths import Layout, remove_socket_folder, socket_folder
from .processes import POLL_SECONDS, Server, is_ours, run, spawn, start_failed, stop
from .wheels import postgres_program

logger = logging.getLogger(__name__)

DATABASE = "dsupport"
SUPERUSER, OWNER, APP = "postgres", "dsupport_owner", "dsupport_app"
_EXTENSIONS = ("vector", "pg_trgm", "unaccent")
_STOPS = ((signal.SIGINT, 20.0), (signal.SIGQUIT, 5.0), (signal.SIGKILL, 5.0))
_START_SECONDS = 120.0  # a crash recovery may take its time
_SILENT_SECONDS = 15.0
_NO_PROCESS = 2**30  # above every system's largest process id
_STATE = "postgres.json"

_CONFIG = """\
# Written at every start; changes made here are lost.
listen_addresses = ''
unix_socket_directories = '{socket}'
unix_socket_permissions = 0700
max_connections = 100
shared_buffers = 64MB
maintenance_work_mem = 64MB
dynamic_shared_memory_type = posix
# Parallel index builds put their memory into /dev/shm, which is small in containers.
max_parallel_maintenance_workers = 0
io_method = sync
jit = off
fsync = on
wal_level = minimal
max_wal_senders = 0
max_wal_size = 256MB
min_wal_size = 32MB
timezone = 'UTC'
log_timezone = 'UTC'
datestyle = 'iso, mdy'
default_text_search_config = 'pg_catalog.english'
log_line_prefix = '%m [%p] '
"""


@dataclass(frozen=True, slots=True)
class Cluster:
    """Where one PostgreSQL keeps its data and socket, and how to log in."""

    layout: Layout
    folder: str
    socket: str
    passwords: dict[str, str]

    @property
    def data(self) -> Path:
        return self.layout.home / self.folder

    @property
    def log(self) -> Path:
        return self.layout.logs / "postgres.log"

    def url(self, role: str, database: str = DATABASE) -> str:
        """Return an address that libpq and dj-database-url both understand."""
        host = quote(self.socket, safe="")
        return f"postgresql://{role}:{self.passwords[role]}@{host}/{database}"


def start(layout: Layout) -> Cluster:
    """Return the PostgreSQL of this layout, made and started when it is not there."""
    cluster = _load(layout)
    _clear_leftovers(layout, cluster)
    if cluster is None:
        return _create(layout)
    server = running(cluster.data)
    if server is not None:
        if _becomes_ready(cluster, server):
            return cluster
        logger.warning("PostgreSQL does not answer; starting it again")
        stop([server])
    logger.info("Starting PostgreSQL")
    cluster = _launch(cluster)
    _save(cluster)
    return cluster


def find_server(layout: Layout) -> Server | None:
    cluster = _load(layout)
    return running(cluster.data) if cluster else None


def find_all(layout: Layout) -> list[Server]:
    """Return every server of this layout, those of a broken start too."""
    found = [running(data) for data in layout.home.glob("postgres-*")]
    return [server for server in found if server is not None]


def tidy(layout: Layout) -> None:
    """Remove what a stopped server leaves outside our folder."""
    cluster = _load(layout)
    if cluster is not None:
        remove_socket_folder(Path(cluster.socket))


def running(data: Path) -> Server | None:
    """Return the living server of a data folder, whatever stale files say."""
    mark = str(data)
    for name in ("postmaster.pid", "server.pid"):
        pid = read_pid(data / name)
        if pid is not None and is_ours(pid, mark):
            return Server(pid, mark, _STOPS)
    return None


def _load(layout: Layout) -> Cluster | None:
    """Return the cluster, if it was ever made to its end: its state is written last."""
    state = read_json(layout.home / _STATE)
    if state is None or not (layout.home / str(state["folder"])).is_dir():
        return None
    return Cluster(layout, state["folder"], state["socket"], state["passwords"])


def _save(cluster: Cluster) -> None:
    state = {
        "folder": cluster.folder,
        "socket": cluster.socket,
        "passwords": cluster.passwords,
    }
    write_private(cluster.layout.home / _STATE, json.dumps(state))


def _clear_leftovers(layout: Layout, keep: Cluster | None) -> None:
    """Remove what a killed first start left; each start makes a folder of its own."""
    for data in layout.home.glob("postgres-*"):
        if keep is None or data != keep.data:
            logger.info("Removing an unfinished database in %s", data)
            server = running(data)
            stop([server] if server else [])
            remove_tree(data)


def _create(layout: Layout) -> Cluster:
    logger.info("Making the database for the first time; this takes a few seconds")
    passwords = {role: secrets.token_hex(24) for role in (SUPERUSER, OWNER, APP)}
    cluster = Cluster(layout, f"postgres-{secrets.token_hex(4)}", "", passwords)
    private_folder(cluster.data, owner=layout.account)
    _initialise(cluster)
    cluster = _launch(cluster)
    _make_roles(cluster)
    _save(cluster)
    return cluster


def _initialise(cluster: Cluster) -> None:
    layout = cluster.layout
    secret = layout.home / "initdb-password"
    write_private(secret, cluster.passwords[SUPERUSER], owner=layout.account)
    arguments = [
        *("--pgdata", str(cluster.data), "--username", SUPERUSER, "--pwfile", str(secret)),
        *("--auth", "scram-sha-256", "--encoding", "UTF8", "--locale", "C"),
        # The same sorting and case rules on every machine, whatever locales it has.
        *("--locale-provider", "builtin", "--builtin-locale", "C.UTF-8", "--no-instructions"),
    ]
    try:
        run(
            [str(postgres_program("initdb", layout)), *arguments],
            cwd=cluster.data,
            log=layout.logs / "initdb.log",
            account=layout.account,
            seconds=_START_SECONDS,
        )
    finally:
        secret.unlink()


def _launch(cluster: Cluster) -> Cluster:
    """Start the server, over whatever a killed predecessor left, and wait until it answers."""
    layout = cluster.layout
    cluster = replace(cluster, socket=str(socket_folder(layout, preferred=cluster.socket)))
    _write_config(cluster)
    program = str(postgres_program("postgres", layout))
    deadline = time.monotonic() + _SILENT_SECONDS
    while True:
        _forget_stale_locks(cluster)
        written = cluster.log.stat().st_size if cluster.log.exists() else 0
        pid = spawn(
            [program, "-D", str(cluster.data)],
            pid_file=cluster.data / "server.pid",
            log=cluster.log,
            account=layout.account,
        )
        server = Server(pid, str(cluster.data), _STOPS)
        if _becomes_ready(cluster, server):
            return cluster
        stop([server])
        # Sessions of a killed server may hold its memory for a moment longer.
        busy = "shared memory block" in cluster.log.read_text(errors="replace")[written:]
        if not busy or time.monotonic() > deadline:
            raise start_failed("PostgreSQL", cluster.log)
        time.sleep(0.2)


def _write_config(cluster: Cluster) -> None:
    owner = cluster.layout.account
    config = _CONFIG.format(socket=cluster.socket)
    write_private(cluster.data / "postgresql.conf", config, owner=owner)
    access = "local all all scram-sha-256\n"
    write_private(cluster.data / "pg_hba.conf", access, owner=owner)


def _forget_stale_locks(cluster: Cluster) -> None:
    """Keep lock files of a dead server from stopping a new one.

    PostgreSQL takes any process with the recorded id, even a zombie, for a living server. The
    file itself must stay: by its last lines PostgreSQL sees sessions of the dead server that
    still hold its memory.
    """
    lock = cluster.data / "postmaster.pid"
    if read_pid(lock) is None:
        lock.unlink(missing_ok=True)
    else:
        with lock.open("r+") as file:
            rest = file.read().split("\n", 1)[1]
            file.seek(0)
            file.write(f"{_NO_PROCESS}\n{rest}")
            file.truncate()
    for left in Path(cluster.socket).glob(".s.PGSQL.*"):
        left.unlink()


def _becomes_ready(cluster: Cluster, server: Server) -> bool:
    """Wait for the server; give up when it died or says that it is ready but never answers."""
    deadline = time.monotonic() + _START_SECONDS
    silent_until = None
    while server.lives() and time.monotonic() < deadline:
        if _says_ready(cluster.data):
            if _answers(cluster):
                return True
            silent_until = silent_until or time.monotonic() + _SILENT_SECONDS
            if time.monotonic() > silent_until:
                return False
        time.sleep(POLL_SECONDS)
    return False


def _says_ready(data: Path) -> bool:
    try:
        lines = (data / "postmaster.pid").read_text().splitlines()
    except FileNotFoundError:
        return False
    return len(lines) > 7 and lines[7].strip() == "ready"


def _answers(cluster: Cluster) -> bool:
    try:
        with _connect(cluster, SUPERUSER) as connection:
            row = connection.execute("SHOW data_directory").fetchone()
    except psycopg.OperationalError:
        return False
    return row is not None and Path(row[0]) == cluster.data


def _connect(cluster: Cluster, database: str) -> psycopg.Connection:
    return psycopg.connect(cluster.url(SUPERUSER, database), autocommit=True, connect_timeout=5)


def _make_roles(cluster: Cluster) -> None:
    """Make the two roles and the database: one owns and migrates, the other only works."""
    try:
        with _connect(cluster, "template1") as connection:
            for extension in _EXTENSIONS:  # databases made later inherit them from here
                connection.execute(sql.SQL("CREATE EXTENSION {}").format(sql.Identifier(extension)))
        with _connect(cluster, "postgres") as connection:
            for statement in _role_statements(cluster):
                connection.execute(statement)
        with _connect(cluster, DATABASE) as connection:
            for statement in _schema_statements():
                connection.execute(statement)
    except psycopg.Error as error:
        raise EmbeddedError(
            "start_failed",
            f"The new database could not be set up: {error}. Run the command again; it starts "
            f"afresh. The log is {cluster.log}.",
        ) from error


def _role_statements(cluster: Cluster) -> list[sql.Composed]:
    names = {
        "owner": sql.Identifier(OWNER),
        "app": sql.Identifier(APP),
        "database": sql.Identifier(DATABASE),
        "owner_password": sql.Literal(cluster.passwords[OWNER]),
        "app_password": sql.Literal(cluster.passwords[APP]),
    }
    statements = (
        "CREATE ROLE {owner} LOGIN CREATEDB NOSUPERUSER NOCREATEROLE PASSWORD {owner_password}",
        "CREATE ROLE {app} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE PASSWORD {app_password}",
        # A test run must be able to drop a database that sessions still use.
        "GRANT pg_signal_backend TO {owner}",
        "REVOKE ALL ON DATABASE postgres FROM PUBLIC",
        "REVOKE ALL ON DATABASE template1 FROM PUBLIC",
        "GRANT CONNECT ON DATABASE postgres TO {owner}",
        "CREATE DATABASE {database} OWNER {owner}",
        "REVOKE ALL ON DATABASE {database} FROM PUBLIC",
        "GRANT CONNECT ON DATABASE {database} TO {app}",
    )
    return [sql.SQL(statement).format(**names) for statement in statements]


def _schema_statements() -> list[sql.Composed]:
    names = {"owner": sql.Identifier(OWNER), "app": sql.Identifier(APP)}
    statements = (
        "ALTER SCHEMA public OWNER TO {owner}",
        "REVOKE ALL ON SCHEMA public FROM PUBLIC",
        "GRANT USAGE ON SCHEMA public TO {app}",
    )
    return [sql.SQL(statement).format(**names) for statement in statements]
