"""The three programs of a running desk, as the demo starts them."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Mapping
from pathlib import Path

from dsupport.demo.supervisor import Program
from dsupport.environment import BASE_DIR

_WORKER_THREADS = 16
# Room for the answer that is being written when somebody presses Ctrl-C.
_GRACE = "3"


def environment(
    *, tenant: str, provider: str, hosts: list[str], url: str, data: Path, base: Mapping[str, str]
) -> dict[str, str]:
    """Return what the programs find in their environment: this one's, and the demo's choices."""
    return {
        **base,
        "DSUPPORT_DEMO": "1",
        "DSUPPORT_TENANT": tenant,
        "DSUPPORT_PROVIDER": provider,
        "DSUPPORT_DATA": str(data),
        "ALLOWED_HOSTS": ",".join(hosts),
        "DSUPPORT_URL": url,
        # Nothing that serves customers has the powers of the tables' owner.
        "DATABASE_OWNER_URL": "",
        # Many threads that search now and then: small pools keep memory in bounds.
        "OMP_NUM_THREADS": base.get("OMP_NUM_THREADS", "1"),
        "MALLOC_ARENA_MAX": base.get("MALLOC_ARENA_MAX", "2"),
        "PYTHONUNBUFFERED": "1",
    }


def web(listener: socket.socket, env: Mapping[str, str]) -> Program:
    """Return the web process, which takes over the socket that listens already."""
    descriptor = listener.fileno()
    return Program(
        "web",
        (
            *(sys.executable, "-m", "uvicorn", "dsupport.asgi:application"),
            *("--fd", str(descriptor), "--lifespan", "off", "--no-access-log"),
            *("--ws-per-message-deflate", "false", "--timeout-graceful-shutdown", _GRACE),
        ),
        env,
        cwd=BASE_DIR,
        keep=(descriptor,),
    )


def worker(env: Mapping[str, str]) -> Program:
    # There is one worker: what it would say to others costs and gives nothing.
    return Program(
        "worker",
        (
            *(sys.executable, "-m", "celery", "-A", "dsupport", "worker"),
            *("-P", "threads", "-c", str(_WORKER_THREADS), "-l", "INFO", "-n", _node_name()),
            *("--without-gossip", "--without-mingle", "--without-heartbeat"),
        ),
        env,
        cwd=BASE_DIR,
    )


def beat(env: Mapping[str, str], schedule: Path) -> Program:
    return Program(
        "beat",
        (
            *(sys.executable, "-m", "celery", "-A", "dsupport.demo.beat", "beat"),
            *("-s", str(schedule), "--pidfile=", "-l", "INFO"),
        ),
        env,
        cwd=BASE_DIR,
    )


def _node_name() -> str:
    return f"demo-{os.getpid()}@%h"
