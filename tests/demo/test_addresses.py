from __future__ import annotations

import socket

import pytest

from dsupport.demo.addresses import (
    CannotListen,
    PortTaken,
    allowed_hosts,
    in_url,
    is_local,
    listen,
    reachable,
)


def test_listen_port_zero_finds_a_free_one():
    with listen("127.0.0.1", 0) as one, listen("127.0.0.1", 0) as other:
        ports = {one.getsockname()[1], other.getsockname()[1]}
        assert len(ports) == 2
        assert 0 not in ports


def test_listen_holds_the_port_at_once():
    """A visitor who comes before the web process waits; a second listener is refused."""
    with listen("127.0.0.1", 0) as listener:
        port = listener.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port), timeout=5):
            pass
        with pytest.raises(PortTaken) as refused:
            listen("127.0.0.1", port)
    assert refused.value.code == "port_taken"
    assert f"--port {port + 1}" in refused.value.message
    assert "\n" not in refused.value.message


def test_listen_port_is_free_again_at_once():
    with listen("127.0.0.1", 0) as listener:
        port = listener.getsockname()[1]
        visitor = socket.create_connection(("127.0.0.1", port), timeout=5)
        accepted, _ = listener.accept()
        accepted.close()  # leaves the connection waiting on our side
        visitor.close()
    listen("127.0.0.1", port).close()


@pytest.mark.parametrize(
    ("host", "port"),
    [("203.0.113.7", 0), ("no such host", 0), ("127.0.0.1", 70000), ("127.0.0.1", -1)],
)
def test_listen_impossible_address_is_refused_in_one_line(host, port):
    with pytest.raises(CannotListen) as refused:
        listen(host, port)
    assert host in refused.value.message
    assert "\n" not in refused.value.message


def test_allowed_hosts_keep_what_is_set_and_add_the_given_one():
    hosts = allowed_hosts("192.0.2.7", ["support.example.com", "localhost"])
    assert hosts == ["support.example.com", "localhost", "127.0.0.1", "[::1]", "192.0.2.7"]
    assert "[2001:db8::7]" in allowed_hosts("2001:db8::7", [])


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_allowed_hosts_of_every_address_are_the_machines_names_and_never_any(host):
    hosts = allowed_hosts(host, [])
    assert socket.gethostname() in hosts
    assert {"localhost", "127.0.0.1"} <= set(hosts)
    assert not any("*" in name or name in {"0.0.0.0", "[::]", "."} for name in hosts)


def test_reachable_address_of_every_address_is_this_machine():
    assert reachable("0.0.0.0") == "127.0.0.1"
    assert reachable("::") == "::1"
    assert reachable("192.0.2.7") == "192.0.2.7"
    assert in_url("::1") == "[::1]"


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("127.0.0.1", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("x.test", False),
    ],
)
def test_is_local_knows_who_can_come(host, local):
    assert is_local(host) is local
