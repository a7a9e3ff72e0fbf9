# SPDX-License-Identifier: BSD-3-Clause
"""Build cache for test programs, in build/test-programs.

The name of an entry contains a hash of compiler, command line and sources. A file lock
serializes processes that build the same entry.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
CACHE = ROOT / "build/test-programs"
SOURCES = (".c", ".cpp", ".f90", ".F90")
#: Linked into programs whose ranks poll, so that idle ranks yield the core. The folder
#: contains only this file: changed neighbors of a source cause a rebuild.
NAP_SOURCE = Path(__file__).parent / "programs/idle/nap_when_idle.c"


def run(words: Sequence[object], **variables: str) -> str:
    """Run a command that must succeed; return its standard output."""
    done = subprocess.run(
        list(map(str, words)),
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **variables},
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def compile_program(name: str, words: Sequence[object]) -> Path:
    """Compile a program; the first word is the compiler. Return its path."""

    def compile_in(folder: Path) -> None:
        # Fortran compilers write module files to the current directory.
        done = subprocess.run(
            [*map(str, words), "-o", folder / name],
            capture_output=True,
            text=True,
            check=False,
            cwd=folder,
        )
        assert done.returncode == 0, done.stderr[-3000:]

    inputs = [
        _describe_compiler(words[0]),
        *map(str, words[1:]),
        *_hash_inputs(words[1:]),
    ]
    return get_cached_folder(name, inputs, compile_in) / name


def get_cached_folder(
    name: str, inputs: Iterable[str], make: Callable[[Path], None]
) -> Path:
    """Return the cached folder for these inputs; `make` fills a new folder."""
    key = hashlib.sha256("\n".join(inputs).encode()).hexdigest()[:16]
    folder = CACHE / f"{name}-{key}"

    def fill() -> None:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        make(folder)

    run_once_per_stamp(folder / ".made", CACHE / f"{folder.name}.lock", fill)
    return folder


def run_once_per_stamp(stamp: Path, lock: Path, make: Callable[[], None]) -> None:
    """Call `make` unless the stamp exists; create the stamp when it succeeds."""
    if stamp.exists():
        return
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        if not stamp.exists():
            make()
            stamp.touch()


@cache
def hash_folder(folder: Path, pattern: str = "**/*") -> str:
    """Hash the names and contents of the files in a folder."""
    files = sorted(file for file in folder.glob(pattern) if file.is_file())
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file}\n".encode() + file.read_bytes())
    return digest.hexdigest()


def _describe_compiler(compiler: object) -> str:
    found = shutil.which(str(compiler))
    assert found is not None, f"{compiler} is missing"
    status = Path(found).stat()
    return f"{found} {status.st_mtime_ns} {status.st_size}"


def _hash_inputs(words: Iterable[object]) -> Iterable[str]:
    """Hash the folders of sources and headers, since both include their neighbors.

    Applications also include headers of apps/shared.
    """
    for word in map(str, words):
        if word.startswith("-I"):
            yield hash_folder(Path(word[2:]), "*")
        elif word.endswith(SOURCES):
            folder = Path(word).parent
            yield hash_folder(folder, "*")
            yield hash_folder(folder.parent / "shared", "*")
