# SPDX-License-Identifier: BSD-3-Clause
"""Compiles shipped C sources into a cache: once per MPI, or once if MPI is not used.

An entry that is damaged, or that another user can have written, is compiled again.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import hashlib
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from topoloom._core import Error
from topoloom.preload.shim.library_cache import (
    explain_write_errors,
    find_cache,
    find_prebuilt,
    is_private,
    make_private_folders,
)
from topoloom.preload.shim.sealed_file import is_sealed, seal_file, sync_folder
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

    Raises `topoloom.Error` with the compiler's first error, or if no private cache is
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
    # The home of an architecture can be the home of another one.
    for text in (os.uname().machine, _query_compiler(compiler, "--version"), *options):
        key.update(text.encode())
    entry = f"{folder.replace('/', '-')}-{key.hexdigest()}/{name}"
    return _compile_once(entry, [str(compiler), *options], sources, ["-ldl"])


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
    header, compiler_location = _describe_mpi(compiler, compiler.stat().st_mtime_ns)
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
    facts = [os.uname().machine, generated, header, compiler_location]
    for text in (*facts, *general, *linked):
        key.update(text.encode())
    command = [str(compiler), *options]
    entry = name.format(key.hexdigest())
    return _compile_once(entry, command, sources, [*linked, "-ldl"], generated)


def _compile_once(
    entry: str,
    command: Sequence[str],
    sources: Sequence[Path],
    linked: Sequence[str],
    generated: str = "",
) -> Path:
    """Return an entry of the cache; compile it if it is missing or damaged."""
    prebuilt = find_prebuilt(entry)
    if prebuilt is not None and is_sealed(prebuilt):
        return prebuilt
    target = find_cache() / entry
    with explain_write_errors(target.parent):
        make_private_folders(target.parent)
        if not is_private(target.parent):  # created with another umask
            target.parent.chmod(0o700)
        if not _is_usable(target):
            with _lock_target(target):
                if not _is_usable(target):
                    _compile_to(target, command, sources, linked, generated)
    return target


def _is_usable(target: Path) -> bool:
    """Return whether the target is complete and only the user can write to it."""
    return is_private(target) and is_sealed(target)


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
        seal_file(output)
        output.replace(target)
        sync_folder(target.parent)


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


@functools.cache
def _describe_mpi(compiler: Path, _changed: int) -> tuple[str, str]:
    """Return the preprocessed ``mpi.h``, and the compiler's command line.

    The former contains the MPI's version, the latter its location. A command that
    preloads several libraries asks once; `_changed` is when the compiler was changed.
    """
    options = ["-E", "-include", "mpi.h", "-x", "c", os.devnull]
    return _run_compiler([str(compiler), *options]), _query_compiler(compiler)


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
