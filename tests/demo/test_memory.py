from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dsupport.demo.memory import pss_of, with_descendants

needs_proc = pytest.mark.skipif(
    not Path("/proc/self/smaps_rollup").exists(), reason="only Linux tells what memory is shared"
)
MIB = 1024 * 1024


def process(folder: Path, pid: int, parent: int, pss_kib: int | None) -> None:
    entry = folder / str(pid)
    entry.mkdir()
    (entry / "stat").write_text(f"{pid} (a ) strange (name) S {parent} {pid} 0")
    if pss_kib is not None:
        rollup = (
            f"00400000-7ff [rollup]\nRss: {pss_kib * 3} kB\nPss: {pss_kib} kB\nPss_Anon: 1 kB\n"
        )
        (entry / "smaps_rollup").write_text(rollup)


def test_pss_counts_descendants_once(tmp_path):
    process(tmp_path, 10, 1, 100)
    process(tmp_path, 11, 10, 20)
    process(tmp_path, 12, 11, 3)
    process(tmp_path, 20, 1, 5000)
    assert with_descendants([10], proc=tmp_path) == {10, 11, 12}
    assert pss_of([10, 11], proc=tmp_path) == 123 * 1024


def test_pss_of_a_process_that_is_gone_is_nothing(tmp_path):
    process(tmp_path, 10, 1, None)  # it ended between the two looks
    assert pss_of([10, 999], proc=tmp_path) == 0


@needs_proc
def test_pss_of_a_real_child_counts_what_it_holds():
    code = "held = bytearray(64 * 1024 * 1024); print('up', flush=True); input()"
    shell = [
        sys.executable,
        "-c",
        f"import subprocess, sys; subprocess.run([sys.executable, '-c', {code!r}])",
    ]
    with subprocess.Popen(
        shell, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "up\n"
        assert 64 * MIB < pss_of([parent.pid]) < 160 * MIB
        parent.communicate("\n")
    assert pss_of([os.getpid()]) > MIB
