"""Fresh identifiers, time-ordered so that indexes stay dense."""

from __future__ import annotations

import os
import time
import uuid


def new_id() -> uuid.UUID:
    """Return a UUID of version 7 (RFC 9562, section 5.7): 48 bits of milliseconds, then random."""
    milliseconds = time.time_ns() // 1_000_000
    random = int.from_bytes(os.urandom(10), "big")
    value = (milliseconds & ((1 << 48) - 1)) << 80
    value |= 0x7 << 76
    value |= (random >> 68 & 0xFFF) << 64
    value |= 0b10 << 62
    value |= random & ((1 << 62) - 1)
    return uuid.UUID(int=value)
