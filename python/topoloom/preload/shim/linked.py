# SPDX-License-Identifier: BSD-3-Clause
"""What programs are linked with: nothing, or which MPI, and whether it is ours."""

from __future__ import annotations

import re
import shutil
import struct
import subprocess
from collections.abc import Sequence
from pathlib import Path

from topoloom._core import Error

_HEAD = struct.Struct("<4s2B26xQ14x2H")  # of a little-endian ELF file of 64 bits
_INTERPRETER = 3
_MPI_LIBRARY = re.compile(r"^\s*libmpi\w*\.so\S* => (/\S+)", re.MULTILINE)


def is_linked_statically(program: str) -> bool:
    """Return whether a program starts without the loader, and so without LD_PRELOAD.

    Scripts, and what cannot be read, are assumed not to be such a program.
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


def linked_mpi(program: str) -> set[Path]:
    """Find the MPI libraries of a program or library; none of a script."""
    found = shutil.which(program) or program
    try:
        answer = subprocess.run(
            ["ldd", found], capture_output=True, text=True, check=False
        )
    except OSError:
        return set()
    return {Path(name).resolve() for name in _MPI_LIBRARY.findall(answer.stdout)}


def refuse_static(names: Sequence[str]) -> None:
    """Raise `topoloom.Error` for a program that nothing can be preloaded into."""
    for name in names:
        if is_linked_statically(name):
            raise Error(
                f"{name} is linked statically, so nothing can be preloaded; link it "
                "dynamically"
            )


def check_programs(
    names: Sequence[str],
    compiler: Path,
    library: Path,
    trusted: bool,
    otherwise: str = "",
) -> None:
    """Refuse what preloading could break: programs of another MPI, or of none we see.

    `otherwise` is what to do with programs without MPI.

    Where some ranks of a job cannot be preloaded, the others would wait for them.
    """
    refuse_static(names)
    ours = linked_mpi(str(library))
    seen = False
    for name in names:
        theirs = linked_mpi(name)
        seen |= bool(theirs)
        if theirs and ours and not theirs & ours:
            raise Error(
                f"{name} is linked with {min(theirs)}, but {compiler} is of another "
                "MPI; name its own with --mpicc"
            )
    if not seen and not trusted:
        raise Error(
            "cannot tell the MPI of the program that the command starts; name its "
            f"compiler with --mpicc{otherwise}"
        )
