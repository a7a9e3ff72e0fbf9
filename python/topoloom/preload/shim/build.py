# SPDX-License-Identifier: BSD-3-Clause
"""Compiles C into a cache: for a user's ``mpicc``, once per MPI, or without MPI."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from topoloom._core import Error
from topoloom.support.children import run_child
from topoloom.support.resources import shipped

_OPTIONS = ["-std=gnu11", "-O2", "-fPIC", "-pthread"]
_OF_LIBRARIES = [
    "-shared",
    "-fvisibility=hidden",
    "-fexceptions",
    "-ftls-model=initial-exec",
]


def build_shim(
    name: str,
    compiler: Path,
    generate: Callable[[str], str] | None = None,
    folders: Sequence[str] = (),
    libraries: Sequence[Path] = (),
    headers: Sequence[Path] = (),
) -> Path:
    """Return the library of ``mpi/<name>`` for an MPI, compiled if need be.

    Parameters
    ----------
    name
        Folder of its sources; ``mpi/shim``, which all share, is compiled in.
    compiler
        The ``mpicc`` of the program's MPI.
    generate
        Makes one more C file from that MPI's ``mpi.h`` after the preprocessor.
    folders
        More folders of sources, such as ``mpi/process_map``.
    libraries
        What to link with; they are found where they are now.
    headers
        More of them that the sources include.

    Raises
    ------
    topoloom.Error
        If the compiler fails; the message ends with its first complaint. If the cache
        cannot be written.
    """
    rooms = [shipped(room) for room in (f"mpi/{name}", *folders, "mpi/shim")]
    sources = _Sources(rooms, libraries, headers)
    return _build(f"{name}-{{}}.so", compiler, sources, _OF_LIBRARIES, generate)


def build_library(
    name: str,
    compiler: Path,
    folders: Sequence[str] = (),
    libraries: Sequence[Path] = (),
    headers: Sequence[Path] = (),
) -> Path:
    """Return the library of ``mpi/<name>`` for programs that call it themselves.

    Arguments and errors are those of `build_shim`.
    """
    rooms = [shipped(room) for room in (f"mpi/{name}", *folders)]
    sources = _Sources(rooms, libraries, headers)
    return _build(f"{name}-{{}}.so", compiler, sources, _OF_LIBRARIES)


def build_program(
    name: str,
    compiler: Path,
    folders: Sequence[str] = (),
    libraries: Sequence[Path] = (),
    headers: Sequence[Path] = (),
    leave_out: Sequence[str] = (),
) -> Path:
    """Return the program of ``mpi/<name>`` for an MPI, compiled if need be.

    Arguments are those of `build_shim`; files of the folders that match a pattern of
    `leave_out` are not compiled in.

    Raises
    ------
    topoloom.Error
        As `build_shim`.
    """
    rooms = [shipped(room) for room in (f"mpi/{name}", *folders)]
    sources = _Sources(rooms, libraries, headers, leave_out)
    return _build(f"{name}-{{}}", compiler, sources, [])


def build_plain_library(room: str, name: str, compiler: Path) -> Path:
    """Return a library without MPI, compiled if need be; its file has that `name`.

    Raises
    ------
    topoloom.Error
        As `build_shim`.
    """
    sources = _Sources([shipped(room)], [], []).files()
    options = [*_OPTIONS, *_OF_LIBRARIES]
    key = hashlib.blake2b(digest_size=12)
    for source in sources:
        key.update(source.read_bytes())
    for text in (_show(compiler, "--version"), *options):
        key.update(text.encode())
    library = _cache() / f"{room.replace('/', '-')}-{key.hexdigest()}" / name
    with _writing(library.parent):
        library.parent.mkdir(exist_ok=True)
    _link(library, [str(compiler), *options], sources, ["-ldl"])
    return library


class _Sources(NamedTuple):
    """What is compiled, and linked with."""

    rooms: Sequence[Path]
    libraries: Sequence[Path]
    headers: Sequence[Path]
    leave_out: Sequence[str] = ()

    def files(self) -> list[Path]:
        return [
            file
            for room in self.rooms
            for file in sorted(room.glob("*.[ch]"))
            if not any(map(file.match, self.leave_out))
        ]


def _build(
    name: str,
    compiler: Path,
    given: _Sources,
    more_options: Sequence[str],
    generate: Callable[[str], str] | None = None,
) -> Path:
    """Compile into the cache; a hash of all that matters becomes part of the name."""
    sources, headers = given.files(), given.headers
    ask = ["-E", "-include", "mpi.h", "-x", "c", os.devnull]
    header = _compile([str(compiler), *ask])
    generated = generate(header) if generate else ""
    key = hashlib.blake2b(digest_size=12)
    for source in [*sources, *headers]:
        key.update(source.read_bytes())
    beside = [*given.rooms, *(header.parent for header in headers)]
    general = [*_OPTIONS, *more_options]
    options = [*general, *(f"-I{folder}" for folder in beside)]
    linked = [
        w for file in given.libraries for w in (str(file), f"-Wl,-rpath,{file.parent}")
    ]
    # The header after the preprocessor holds the version of MPI; -show says where.
    for text in (generated, header, _show(compiler), *general, *linked):
        key.update(text.encode())
    library = _cache() / name.format(key.hexdigest())
    _link(library, [str(compiler), *options], sources, [*linked, "-ldl"], generated)
    return library


def _link(
    target: Path,
    command: Sequence[str],
    sources: Sequence[Path],
    linked: Sequence[str],
    generated: str = "",
) -> None:
    """Compile the target unless it exists; it appears complete or not at all."""
    if target.exists():
        return
    with _writing(target.parent), _locked(target):
        if target.exists():
            return
        _compile_to(target, command, sources, linked, generated)


def _compile_to(
    target: Path,
    command: Sequence[str],
    sources: Sequence[Path],
    linked: Sequence[str],
    generated: str,
) -> None:
    with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
        generated_file = Path(scratch) / "generated.c"
        generated_file.write_text(generated)
        made = Path(scratch) / target.name
        files = [
            str(file) for file in [*sources, generated_file] if file.suffix == ".c"
        ]
        _compile([*command, *files, "-o", str(made), *linked])
        made.replace(target)


@contextlib.contextmanager
def _locked(target: Path) -> Iterator[None]:
    """Let one process at a time make the target, where files can be locked.

    The kernel releases the lock of a process that dies. A process that waits for a
    lock file that is gone by then finds the target, or compiles it once more.
    """
    lock = target.with_name(f"{target.name}.lock")
    with lock.open("w") as held:
        with contextlib.suppress(OSError):  # not every network file system has locks
            fcntl.flock(held, fcntl.LOCK_EX)
        try:
            yield
        finally:
            lock.unlink(missing_ok=True)


def _cache() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(home).absolute() / "topoloom"
    if re.search(r"[\s:]", str(folder)):
        raise Error(
            f"nothing can be preloaded from '{folder}', which has a space or a colon; "
            "let XDG_CACHE_HOME name another folder"
        )
    with _writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    return folder


@contextlib.contextmanager
def _writing(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise Error(
            f"cannot write into {folder}: {error.strerror}; let XDG_CACHE_HOME name "
            "another folder"
        ) from None


def _show(compiler: Path, question: str = "-show") -> str:
    answer = subprocess.run(
        [compiler, question], capture_output=True, text=True, check=False
    )
    return f"{compiler} {answer.stdout}"


def _compile(command: list[str]) -> str:
    try:
        done = run_child(command)
    except OSError as error:
        raise Error(f"cannot run {command[0]}: {error.strerror}") from None
    if done.returncode != 0:
        complaints = [line for line in done.stderr.splitlines() if "error" in line]
        raise Error(
            f"{command[0]} cannot compile what is to be preloaded: "
            f"{(complaints or [done.stderr.strip() or 'no reason given'])[0]}"
        )
    return done.stdout
