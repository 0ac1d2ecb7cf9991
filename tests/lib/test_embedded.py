"""The life of the embedded servers: started, shared, handed on, stopped, cleared."""

from __future__ import annotations

import signal
import stat
import subprocess
import time
from pathlib import Path
from typing import Any

import dj_database_url
import psycopg
import pytest
from kombu import Connection

from dsupport.lib.embedded import EmbeddedError, lease, reset
from tests.lib.embedded_support import (
    HOLD,
    cache,
    environment,
    holder,
    home_of,
    living,
    python,
    query,
)


def test_lease_empty_folder_serves_both(new_dir: Path) -> None:
    with lease(new_dir) as ends:
        assert query(ends.database_url, "SELECT current_user") == "dsupport_app"
        assert query(ends.database_owner_url, "SELECT current_user") == "dsupport_owner"
        with cache(ends.redis_url) as client:
            assert client.ping()


def test_lease_second_time_keeps_data(data_dir: Path) -> None:
    with lease(data_dir) as ends:
        query(ends.database_owner_url, "CREATE TABLE kept AS SELECT 42 AS answer")
        with cache(ends.redis_url) as client:
            client.set("kept", "yes")
    assert living(data_dir) == []
    with lease(data_dir) as ends:
        assert query(ends.database_owner_url, "SELECT answer FROM kept") == 42
        with cache(ends.redis_url) as client:
            assert client.get("kept") == b"yes"


def test_lease_one_part_starts_that_part(data_dir: Path) -> None:
    with lease(data_dir, database=False) as ends:
        assert (ends.database_url, ends.database_owner_url) == ("", "")
        assert len(living(data_dir)) == 1
        with lease(data_dir, cache=False) as more:
            assert more.redis_url == ""
            assert len(living(data_dir)) == 2
        assert len(living(data_dir)) == 1
        with cache(ends.redis_url) as client:
            assert client.ping()


def test_addresses_suit_the_libraries(data_dir: Path) -> None:
    with lease(data_dir) as ends:
        for url in (ends.database_url, ends.database_owner_url):
            parsed: dict[str, Any] = dict(dj_database_url.parse(url))
            assert parsed["ENGINE"] == "django.db.backends.postgresql"
            names = {"host": "HOST", "user": "USER", "password": "PASSWORD", "dbname": "NAME"}
            with psycopg.connect(
                **{key: parsed[name] for key, name in names.items()}
            ) as connection:
                assert connection.info.dbname == "dsupport"
        with Connection(ends.redis_url) as broker:
            queue = broker.SimpleQueue("letters")
            queue.put({"hello": 1})
            assert queue.get(timeout=5).payload == {"hello": 1}
            queue.close()


def test_secrets_are_readable_by_their_owner_alone(data_dir: Path) -> None:
    with lease(data_dir) as ends:
        home = home_of(data_dir)
        for name in ("postgres.json", "valkey.json", "valkey/valkey.conf", "logs/postgres.log"):
            assert stat.S_IMODE((home / name).stat().st_mode) == 0o600, name
        socket = Path(str(dj_database_url.parse(ends.database_url)["HOST"]))
        assert stat.S_IMODE(socket.stat().st_mode) == 0o700
        listed = subprocess.run(["ps", "axww"], capture_output=True, text=True, check=True).stdout
        assert "valkey-server" in listed
        for url in (ends.redis_url, ends.database_url, ends.database_owner_url):
            assert url.split(":")[2].split("@")[0] not in listed


def test_lease_prints_nothing(new_dir: Path) -> None:
    script = HOLD.replace("print", "str").replace(", flush=True", "")
    done = subprocess.run(
        python(script, new_dir), env=environment(), capture_output=True, timeout=120, check=True
    )
    assert (done.stdout, done.stderr) == (b"", b"")
    assert living(new_dir) == []


def test_starter_leaves_first_servers_stay(data_dir: Path) -> None:
    with holder(data_dir) as starter, holder(data_dir) as other:
        ends = starter.wait()
        assert other.wait() == ends
        # `leave` reads its pipes to their end: a server that held them would keep it waiting.
        done = starter.leave()
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        assert query(ends.database_url, "SELECT 1") == 1
        with cache(ends.redis_url) as client:
            assert client.ping()
        assert other.leave().returncode == 0
        assert living(data_dir) == []


