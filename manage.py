#!/usr/bin/env python3
"""Run a command of DSupport. Without DATABASE_URL and REDIS_URL it brings its own servers."""

from __future__ import annotations

import sys

from dsupport.launch import main

if __name__ == "__main__":
    sys.exit(main(sys.argv))
