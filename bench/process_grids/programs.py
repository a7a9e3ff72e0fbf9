# SPDX-License-Identifier: BSD-3-Clause
"""Runs ``lines.c`` in SimGrid's MPI."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from pathlib import Path

import smpi
from topoloom.model.message_lines import format_model
from topoloom.model.model_names import load_model

#: Links of 10 GB/s and 1 us, two between any two nodes; 40 GB/s per pair of ranks in a
#: node.
PLATFORM = """\
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="n" suffix="" radical="0-{last}" speed="1Gf" bw="10GBps"
           lat="1us" loopback_bw="40GBps" loopback_lat="0.3us"/>
</platform>
"""

SETTINGS = smpi.SETTINGS | {
    "smpi/auto-shared-malloc-thresh": "1000000",
    # Do not use MPICH's bcasts, which abort some of these simulations.
    "smpi/bcast": "scatter_LR_allgather",
    "smpi/gather": "mpich",
    "smpi/scatter": "mpich",
}


@dataclass(frozen=True)
class Cell:
    """A grid of processes with `cores` cells per node, and bytes per line."""

    grid: tuple[int, ...]
    cores: int
    bytes: int

    @property
    def ranks(self) -> int:
        """Number of cells of the grid."""
        return prod(self.grid)

    @property
    def operations(self) -> str:
        """Operations argument of `lines.c`."""
        return "all" if len(self.grid) == 2 else "bcast"


@dataclass(frozen=True)
class Times:
    """Seconds of a collective on all lines, dimension after dimension."""

    default: float
    tiled: float


def build(folder: Path) -> Path:
    """Build the program for SimGrid's MPI."""
    compiler = smpi.find("smpicc", "libsimgrid-dev")
    return smpi.build(Path(__file__).with_name("lines.c"), compiler, folder)


def simulate(program: Path, cell: Cell) -> dict[str, Times]:
    """Simulate a grid; times are minima over segment sizes."""
    home, nodes = program.parent, cell.ranks // cell.cores
    platform, machine = home / "platform.xml", home / "machine"
    platform.write_text(PLATFORM.format(last=nodes - 1))
    machine.write_text(format_machine_file(nodes, cell.cores))
    hosts = [f"n{rank // cell.cores}" for rank in range(cell.ranks)]
    words = [program, cell.bytes, machine, cell.operations, *cell.grid]
    times: dict[str, Times] = {}
    for read in smpi.simulate(platform, hosts, SETTINGS, *words):
        best = times.get(read["way"], Times(float("inf"), float("inf")))
        times[read["way"]] = Times(
            min(best.default, read["default"]), min(best.tiled, read["tiled"])
        )
    return times


def format_machine_file(nodes: int, cores: int) -> str:
    """Format the machine file of a grid's nodes."""
    inside = f"node:{cores},memory-startup=2us"
    lines = [f"machine tree:{nodes},bandwidth=10GB/s,latency=1us+{inside}"]
    lines += [f"node {node} n{node}" for node in range(nodes)]
    return "\n".join([*lines, format_model(load_model("simgrid").model)])
