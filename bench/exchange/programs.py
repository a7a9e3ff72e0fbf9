# SPDX-License-Identifier: BSD-3-Clause
"""Builds libtopoloom-collective and ``sparse.c``, and runs them."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import smpi

HERE = Path(__file__).parent

#: Platform: 10 GB/s and 1 us per link, two links between any two hosts.
PLATFORM = """\
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="n" suffix="" radical="0-{last}" speed="1Gf" bw="10GBps"
           lat="1us"/>
</platform>
"""


@dataclass(frozen=True)
class Cell:
    """Mean seconds of an exchange by algorithm, over patterns; "" is our choice."""

    ranks: int
    degree: int
    bytes: int
    seconds: dict[str, float]

    @property
    def ratio(self) -> float:
        """Time of our choice relative to the better of reduction and NBX."""
        better = min(self.seconds["reduction"], self.seconds["nbx"])
        return self.seconds[""] / better


def build(compiler: str, folder: Path) -> Path:
    """Build the program with an MPI's compiler."""
    return smpi.build(HERE / "sparse.c", compiler, folder)


def simulate(
    program: Path,
    ranks: int,
    patterns: int,
    degrees: Sequence[int],
    sizes: Sequence[int],
) -> Iterator[Cell]:
    """Measure all degrees and sizes for a number of ranks in SimGrid's MPI."""
    platform = program.with_name("platform.xml")
    platform.write_text(PLATFORM.format(last=ranks - 1))
    hosts = [f"n{i}" for i in range(ranks)]
    grid = [",".join(map(str, of)) for of in (degrees, sizes)]
    settings = smpi.SETTINGS | smpi.QUICK
    seconds: dict[str, float] = {}
    for read in smpi.simulate(platform, hosts, settings, program, patterns, *grid):
        seconds[read["algorithm"]] = fmean(read["seconds"])
        if read["algorithm"] == "":
            yield Cell(ranks, read["degree"], read["bytes"], seconds)
            seconds = {}


def call_often(program: Path, launcher: str, calls: int) -> dict[str, float]:
    """Run this number of exchanges between two real ranks."""
    done = subprocess.run(
        [launcher, "-n", "2", program, "--calls", str(calls)],
        check=True,
        capture_output=True,
        text=True,
        env={
            **os.environ,
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        },
    )
    read: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return read
