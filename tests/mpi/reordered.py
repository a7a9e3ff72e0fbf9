# SPDX-License-Identifier: BSD-3-Clause
"""Jobs whose ranks are under several switches, for tests of reordering."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from mpis import Mpi, need

from topoloom.preload.mpi_library import build_reorder_library

SECONDS = 600


def build_preloaded_library(mpi: Mpi) -> Path:
    """Compile the reordering library that is preloaded."""
    return build_reorder_library(Path(need(mpi.compilers[".c"], mpi.install)))


def make_preload_variables(mpi: Mpi, **more: str) -> dict[str, str]:
    """Return the environment variables that enable reordering."""
    return {
        "LD_PRELOAD": str(build_preloaded_library(mpi)),
        "TOPOLOOM_REORDER": "1",
        **more,
    }


def run_under_switches(
    mpi: Mpi,
    groups: Sequence[int],
    words: Sequence[object],
    variables: dict[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run groups of ranks under separate switches, named as by Slurm's tree plugin."""
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
        # Ranks outnumber cores, so waiting ranks must yield.
        "OMPI_MCA_mpi_yield_when_idle": "1",
        # Open MPI's treematch aborts if a topology excludes processes.
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


def read_topology_lines(done: subprocess.CompletedProcess[str]) -> list[str]:
    """Extract the output of ``topologies`` that must not depend on the order.

    Rank 0 of each topology prints; which process is rank 0 varies.
    """
    assert done.returncode == 0, done.stderr or done.stdout
    lines = [line for line in done.stdout.splitlines() if line.startswith("topology")]
    assert lines, done.stderr
    return sorted(lines)


def read_number(done: subprocess.CompletedProcess[str], what: str) -> int:
    """Return the number at the end of the line that begins with `what`."""
    assert done.returncode == 0, done.stderr or done.stdout
    found = [x for x in done.stdout.splitlines() if x.startswith(f"{what} ")]
    return int(found[0].rsplit(" ", 1)[1])


def read_messages(done: subprocess.CompletedProcess[str]) -> list[str]:
    """Return Topoloom's lines on standard error."""
    return [x for x in done.stderr.splitlines() if x.startswith("topoloom:")]
