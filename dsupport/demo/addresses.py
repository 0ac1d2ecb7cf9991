"""The port that the desk listens on and the names under which it may be reached."""

from __future__ import annotations

import errno
import ipaddress
import socket
from contextlib import suppress

from dsupport.contract.errors import InvalidInput

_BACKLOG = 512
_LAST_PORT = 65535
_LOCAL = ("localhost", "127.0.0.1", "[::1]")
# Documentation addresses (RFC 5737, RFC 3849): nothing is sent, the kernel only picks a route.
_ELSEWHERE = ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1"))


class PortTaken(InvalidInput):
    code = "port_taken"

    def __init__(self, port: int) -> None:
        super().__init__(
            f"Port {port} is in use. Choose another one, for example --port "
            f"{port % _LAST_PORT + 1}, or let the system find a free one with --port 0."
        )


class CannotListen(InvalidInput):
    code = "cannot_listen"

    def __init__(self, host: str, port: int, why: str) -> None:
        super().__init__(
            f"Cannot listen on {host} port {port} ({why}). Leave out --host, or give an address of "
            "this machine, and a port between 1024 and 65535."
        )


def listen(host: str, port: int) -> socket.socket:
    """Take the port now, so that nobody else can between this check and the start of the web.

    Connections wait in the socket until the web process, which inherits it, accepts them.
    """
    if not 0 <= port <= _LAST_PORT:  # getaddrinfo would count round
        raise CannotListen(host, port, "there is no such port")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
    except OSError as error:
        raise CannotListen(host, port, _reason(error)) from None
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise PortTaken(port) from None
        raise CannotListen(host, port, _reason(error)) from None
    return listener


def allowed_hosts(host: str, configured: list[str]) -> list[str]:
    """Return the host names that the web answers to: those set, the local ones, the given one.

    A desk that listens on every address of the machine is reached under the machine's own names.
    """
    names = [*configured, *_LOCAL, in_url(host)]
    if _is_unspecified(host):
        names = [*configured, *_LOCAL, socket.gethostname(), socket.getfqdn(), *_own_addresses()]
    return list(dict.fromkeys(name for name in names if name))


def reachable(host: str) -> str:
    """Return the host to open in a browser on this machine."""
    if not _is_unspecified(host):
        return host
    return "::1" if ":" in host else "127.0.0.1"


def in_url(host: str) -> str:
    """Return the host as it stands in an address: IPv6 in brackets."""
    return f"[{host}]" if ":" in host else host


def _is_unspecified(host: str) -> bool:
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_unspecified
    return not host


def _own_addresses() -> list[str]:
    found = []
    for family, elsewhere in _ELSEWHERE:
        with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((elsewhere, 9))
            found.append(in_url(probe.getsockname()[0]))
    return found


def _reason(error: OSError) -> str:
    return error.strerror or str(error)


def is_local(host: str) -> bool:
    """Tell whether the host can be reached from this machine alone."""
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host == "localhost"
