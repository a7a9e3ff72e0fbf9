# SPDX-License-Identifier: BSD-3-Clause
"""Programs that verify their results: LAMMPS, HPCC, and NAS IS and FT.

The NAS programs are built for the MPI from sources of NPB 3.4 that the user provides.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
CLASSES = "SWA"


@dataclass(frozen=True)
class Run:
    """Output of a program.

    Attributes
    ----------
    time
        Time in the program's unit; less is better.
    answers
        Results as text, which must be equal in every run.
    """

    time: float
    answers: str


@dataclass(frozen=True)
class Program:
    """A program for a number of ranks.

    Attributes
    ----------
    name
        Name in the table.
    words
        Command line.
    unit
        Unit of its times.
    read
        Parses its output; raises `ValueError` if the program reports wrong results.
    folder
        Working directory.
    """

    name: str
    words: tuple[object, ...]
    unit: str
    read: Callable[[str], Run]
    folder: Path


def lammps(program: str, folder: Path) -> Program:
    """Make LAMMPS's melt; the answers are the energies of each step."""

    def read(printed: str) -> Run:
        steps, _, end = printed.partition("Step ")[2].partition("Loop time of ")
        return Run(float(end.split()[0]), steps)

    words = (program, "-log", "none", "-in", HERE / "melt.in")
    return Program("LAMMPS, melt with PPPM", words, "s", read, folder)


#: Names of HPCC's verification results.
_CHECKED = r"HPL_N|HPL_\w*norm\w|MPIFFT_maxErr|\w+_residual|MPIRandomAccess\w*_Errors"
_TIMED = r"(?:HPL|PTRANS|MPIRandomAccess|MPIRandomAccess_LCG)_time|MPIFFT_time\d"


def hpcc(program: str, ranks: int, folder: Path) -> Program:
    """Make HPCC; its time is the sum of the parts with communication."""
    example = Path("/usr/share/doc/hpcc/examples/_hpccinf.txt").read_text()
    # N is small, because HPCC updates a table of half the matrix size at random.
    given = {"Ns": 256, "NBs": 32, "Ps": 1, "Qs": ranks}
    for name, value in given.items():
        example = re.sub(rf"(?m)^\d+( +{name})$", rf"{value}\1", example)
    (folder / "hpccinf.txt").write_text(example)

    def read(_: str) -> Run:
        output = folder / "hpccoutf.txt"  # HPCC appends to the file
        text = output.read_text()
        output.unlink()
        summary = dict(re.findall(r"(?m)^(\w+)=(\S+)$", text))
        if summary["Success"] != "1" or "FAILED" in text or "PASSED" not in text:
            raise ValueError("HPCC failed")
        checked = [f"{k}={v}" for k, v in summary.items() if re.fullmatch(_CHECKED, k)]
        times = (v for k, v in summary.items() if re.fullmatch(_TIMED, k))
        return Run(sum(map(float, times)), "\n".join(checked))

    return Program("HPCC, N=256", (program,), "s", read, folder)


def build_nas(sources: Path, compilers: tuple[str, str], folder: Path) -> None:
    """Build IS and FT of all classes.

    Parameters
    ----------
    sources
        The folder NPB3.4-MPI of NAS; it is copied.
    compilers
        The C and Fortran compilers.
    folder
        Destination of the copy.
    """
    shutil.copytree(sources, folder)
    of_c, of_fortran = compilers
    definitions = (folder / "config" / "make.def.template").read_text()
    # Accept argument mismatches of NPB, which GCC rejects since version 10.
    options = "-O3 -fallow-argument-mismatch -fallow-invalid-boz"
    changed = {"MPIFC": of_fortran, "MPICC": of_c, "FFLAGS": options}
    for name, value in changed.items():
        definitions = re.sub(rf"(?m)^{name}\s*=.*", f"{name} = {value}", definitions)
    (folder / "config" / "make.def").write_text(definitions)
    (folder / "bin").mkdir(exist_ok=True)
    for kernel in ("IS", "FT"):
        for letter in CLASSES:
            command = ["make", "-C", folder, kernel, f"CLASS={letter}"]
            subprocess.run(command, check=True, capture_output=True)


def nas(folder: Path) -> Iterator[Program]:
    """Make the programs that were built; answers are verdicts and checksums.

    The time is per operation, because the printed seconds have only two digits.
    """
    for kernel in ("IS", "FT"):
        for letter in CLASSES:
            program = folder / "bin" / f"{kernel.lower()}.{letter}.x"
            name = f"NAS {kernel}, class {letter}"
            yield Program(name, (program,), "ns/op", read_nas, folder)


def read_nas(printed: str) -> Run:
    """Parse the output of a NAS program; raise `ValueError` if verification failed."""
    rate = re.search(r"Mop/s total\s*=\s*(\S+)", printed)
    if rate is None or not re.search(r"Verification\s*=\s*SUCCESSFUL", printed):
        raise ValueError("a program of NAS failed")
    answers = re.findall(r"(?m)^.*(?:Checksum =|Verification ).*$", printed)
    return Run(1e3 / float(rate[1]), "\n".join(answers))
