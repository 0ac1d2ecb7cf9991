"""Settings of the tests: the project's own, on servers that are shared by all test processes."""

from __future__ import annotations

import atexit
import os
import re
import signal
import sys
from contextlib import ExitStack
from pathlib import Path

from dsupport.lib import embedded

_ROOT = Path(__file__).resolve().parent.parent
_DATA = Path(os.environ.get("DSUPPORT_TEST_SERVERS", _ROOT / ".dsupport" / "tests"))

if sys.dont_write_bytecode:
    # Where Python keeps no bytecode, each of the many processes that tests start would compile
    # everything again. It is kept with the tests' own data instead.
    sys.dont_write_bytecode = False
    sys.pycache_prefix = str(_DATA / "files" / "bytecode")
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # it may have been -B instead

_given = all(
    os.environ.get(f"DSUPPORT_TEST_{name}") for name in ("DATABASE_OWNER_URL", "REDIS_URL")
)

if _given:
    for name in ("DATABASE_URL", "DATABASE_OWNER_URL", "REDIS_URL"):
        os.environ[name] = os.environ[f"DSUPPORT_TEST_{name}"]
else:
    _DATA.parent.mkdir(mode=0o700, exist_ok=True)
    _held = ExitStack()
    _ends = _held.enter_context(embedded.lease(_DATA))
    atexit.register(_held.close)
    os.environ["DATABASE_URL"] = _ends.database_url
    os.environ["DATABASE_OWNER_URL"] = _ends.database_owner_url
    os.environ["REDIS_URL"] = _ends.redis_url

# Tests started in the background may ignore these, and so would the processes they start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

# Each test process has a Valkey database and a channel prefix of its own.
_worker = os.environ.get("PYTEST_XDIST_WORKER", "gw14")
_number = int(re.sub(r"\D", "", _worker) or 0) % 14 + 1
os.environ["REDIS_URL"] = re.sub(r"/\d*$", f"/{_number}", os.environ["REDIS_URL"])
os.environ.update(
    {
        "SECRET_KEY": "a key for tests only, never used to sign anything real",
        "DSUPPORT_DB_POOL": "0",
        "DSUPPORT_PROVIDER": "offline",
        "DSUPPORT_LOG_LEVEL": "WARNING",
        "DSUPPORT_DATA": str(_DATA / "files"),
        "ALLOWED_HOSTS": "localhost,127.0.0.1,testserver",
        "DSUPPORT_DEMO": "1",
    }
)

from dsupport.settings import *  # noqa: E402, F403
from dsupport.settings import CHANNEL_LAYERS  # noqa: E402

CHANNEL_LAYERS["default"]["CONFIG"]["prefix"] = f"test-{_worker}"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
