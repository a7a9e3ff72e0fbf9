# SPDX-License-Identifier: BSD-3-Clause
"""Jobs of an MPI, with or without the preloaded library."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from pathlib import Path

from smpi import find

HERE = Path(__file__).parent

#: If ranks outnumber cores, they yield while waiting, and start no threads.
ENVIRONMENT = {
    **os.environ,
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMP_NUM_THREADS": "1",
}


def launch(
    words: Iterable[object],
    ranks: int,
    library: Path | None,
    setting: str = "",
    *,
    mpi: str = "openmpi",
    folder: Path | None = None,
) -> str:
    """Run a program; return its output.

    Parameters
    ----------
    words
        Command line of the program.
    ranks
        Number of processes.
    library
        The library to preload, if any.
    setting
        The value of TOPOLOOM_COLLECTIVES.
    mpi
        Suffix of the launcher's name in Debian.
    folder
        Working directory.
    """
    variables: dict[str, object] = {}
    if library is not None:
        variables = {"LD_PRELOAD": library, "TOPOLOOM_COLLECTIVES": setting}
    options: list[object] = [] if mpi == "mpich" else ["--oversubscribe"]
    for name, value in variables.items():
        options += (
            ["-genv", name, value] if mpi == "mpich" else ["-x", f"{name}={value}"]
        )
    command = [find(f"mpirun.{mpi}", "mpich" if mpi == "mpich" else "openmpi-bin")]
    command += map(str, [*options, "-n", ranks, *words])
    return subprocess.run(
        command, check=True, capture_output=True, text=True, env=ENVIRONMENT, cwd=folder
    ).stdout
