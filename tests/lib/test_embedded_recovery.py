"""What a killed command or server leaves behind must not stop the next one."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import dj_database_url
import psycopg
import pytest

from dsupport.lib.embedded import EmbeddedError, files, lease, paths, processes, users
from tests.lib.embedded_support import (
    cache,
    eventually,
    holder,
    home_of,
    kill_servers,
    living,
    query,
)


@pytest.fixture
def stranger(data_dir: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Give a process of the servers' own account that is none of ours."""
    with lease(data_dir, cache=False):
        layout = paths.existing(data_dir)
    assert layout is not None
    process = subprocess.Popen(["sleep", "600"], cwd="/", **processes.run_as(layout.account))
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def test_killed_holder_is_forgotten(data_dir: Path) -> None:
    with holder(data_dir) as command:
        ends = command.wait()
        command.send(signal.SIGKILL)
    assert len(living(data_dir)) == 2
    with lease(data_dir) as again:
        assert again == ends
        with users.exclusive(home_of(data_dir)):
            assert [user.pid for user in users.living(home_of(data_dir))] == [os.getpid()]
    assert living(data_dir) == []


def test_killed_holder_beside_a_living_one_changes_nothing(data_dir: Path) -> None:
    with lease(data_dir) as ends:
        with holder(data_dir) as command:
            command.wait()
            command.send(signal.SIGKILL)
        with lease(data_dir) as again:
            assert again == ends
        assert query(ends.database_url, "SELECT 1") == 1


def test_everything_killed_loses_nothing(data_dir: Path) -> None:
    with holder(data_dir) as command:
        ends = command.wait()
        query(ends.database_owner_url, "CREATE TABLE kept AS SELECT 42 AS answer")
        with cache(ends.redis_url) as client:
            client.rpush("queue", *range(500))
        kill_servers(data_dir)
        command.send(signal.SIGKILL)
    assert list(home_of(data_dir).glob("postgres-*/postmaster.pid"))
    assert (home_of(data_dir) / "valkey/server.pid").exists()
    with lease(data_dir) as ends:
        assert query(ends.database_owner_url, "SELECT answer FROM kept") == 42
        with cache(ends.redis_url) as client:
            assert client.llen("queue") == 500


def test_reused_pid_is_neither_trusted_nor_signalled(
    data_dir: Path, stranger: subprocess.Popen[bytes]
) -> None:
    with holder(data_dir) as command:
        ends = command.wait()
        kill_servers(data_dir)
        command.send(signal.SIGKILL)
    home = home_of(data_dir)
    (data,) = home.glob("postgres-*")
    lock = data / "postmaster.pid"
    rest = lock.read_text().split("\n", 1)[1]
    with lock.open("r+") as file:
        file.write(f"{stranger.pid}\n{rest}")
    for path in (data / "server.pid", home / "valkey/server.pid"):
        with path.open("r+") as file:
            file.write(f"{stranger.pid}\n")
    with lease(data_dir) as again:
        assert again.database_url == ends.database_url
        assert query(again.database_url, "SELECT 1") == 1
        assert len(living(data_dir)) == 2
    assert stranger.poll() is None


@pytest.mark.parametrize("garbage", ["", "not a number\n"])
def test_broken_pid_file_does_not_stop_the_start(data_dir: Path, garbage: str) -> None:
    with lease(data_dir, cache=False):
        pass
    (data,) = home_of(data_dir).glob("postgres-*")
    (data / "postmaster.pid").write_text(garbage)
    with lease(data_dir, cache=False) as ends:
        assert query(ends.database_url, "SELECT 1") == 1


@pytest.mark.parametrize(
    "moment",
    [
        pytest.param("postgres-*/PG_VERSION", id="initdb"),
        pytest.param("postgres-*/server.pid", id="first-start"),
    ],
)
def test_killed_first_start_starts_over(new_dir: Path, moment: str) -> None:
    home = home_of(new_dir)
    with holder(new_dir) as command:
        eventually(lambda: any(home.glob(moment)))
        command.send(signal.SIGKILL)
    assert not (home / "postgres.json").exists()
    (half,) = home.glob("postgres-*")
    with lease(new_dir) as ends:
        query(ends.database_owner_url, "CREATE TABLE works ()")
        (whole,) = home.glob("postgres-*")
        assert whole != half
    assert living(new_dir) == []


def test_killed_postmaster_with_a_session_starts_again(data_dir: Path) -> None:
    with (
        lease(data_dir, cache=False) as ends,
        psycopg.connect(ends.database_owner_url, autocommit=True) as session,
    ):
        session.execute("CREATE TABLE kept AS SELECT 42 AS answer")
        kill_servers(data_dir)
        with lease(data_dir, cache=False) as again:
            assert again == ends  # sessions that reconnect find it where it was
            assert query(again.database_owner_url, "SELECT answer FROM kept") == 42


def test_killed_cache_comes_back_where_others_look(new_dir: Path) -> None:
    with lease(new_dir, database=False) as ends:
        with cache(ends.redis_url) as client:
            client.set("kept", "yes")
        kill_servers(new_dir)
        with lease(new_dir, database=False) as again:
            assert again == ends
            with cache(ends.redis_url) as client:
                assert client.get("kept") == b"yes"


def test_cache_port_taken_meanwhile_moves(new_dir: Path) -> None:
    with lease(new_dir, database=False) as ends:
        kill_servers(new_dir)
        port = int(ends.redis_url.rsplit(":", 1)[1].split("/")[0])
        with socket.socket() as squatter:
            squatter.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            squatter.bind(("127.0.0.1", port))
            squatter.listen()
            with lease(new_dir, database=False) as again:
                assert again.redis_url != ends.redis_url
                with cache(again.redis_url) as client:
                    assert client.ping()


@pytest.mark.parametrize("what", ["data folder", "servers' folder"])
def test_data_removed_in_use_leaves_no_server(data_dir: Path, what: str) -> None:
    with lease(data_dir) as ends:
        socket_folder = Path(str(dj_database_url.parse(ends.database_url)["HOST"]))
        servers = living(data_dir)
        files.remove_tree(data_dir if what == "data folder" else home_of(data_dir))
    assert len(servers) == 2
    assert not any(server.lives() for server in servers)
    if socket_folder.parent == Path("/tmp") or what != "data folder":
        assert not socket_folder.exists()


def test_damaged_data_says_what_to_do(data_dir: Path) -> None:
    with lease(data_dir, cache=False):
        pass
    (data,) = home_of(data_dir).glob("postgres-*")
    (data / "PG_VERSION").write_text("9\n")
    with pytest.raises(EmbeddedError) as refusal, lease(data_dir, cache=False):
        pass
    assert refusal.value.code == "start_failed"
    assert "incompatible" in refusal.value.message
    assert "--reset" in refusal.value.message
    assert living(data_dir) == []


def test_lock_held_too_long_names_the_lock(new_dir: Path) -> None:
    home = paths.make_home(new_dir)
    with (
        users.exclusive(home),
        pytest.raises(EmbeddedError) as refusal,
        users.exclusive(home, seconds=0.1),
    ):
        pass
    assert refusal.value.code == "locked"
    assert str(home / "lock") in refusal.value.message
