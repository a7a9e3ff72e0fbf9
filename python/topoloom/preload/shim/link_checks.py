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
                f"{name} is linked with {min(program_libraries)}, but {compiler} "
                "belongs to another MPI; name the program's compiler with --mpicc"
            )
    if not seen and not is_mpi_known:
        raise Error(
            "cannot tell the MPI of the program that the command starts; name its "
            f"compiler with --mpicc{advice}"
        )
