# SPDX-License-Identifier: BSD-3-Clause
"""Compiles shipped C sources into a cache: once per MPI, or once if MPI is not used."""

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
from topoloom.support.child_processes import run_child
from topoloom.support.resources import find_shipped_folder

_OPTIONS = ["-std=gnu11", "-O2", "-fPIC", "-pthread"]
_LIBRARY_OPTIONS = [
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
    """Return the preload library of ``mpi/<name>`` for an MPI, compiled if necessary.

    Raises `topoloom.Error` with the compiler's first error, or if the cache is not
    writable.

    Parameters
    ----------
    name
        Source folder below ``mpi``; the sources of ``mpi/shim`` are always included.
    compiler
        The ``mpicc`` of the program's MPI.
    generate
        Function that generates another C file from the MPI's preprocessed ``mpi.h``.
    folders
        Other source folders, such as ``mpi/process_map``.
    libraries
        Libraries to link with; their folders become run paths.
    headers
        Other headers that the sources include.
    """
    source_folders = [
        find_shipped_folder(folder) for folder in (f"mpi/{name}", *folders, "mpi/shim")
    ]
    sources = _BuildSources(source_folders, libraries, headers)
    return _build_cached(
        f"{name}-{{}}.so", compiler, sources, _LIBRARY_OPTIONS, generate
    )


def build_library(
    name: str,
    compiler: Path,
    folders: Sequence[str] = (),
    libraries: Sequence[Path] = (),
    headers: Sequence[Path] = (),
) -> Path:
    """Return the library of ``mpi/<name>``, for programs that call its functions.

    Arguments and errors are the same as for `build_shim`.
    """
    source_folders = [
        find_shipped_folder(folder) for folder in (f"mpi/{name}", *folders)
    ]
    sources = _BuildSources(source_folders, libraries, headers)
    return _build_cached(f"{name}-{{}}.so", compiler, sources, _LIBRARY_OPTIONS)


def build_program(
    name: str,
    compiler: Path,
    folders: Sequence[str] = (),
    libraries: Sequence[Path] = (),
    headers: Sequence[Path] = (),
    exclude: Sequence[str] = (),
) -> Path:
    """Return the program of ``mpi/<name>`` for an MPI, compiled if necessary.

    Arguments are the same as for `build_shim`; files that match a pattern in `exclude`
    are omitted.

    Raises
    ------
    topoloom.Error
        For the same reasons as `build_shim`.
    """
    source_folders = [
        find_shipped_folder(folder) for folder in (f"mpi/{name}", *folders)
    ]
    sources = _BuildSources(source_folders, libraries, headers, exclude)
    return _build_cached(f"{name}-{{}}", compiler, sources, [])


def build_library_without_mpi(folder: str, name: str, compiler: Path) -> Path:
    """Return a library that does not use MPI, with file name `name`.

    Raises
    ------
    topoloom.Error
        For the same reasons as `build_shim`, except those related to MPI.
    """
    sources = _BuildSources([find_shipped_folder(folder)], [], []).files()
    options = [*_OPTIONS, *_LIBRARY_OPTIONS]
    key = hashlib.blake2b(digest_size=12)
    for source in sources:
        key.update(source.read_bytes())
    for text in (_query_compiler(compiler, "--version"), *options):
        key.update(text.encode())
    library = _make_cache() / f"{folder.replace('/', '-')}-{key.hexdigest()}" / name
    with _explain_write_errors(library.parent):
        library.parent.mkdir(exist_ok=True)
    _compile_once(library, [str(compiler), *options], sources, ["-ldl"])
    return library


class _BuildSources(NamedTuple):
    """The source folders, headers and libraries that a build uses."""

    source_folders: Sequence[Path]
    libraries: Sequence[Path]
    headers: Sequence[Path]
    exclude: Sequence[str] = ()

    def files(self) -> list[Path]:
        return [
            file
            for folder in self.source_folders
            for file in sorted(folder.glob("*.[ch]"))
            if not any(map(file.match, self.exclude))
        ]


def _build_cached(
    name: str,
    compiler: Path,
    inputs: _BuildSources,
    more_options: Sequence[str],
    generate: Callable[[str], str] | None = None,
) -> Path:
    """Compile into the cache; the file name contains a hash of all inputs."""
    sources, headers = inputs.files(), inputs.headers
    options_of_query = ["-E", "-include", "mpi.h", "-x", "c", os.devnull]
    header = _run_compiler([str(compiler), *options_of_query])
    generated = generate(header) if generate else ""
    key = hashlib.blake2b(digest_size=12)
    for source in [*sources, *headers]:
        key.update(source.read_bytes())
    include_folders = [*inputs.source_folders, *(header.parent for header in headers)]
    general = [*_OPTIONS, *more_options]
    options = [*general, *(f"-I{folder}" for folder in include_folders)]
    linked = [
        w for file in inputs.libraries for w in (str(file), f"-Wl,-rpath,{file.parent}")
    ]
    # The preprocessed header contains the MPI's version; -show prints the MPI's
    # location.
    for text in (generated, header, _query_compiler(compiler), *general, *linked):
        key.update(text.encode())
    library = _make_cache() / name.format(key.hexdigest())
    _compile_once(
        library, [str(compiler), *options], sources, [*linked, "-ldl"], generated
    )
    return library


def _compile_once(
    target: Path,
    command: Sequence[str],
    sources: Sequence[Path],
    linked: Sequence[str],
    generated: str = "",
) -> None:
    """Compile the target unless it exists, and create it atomically."""
    if target.exists():
        return
    with _explain_write_errors(target.parent), _lock_target(target):
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
        generated_file.write_text(generated, encoding="utf-8")
        output = Path(scratch) / target.name
        files = [
            str(file) for file in [*sources, generated_file] if file.suffix == ".c"
        ]
        _run_compiler([*command, *files, "-o", str(output), *linked])
        output.replace(target)


@contextlib.contextmanager
def _lock_target(target: Path) -> Iterator[None]:
    """Let one process at a time build the target, if file locks are supported.

    The kernel releases the lock if the process dies. A process that has waited for a
    lock file, which is now removed, finds the target or builds it again.
    """
    lock = target.with_name(f"{target.name}.lock")
    with lock.open("w", encoding="utf-8") as held:
        with contextlib.suppress(OSError):  # Locks can be unsupported.
            fcntl.flock(held, fcntl.LOCK_EX)
        try:
            yield
        finally:
            lock.unlink(missing_ok=True)


def _make_cache() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(home).absolute() / "topoloom"
    if re.search(r"[\s:]", str(folder)):
        raise Error(
            f"the cache '{folder}' contains a space or a colon, which LD_PRELOAD does "
            "not support; set XDG_CACHE_HOME to another folder"
        )
    with _explain_write_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    return folder


@contextlib.contextmanager
def _explain_write_errors(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise Error(
            f"cannot write into {folder}: {error.strerror}; set XDG_CACHE_HOME to "
            "another folder"
        ) from None


def _query_compiler(compiler: Path, question: str = "-show") -> str:
    answer = subprocess.run(
        [compiler, question],
        capture_output=True,
        text=True,
        check=False,
        encoding="utf-8",
        errors="replace",
    )
    return f"{compiler} {answer.stdout}"


def _run_compiler(command: list[str]) -> str:
    try:
        done = run_child(command)
    except OSError as error:
        raise Error(f"cannot run {command[0]}: {error.strerror}") from None
    if done.returncode != 0:
        complaints = [line for line in done.stderr.splitlines() if "error" in line]
        raise Error(
            f"{command[0]} cannot compile the library to preload: "
            f"{(complaints or [done.stderr.strip() or 'no reason given'])[0]}"
        )
    return done.stdout
