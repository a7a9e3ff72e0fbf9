# SPDX-License-Identifier: BSD-3-Clause
"""Shared by tests of reordering: jobs whose ranks are under several switches."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from mpis import Mpi, need

from topoloom.preload.mpi_library import build_reorder_library

SECONDS = 600


def reorderer(mpi: Mpi) -> Path:
    """Compile the library that is preloaded."""
    return build_reorder_library(Path(need(mpi.compilers[".c"], mpi.install)))


def preloaded(mpi: Mpi, **more: str) -> dict[str, str]:
    """Return the environment with which ranks reorder."""
    return {"LD_PRELOAD": str(reorderer(mpi)), "TOPOLOOM_REORDER": "1", **more}


def under_switches(
    mpi: Mpi,
    groups: Sequence[int],
    words: Sequence[object],
    variables: dict[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run these numbers of ranks under switches, as Slurm's tree plugin names them."""
    launcher, *options = mpi.command(0)[:-2]
    command = [launcher, *options]
    for number, ranks in enumerate(groups):
        seen = {
            **(variables or {}),
            "SLURM_TOPOLOGY_ADDR": f"top.leaf{number}.n",
            "SLURM_TOPOLOGY_ADDR_PATTERN": "switch.switch.node",
        }
        command += [":"] if number else []
        for name, value in seen.items():
            command += (
                ["-env", name, value]
                if mpi.name == "mpich"
                else ["-x", f"{name}={value}"]
            )
        command += ["-n", str(ranks), *map(str, words)]
    settings = {
        # Ranks that outnumber cores must let each other work.
        "OMPI_MCA_mpi_yield_when_idle": "1",
        # Its reordering ends a program that asks for a part of its processes.
        "OMPI_MCA_topo": "^treematch",
    }
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
        env={**os.environ, **settings},
    )


def results(done: subprocess.CompletedProcess[str]) -> list[str]:
    """Extract the output of ``topologies`` that must not depend on the order.

    Rank 0 of each topology prints, and that is not always the same process.
    """
    assert done.returncode == 0, done.stderr or done.stdout
    lines = [line for line in done.stdout.splitlines() if line.startswith("topology")]
    assert lines, done.stderr
    return sorted(lines)


def number(done: subprocess.CompletedProcess[str], what: str) -> int:
    """Read the number in the line that begins with these words."""
    assert done.returncode == 0, done.stderr or done.stdout
    found = [x for x in done.stdout.splitlines() if x.startswith(f"{what} ")]
    return int(found[0].rsplit(" ", 1)[1])


def read_messages(done: subprocess.CompletedProcess[str]) -> list[str]:
    """Return the lines of topoloom on standard error."""
    return [x for x in done.stderr.splitlines() if x.startswith("topoloom:")]