def test_two_starters_at_once_share(new_dir: Path) -> None:
    with holder(new_dir) as one, holder(new_dir) as two:
        assert one.wait() == two.wait()
        assert len(living(new_dir)) == 2
        assert len(list(home_of(new_dir).glob("postgres-*"))) == 1
        one.leave()
        two.leave()
    assert living(new_dir) == []


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGTERM, 128 + signal.SIGTERM), (signal.SIGINT, -signal.SIGINT)]
)
def test_signal_to_holder_stops_servers(
    data_dir: Path, number: signal.Signals, status: int
) -> None:
    with holder(data_dir) as command:
        ends = command.wait()
        with psycopg.connect(ends.database_url) as session:  # must not hold up the stop
            began = time.monotonic()
            assert command.send(number).returncode == status
            assert time.monotonic() - began < 15
            assert session.info.dbname == "dsupport"
    assert living(data_dir) == []


def test_lease_keeps_a_handler_of_the_program(new_dir: Path) -> None:
    def mine(*_: object) -> None: ...

    before = signal.signal(signal.SIGTERM, mine)
    try:
        with lease(new_dir, database=False):
            assert signal.getsignal(signal.SIGTERM) is mine
        assert signal.getsignal(signal.SIGTERM) is mine
    finally:
        signal.signal(signal.SIGTERM, before)


def test_error_inside_lease_passes_and_stops(new_dir: Path) -> None:
    with pytest.raises(ZeroDivisionError), lease(new_dir, database=False):
        raise ZeroDivisionError
    assert living(new_dir) == []


def test_reset_in_use_refuses(data_dir: Path) -> None:
    with holder(data_dir) as command:
        ends = command.wait()
        with pytest.raises(EmbeddedError) as refusal:
            reset(data_dir)
        assert refusal.value.code == "in_use"
        assert str(command.pid) in refusal.value.message
        assert query(ends.database_url, "SELECT 1") == 1
        command.leave()
    reset(data_dir)
    assert not list(home_of(data_dir).glob("*.json"))


def test_reset_clears_both(data_dir: Path) -> None:
    with lease(data_dir) as ends:
        query(ends.database_owner_url, "CREATE TABLE gone ()")
        with cache(ends.redis_url) as client:
            client.set("gone", "soon")
    reset(data_dir)
    with lease(data_dir) as ends:
        assert query(ends.database_owner_url, "SELECT to_regclass('gone')") is None
        with cache(ends.redis_url) as client:
            assert client.get("gone") is None


def test_reset_nothing_there_does_nothing(new_dir: Path) -> None:
    reset(new_dir)
    assert not new_dir.exists()


def test_lease_unwritable_place_says_what_to_do(tmp_path: Path) -> None:
    blocker = tmp_path / "file"
    blocker.write_text("")
    with pytest.raises(EmbeddedError) as refusal, lease(blocker / ".dsupport"):
        pass
    assert refusal.value.code == "not_writable"
    assert "DSUPPORT_DATA" in refusal.value.message


def test_forked_child_leaving_stops_nothing(data_dir: Path) -> None:
    script = """
import os, sys
from pathlib import Path
from dsupport.lib.embedded import lease
with lease(Path(sys.argv[1])) as ends:
    child = os.fork()
    if child == 0:
        sys.exit(0)
    os.waitpid(child, 0)
    import psycopg
    psycopg.connect(ends.database_url).close()
"""
    command = python(script, data_dir)
    subprocess.run(command, env=environment(), timeout=120, check=True)
    assert living(data_dir) == []


def test_servers_hold_no_descriptor_of_ours(data_dir: Path) -> None:
    if not Path("/proc/self/fd").exists():
        pytest.skip("needs /proc to list the descriptors of another process")
    with lease(data_dir):
        for server in living(data_dir):
            for descriptor in (0, 1, 2):
                target = Path(f"/proc/{server.pid}/fd/{descriptor}").readlink()
                assert target == Path("/dev/null") or target.is_relative_to(home_of(data_dir))
