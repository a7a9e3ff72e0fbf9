# SPDX-License-Identifier: BSD-3-Clause
"""Checks whether programs are linked statically, and finds their MPI libraries."""

from __future__ import annotations

import re
import shutil
import struct
import subprocess
from collections.abc import Sequence
from pathlib import Path

from topoloom._core import Error
from topoloom.preload.shim.mpi_version import read_mpi_version

_HEAD = struct.Struct("<4s2B26xQ14x2H")  # header of a 64-bit little-endian ELF file
_INTERPRETER = 3
_MPI_LIBRARY = re.compile(r"^\s*libmpi\w*\.so\S* => (/\S+)", re.MULTILINE)


def is_linked_statically(program: str) -> bool:
    """Return whether a program runs without the dynamic loader, ignoring LD_PRELOAD.

    Returns False for scripts and unreadable files.
    """
    found = shutil.which(program)
    if found is None:
        return False
    try:
        with Path(found).open("rb") as file:
            head = file.read(_HEAD.size)
            if len(head) < _HEAD.size:
                return False
            magic, bits, order, start, size, count = _HEAD.unpack(head)
            if (magic, bits, order) != (b"\x7fELF", 2, 1):
                return False
            file.seek(start)
            table = file.read(size * count)
    except OSError:
        return False
    kinds = (table[at : at + 4] for at in range(0, len(table), size))
    return _INTERPRETER.to_bytes(4, "little") not in kinds


def find_linked_mpi(program: str) -> set[Path]:
    """Find the MPI libraries that a program or library is linked with."""
    found = shutil.which(program) or program
    try:
        answer = subprocess.run(
            ["ldd", found],
            capture_output=True,
            text=True,
            check=False,
            encoding="utf-8",
            errors="replace",
        )
    except OSError:
        return set()
    return {Path(name).resolve() for name in _MPI_LIBRARY.findall(answer.stdout)}


def check_dynamic(names: Sequence[str]) -> None:
    """Raise `topoloom.Error` if a program is linked statically."""
    for name in names:
        if is_linked_statically(name):
            raise Error(
                f"{name} is linked statically and cannot be preloaded; link it "
                "dynamically"
            )


def check_programs(
    names: Sequence[str],
    compiler: Path,
    library: Path,
    is_mpi_known: bool,
    advice: str = "",
) -> None:
    """Raise `topoloom.Error` if a program uses another or an unknown MPI.

    Preloading could crash such programs. If only some ranks of a job were preloaded,
    they would hang. `advice` is appended to the message if a program does not use MPI.
    """
    check_dynamic(names)
    expected_libraries = find_linked_mpi(str(library))
    seen = False
    for name in names:
        program_libraries = find_linked_mpi(name)
        seen |= bool(program_libraries)
        if (
            program_libraries
            and expected_libraries
            and not program_libraries & expected_libraries
        ):
            raise Error(
                _describe_other_mpi(
                    name, min(program_libraries), compiler, min(expected_libraries)
                )
            )
    if not seen and not is_mpi_known:
        raise Error(_describe_unknown_mpi(names, advice))


def _describe_other_mpi(
    name: str, library: Path, compiler: Path, expected: Path
) -> str:
    own, other = read_mpi_version(library), read_mpi_version(expected)
    if own is None or other is None or own == other:
        return (
            f"{name} is linked with {library}, but {compiler} belongs to another MPI; "
            "name the program's compiler with --mpicc"
        )
    return (
        f"{name} is linked with {own} ({library}), but {compiler} belongs to {other}; "
        f"start it with the launcher of {own}, or name the program's compiler with "
        "--mpicc"
    )


def check_uses_mpi(names: Sequence[str], advice: str = "") -> None:
    """Raise `topoloom.Error` if no program is linked with an MPI library.

    This needs no library to preload. `advice` is as in `check_programs`.
    """
    check_dynamic(names)
    if not any(map(find_linked_mpi, names)):
        raise Error(_describe_unknown_mpi(names, advice))


def _describe_unknown_mpi(names: Sequence[str], advice: str) -> str:
    if not names:
        return (
            "cannot tell the MPI of the program that the command starts; name its "
            f"compiler with --mpicc{advice}"
        )
    return (
        f"'{names[0]}' is neither a known launcher nor linked with MPI; if it starts "
        f"an MPI program, name its compiler with --mpicc{advice}"
    )
