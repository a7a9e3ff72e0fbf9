# SPDX-License-Identifier: BSD-3-Clause
"""Cost of short calls that the library passes to MPI, in one job."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from statistics import median

from preloaded.jobs import HERE, launch
from smpi import find
from topoloom.preload.collectives import build_collective_library


def self_barriers(library: Path, compiler: str, repeat: int) -> str:
    """Measure the extra cost of barriers on MPI_COMM_SELF."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "self_barriers"
        source = HERE / "self_barriers.c"
        subprocess.run([compiler, "-O2", source, "-o", program], check=True)
        times = [
            [float(launch((program,), 1, given)) for given in (None, library)]
            for _ in range(repeat)
        ]
    extra = median(ours - theirs for theirs, ours in times)
    return f"A call that is left to MPI costs {extra:.0f} ns more (`MPI_COMM_SELF`)."


def calls() -> str:
    """Measure all operations on one host, from 8 B to 32 KiB, under two MPIs."""
    # MPICH never yields: if ranks outnumber cores, each message takes a time slice.
    jobs = [("openmpi", 2), ("openmpi", 4), ("mpich", 2)]
    found = {job: _measure_calls(*job) for job in jobs}
    heads = [f"{mpi}, {ranks} ranks" for mpi, ranks in jobs]
    lines = [
        f"| operation | {' | '.join(heads)} |",
        f"| --- |{' ---: |' * len(jobs)}",
    ]
    for operation in found[jobs[0]]:
        cells = [_format_extra(found[job][operation]) for job in jobs]
        lines.append(f"| {operation} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _measure_calls(mpi: str, ranks: int) -> dict[str, list[tuple[float, float]]]:
    """Return the times by MPI and by the library, for each operation and size."""
    package = "libopenmpi-dev" if mpi == "openmpi" else "libmpich-dev"
    compiler = find(f"mpicc.{mpi}", package)
    library = build_collective_library(Path(compiler))
    found: dict[str, list[tuple[float, float]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "calls"
        subprocess.run([compiler, "-O2", HERE / "calls.c", "-o", program], check=True)
        printed = launch((program,), ranks, library, mpi=mpi)
    for line in printed.splitlines():
        operation, _, theirs, ours = line.split()
        found.setdefault(operation, []).append((float(theirs), float(ours)))
    return found


def _format_extra(pairs: list[tuple[float, float]]) -> str:
    """Format MPI's shortest call, the library's extra time, and the median ratio."""
    ratio = median(ours / theirs for theirs, ours in pairs)
    theirs, ours = pairs[0]
    return f"{theirs:,.0f} ns {ours - theirs:+,.0f}; {ratio:.2f}"
