# SPDX-License-Identifier: BSD-3-Clause
"""Share of balancing in steps of diffusion Monte Carlo on real ranks.

The share is CPU time of balancing (without overlapped computation) over CPU time of the
step, because ranks may outnumber cores. Waiting ranks sleep.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

from balance.simulated import APP, HERE, build
from smpi import run

#: Numbers of ranks, and of walkers per rank.
RANKS = (2, 4, 8, 16)
WALKERS = (2_000, 20_000, 100_000)
#: Total walker steps of a rank.
ADVANCED = 1_000_000
RUNS = 3


class Share(NamedTuple):
    """Minimum and maximum percentage of a step over several runs."""

    ranks: int
    walkers: int
    least: float
    most: float


def time_shares(ranks: tuple[int, ...], walkers: tuple[int, ...]) -> list[Share]:
    """Run the program with each number of ranks and of walkers per rank."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = build(APP, folder, real="openmpi")
        waits = folder / "sleeping_waits.so"
        run("gcc", "-shared", "-fPIC", HERE / "sleeping_waits.c", "-o", waits)
        return [
            _measure_share(program, waits, of, each) for each in walkers for of in ranks
        ]


def _measure_share(program: Path, waits: Path, ranks: int, walkers: int) -> Share:
    command = ["mpirun.openmpi", "--oversubscribe", "--bind-to", "none"]
    command += ["--mca", "mpi_yield_when_idle", "1", "-x", f"LD_PRELOAD={waits}"]
    command += ["-n", str(ranks), str(program), "harmonic", str(ranks * walkers)]
    command += [str(max(10, ADVANCED // walkers)), "sweep", "672"]
    root = {f"OMPI_ALLOW_RUN_AS_ROOT{word}": "1" for word in ("", "_CONFIRM")}
    found = []
    for _ in range(RUNS):
        output = subprocess.run(
            command, capture_output=True, text=True, env={**os.environ, **root}
        ).stdout
        match = re.search(r"processor time ([\d.]+) %", output)
        if match is None:
            raise SystemExit(f"bench: {program.name} on {ranks} ranks failed")
        found.append(float(match[1]))
    return Share(ranks, walkers, min(found), max(found))
