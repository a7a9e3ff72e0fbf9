# SPDX-License-Identifier: BSD-3-Clause
"""Programs that verify their results: LAMMPS, HPCC, and IS and FT of NAS.

NAS's programs are built for the MPI from the sources of NPB 3.4, which a user gives.
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
        Seconds, or whatever its unit is; less is better.
    answers
        Its results, as text that is the same for every run.
    """

    time: float
    answers: str


@dataclass(frozen=True)
class Program:
    """A program for a number of ranks.

    Attributes
    ----------
    name
        As in the table.
    words
        Its command.
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
    """Make LAMMPS's melt, whose answers are the energies of each step."""

    def read(printed: str) -> Run:
        steps, _, end = printed.partition("Step ")[2].partition("Loop time of ")
        return Run(float(end.split()[0]), steps)

    words = (program, "-log", "none", "-in", HERE / "melt.in")
    return Program("LAMMPS, melt with PPPM", words, "s", read, folder)


#: Verification results of HPCC.
_CHECKED = r"HPL_N|HPL_\w*norm\w|MPIFFT_maxErr|\w+_residual|MPIRandomAccess\w*_Errors"
_TIMED = r"(?:HPL|PTRANS|MPIRandomAccess|MPIRandomAccess_LCG)_time|MPIFFT_time\d"


def hpcc(program: str, ranks: int, folder: Path) -> Program:
    """Make HPCC; its time is that of the parts in which ranks work together."""
    example = Path("/usr/share/doc/hpcc/examples/_hpccinf.txt").read_text()
    # Small, as it updates a table of half the size of its matrix at random.
    given = {"Ns": 256, "NBs": 32, "Ps": 1, "Qs": ranks}
    for name, value in given.items():
        example = re.sub(rf"(?m)^\d+( +{name})$", rf"{value}\1", example)
    (folder / "hpccinf.txt").write_text(example)

    def read(_: str) -> Run:
        output = folder / "hpccoutf.txt"  # which it extends
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
    # GCC since version 10 refuses what its older versions, and NPB, let pass.
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

    Their seconds have two digits only, so that the time is that of an operation.
    """
    for kernel in ("IS", "FT"):
        for letter in CLASSES:
            program = folder / "bin" / f"{kernel.lower()}.{letter}.x"
            name = f"NAS {kernel}, class {letter}"
            yield Program(name, (program,), "ns/op", read_nas, folder)


def read_nas(printed: str) -> Run:
    """Read what a program of NAS prints; raises `ValueError` if its check failed."""
    rate = re.search(r"Mop/s total\s*=\s*(\S+)", printed)
    if rate is None or not re.search(r"Verification\s*=\s*SUCCESSFUL", printed):
        raise ValueError("a program of NAS failed")
    answers = re.findall(r"(?m)^.*(?:Checksum =|Verification ).*$", printed)
    return Run(1e3 / float(rate[1]), "\n".join(answers))
