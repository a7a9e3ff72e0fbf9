# SPDX-License-Identifier: BSD-3-Clause
"""Cases: real machines, programs, jobs, and message sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np

from peers.instances import ROOT
from topoloom import Allocation, CommGraph, Machine, load_machine
from topoloom.allocations import compact_nodes, fragmented_allocation
from topoloom.graphs import random_geometric, stencil
from topoloom.graphs.phases import add_phases

TRACE = ROOT.parent / "shared" / "data" / "traces" / "lammps-lj-125.txt"
FAT_TREE = "fattree:18:36:12,bandwidth=12.5GB/s+node:2:4:8,distance=1:2:4"
SIZES = {"small": 256, "large": 64 * 1024}
JOBS = ("first nodes", "compact", "ragged")
FRAGMENTS = 4
#: Maximum concurrent messages; with more, SimGrid takes minutes.
MAX_MESSAGES = 4_000


class Host(NamedTuple):
    """A machine, ranks of a job, and ranks per node."""

    text: str
    ranks: int
    ranks_per_node: int


#: Jobs with one to 64 ranks per node, on at least four nodes.
HOSTS = {
    "frontier": Host("frontier", 64, 8),
    "lumi-c": Host("lumi-c", 128, 16),
    "theta": Host("theta", 64, 4),
    "el-capitan": Host("el-capitan", 64, 4),
    "frontera": Host("frontera", 64, 8),
    "stampede3": Host("stampede3", 128, 16),
    "fat tree 18:36:12": Host(FAT_TREE, 256, 64),
    "hopper": Host("hopper", 128, 8),
    "titan": Host("titan", 64, 4),
    "jaguar": Host("jaguar", 64, 2),
    "fugaku": Host("fugaku", 64, 1),
    "dgx-h100-pod": Host("dgx-h100-pod", 64, 1),
}
TORI = ("hopper", "titan", "jaguar", "fugaku")

_GRIDS = {
    64: ((4, 4, 4), (8, 8)),
    128: ((4, 4, 8), (8, 16)),
    256: ((4, 8, 8), (16, 16)),
}


def _make_halo(points: int) -> Callable[[int, int], list[CommGraph]]:
    axes = 3 if points > 5 else 2
    return lambda ranks, size: [stencil(_GRIDS[ranks][3 - axes], points, bytes=size)]


def _make_rows_and_columns(ranks: int, size: int) -> list[CommGraph]:
    """Alltoall in the rows of a grid, then in its columns: an FFT with pencils."""
    grid = np.arange(ranks).reshape(_GRIDS[ranks][1])
    return [_make_alltoall(grid, size), _make_alltoall(grid.T, size)]


def _make_alltoall(groups: np.ndarray, size: int) -> CommGraph:  # type: ignore[type-arg]
    pairs = [(a, b) for group in groups.tolist() for a, b in product(group, group)]
    source, target = np.array([(a, b) for a, b in pairs if a != b], np.uint32).T
    amounts = np.full(len(source), size)
    return CommGraph.from_edges(groups.size, source, target, amounts)


def _make_lammps(ranks: int, size: int) -> list[CommGraph]:
    """Lennard-Jones melt: one exchange with a mean message of `size` bytes."""
    rows = np.loadtxt(TRACE, dtype=np.int64)
    source, target = rows[:, :2].astype(np.uint32).T
    scaled = np.rint(rows[:, 2] * (size / rows[:, 2].mean())).astype(np.int64)
    return [CommGraph.from_edges(ranks, source, target, scaled)]


#: name -> function (ranks, bytes per message) -> phases
PROGRAMS: dict[str, Callable[[int, int], list[CommGraph]]] = {
    "3-D halo": _make_halo(7),
    "3-D halo with diagonals": _make_halo(27),
    "2-D halo": _make_halo(5),
    "LAMMPS": _make_lammps,
    "FFT": _make_rows_and_columns,
    "irregular mesh": lambda ranks, size: [random_geometric(ranks, size)],
}


@dataclass(frozen=True)
class Case:
    """A program on a part of a machine."""

    machine: str
    program: str
    job: str
    size: str

    def __str__(self) -> str:
        """Return the name of the case."""
        return ", ".join(asdict(self).values())

    @property
    def ranks(self) -> int:
        """Number of ranks; the LAMMPS trace has a fixed number."""
        return 125 if self.program == "LAMMPS" else HOSTS[self.machine].ranks

    def phases(self) -> list[CommGraph]:
        """Make the communication graphs of the phases."""
        return PROGRAMS[self.program](self.ranks, SIZES[self.size])

    def allocation(self) -> Allocation:
        """Allocate just enough nodes, with the same number of slots on each."""
        each = HOSTS[self.machine].ranks_per_node
        machine = _load_machine(self.machine)
        nodes = _choose_nodes(self.machine, self.job, -(-self.ranks // each))
        per_node = machine.slots_per_node
        slots = np.add.outer(np.array(nodes) * per_node, np.arange(each)).ravel()
        return Allocation(machine, nodes, slots.tolist())


def cases() -> Iterator[Case]:
    """Yield all distinct cases that SimGrid simulates in seconds."""
    for names in product(HOSTS, PROGRAMS, JOBS, SIZES):
        case = Case(*names)
        if case.program == "LAMMPS" and not TRACE.exists():
            continue
        if _count_concurrent_messages(case.program, case.ranks) > MAX_MESSAGES:
            continue
        nodes = -(-case.ranks // HOSTS[case.machine].ranks_per_node)
        if nodes < FRAGMENTS:
            continue
        first, compact = (_choose_nodes(case.machine, job, nodes) for job in JOBS[:2])
        if case.job == "compact" and compact == first:
            continue
        yield case


@cache
def _count_concurrent_messages(program: str, ranks: int) -> int:
    return max(phase.edge_count for phase in PROGRAMS[program](ranks, 1))


@cache
def _load_machine(name: str) -> Machine:
    return load_machine(HOSTS[name].text)


@cache
def _choose_nodes(name: str, job: str, count: int) -> tuple[int, ...]:
    machine = _load_machine(name)
    if job == "first nodes":
        return tuple(range(count))
    if job == "compact":
        chosen = compact_nodes(Allocation.whole(machine), count)
    else:
        chosen = fragmented_allocation(machine, count, FRAGMENTS)
    return tuple(chosen.nodes.tolist())


def merge_phases(phases: list[CommGraph]) -> CommGraph:
    """Sum the communication graphs of phases."""
    return phases[0] if len(phases) == 1 else add_phases(phases)
