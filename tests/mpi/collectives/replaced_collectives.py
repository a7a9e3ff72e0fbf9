# SPDX-License-Identifier: BSD-3-Clause
"""Programs whose collectives are replaced by libtopoloom-collective."""

from __future__ import annotations

import os
import re
import subprocess
from collections import Counter
from pathlib import Path

from mpis import PROGRAMS, Mpi, need

from topoloom.preload.collectives import build_collective_library

REPLACED = PROGRAMS / "replaced"
RANKS = 5


def build_preloaded_library(mpi: Mpi) -> Path:
    return build_collective_library(Path(need(mpi.compilers[".c"], mpi.install)))


def run(
    mpi: Mpi,
    setting: str | None,
    *words: object,
    of: Mpi | None = None,
    ranks: int = RANKS,
) -> subprocess.CompletedProcess[str]:
    """Run a program with the preloaded library for an MPI."""
    launcher, *command = mpi.command(ranks, *words)
    variables = {"PRELOADED": "0"}
    if setting is not None:
        variables = {
            "LD_PRELOAD": str(build_preloaded_library(of or mpi)),
            "TOPOLOOM_COLLECTIVES": f"{setting},report=1",
        }
    options = [
        word
        for name, value in variables.items()
        for word in (
            ["-genv", name, value]
            if mpi.name.startswith("mpich")
            else ["-x", f"{name}={value}"]
        )
    ]
    return subprocess.run(
        [launcher, *options, *command],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
        env={**os.environ, "OMPI_MCA_mpi_yield_when_idle": "1"},
    )


def read_answers(done: subprocess.CompletedProcess[str]) -> list[str]:
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return sorted(done.stdout.splitlines())


def read_reports(done: subprocess.CompletedProcess[str]) -> list[str]:
    output = [x for x in done.stderr.splitlines() if x.startswith("topoloom:")]
    assert all(x.startswith("topoloom: collectives: ") for x in output), output
    return output


_REPLACED = re.compile(r": (MPI_\w+): ([0-9]+) replaced \(")
_LEFT = re.compile(r"([0-9]+) (MPI_\w+)")


def count_calls(reports: list[str]) -> tuple[Counter[str], Counter[str]]:
    """Count the replaced calls and those left to MPI in a summary, by function."""
    replaced: Counter[str] = Counter()
    left: Counter[str] = Counter()
    for line in reports:
        if match := _REPLACED.search(line):
            replaced[match[1]] += int(match[2])
        elif "left to MPI, as " in line:
            for count, name in _LEFT.findall(line.rpartition(": ")[2]):
                left[name] += int(count)
    return replaced, left
