# SPDX-License-Identifier: BSD-3-Clause
"""Concurrent processes compile a library only once."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

COMPILER = """\
#!/bin/sh
[ "$1" = --version ] && exec echo 1.0
echo compiled >>{folder}/log
cat {folder}/gate >/dev/null
while [ "$1" != -o ]; do shift; done
echo library >"$2"
"""
BUILD = """\
import pathlib, sys
from topoloom.preload.shim import build_library_without_mpi
print(build_library_without_mpi("nccl/profiler", "lib.so", pathlib.Path(sys.argv[1])))
"""


@pytest.fixture
def waiting_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write a compiler program that waits until a process opens the FIFO `gate`."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    os.mkfifo(tmp_path / "gate")
    program = tmp_path / "cc"
    program.write_text(COMPILER.format(folder=tmp_path))
    program.chmod(0o755)
    return program


def start_build(compiler: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", BUILD, str(compiler)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def open_compiler_gate(compiler: Path, *builders: subprocess.Popen[str]) -> int:
    """Open the gate as soon as a compiler reads it; return the file descriptor."""
    while any(each.poll() is None for each in builders):
        try:
            return os.open(compiler.parent / "gate", os.O_WRONLY | os.O_NONBLOCK)
        except OSError:  # no compiler reads it yet
            time.sleep(0.01)
    pytest.fail("no process compiles")


def test_concurrent_processes_compile_once(waiting_compiler: Path) -> None:
    builders = [start_build(waiting_compiler) for _ in range(3)]
    os.close(open_compiler_gate(waiting_compiler, *builders))
    libraries = {Path(each.communicate(timeout=600)[0].strip()) for each in builders}
    assert (waiting_compiler.parent / "log").read_text() == "compiled\n"
    (library,) = libraries
    assert library.read_bytes().startswith(b"library\n")
    assert [file.name for file in library.parent.iterdir()] == ["lib.so"]


def test_a_killed_build_blocks_no_other_build(waiting_compiler: Path) -> None:
    killed = start_build(waiting_compiler)
    gate = open_compiler_gate(waiting_compiler, killed)
    killed.kill()
    killed.communicate(timeout=600)
    os.close(gate)
    # The compiler of the killed process may still read the gate.
    (waiting_compiler.parent / "gate").unlink()
    os.mkfifo(waiting_compiler.parent / "gate")
    other = start_build(waiting_compiler)
    os.close(open_compiler_gate(waiting_compiler, other))
    library = Path(other.communicate(timeout=600)[0].strip())
    assert library.read_bytes().startswith(b"library\n")
    assert (waiting_compiler.parent / "log").read_text() == "compiled\ncompiled\n"
