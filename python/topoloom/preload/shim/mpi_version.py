# SPDX-License-Identifier: BSD-3-Clause
"""Reads the name and the version of an MPI library."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

#: Prints the version of a library. MPI allows this call before MPI_Init.
_ASK_LIBRARY = """
import ctypes, sys
text, length = ctypes.create_string_buffer(1 << 16), ctypes.c_int()
library = ctypes.CDLL(sys.argv[1], ctypes.RTLD_GLOBAL)
library.MPI_Get_library_version(text, ctypes.byref(length))
print(text.value.decode(errors="replace"))
"""
_TIMEOUT_SECONDS = 20
OPEN_MPI, MPICH, INTEL_MPI = "Open MPI", "MPICH", "Intel MPI"
_VERSIONS = (
    (OPEN_MPI, re.compile(r"Open MPI v([0-9]+(?:\.[0-9]+)*)")),
    (INTEL_MPI, re.compile(r"Intel\(R\) MPI Library ([0-9]+(?:\.[0-9]+)*)")),
    (MPICH, re.compile(r"MPICH Version:\s*([0-9]+(?:\.[0-9]+)*)")),
)


class MpiVersion(NamedTuple):
    """An MPI implementation and its version, such as ``4.1.4``."""

    name: str
    number: str

    def __str__(self) -> str:
        return f"{self.name} {self.number}"

    @property
    def major(self) -> int:
        """The first number of the version."""
        return int(self.number.partition(".")[0])


def read_mpi_version(library: Path) -> MpiVersion | None:
    """Read the version of an MPI library; None if it is not known.

    Another process loads the library, because that may fail.
    """
    try:
        done = subprocess.run(
            [sys.executable, "-c", _ASK_LIBRARY, str(library)],
            capture_output=True,
            text=True,
            check=False,
            timeout=_TIMEOUT_SECONDS,
            stdin=subprocess.DEVNULL,
            encoding="utf-8",
            errors="replace",
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    for name, pattern in _VERSIONS:
        if found := pattern.search(done.stdout):
            return MpiVersion(name, found[1])
    return None
