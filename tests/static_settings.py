"""Settings for tools that read the code and run nothing: no server is started."""

from __future__ import annotations

import os

os.environ.setdefault("DATABASE_URL", "postgres://app@127.0.0.1:1/none")
os.environ.setdefault("DATABASE_OWNER_URL", "postgres://owner@127.0.0.1:1/none")
os.environ.setdefault("REDIS_URL", "redis://127.0.0.1:1/0")
os.environ.setdefault("SECRET_KEY", "for reading code only, signs nothing at all")

from dsupport.settings import *  # noqa: F403
