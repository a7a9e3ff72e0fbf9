# SPDX-License-Identifier: BSD-3-Clause
"""Cases, and placements of different quality."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from topoloom import Allocation, CommGraph, Placement, place
from topoloom.graphs import alltoall, random_geometric, stencil
from topoloom.graphs.patterns import Request, make_phases
from topoloom.graphs.phases import add_phases

RANKS = 64
BYTES = 10**6  # bytes per message: latencies are a thousandth of the message time
SHORT = "3-D halo of 64 B"
_LINKS = "bandwidth=10GB/s,latency=100ns"
_CORES = "+node:4,bandwidth=12GB/s,startup=1us"

#: Machines with just enough slots, or a few more.
MACHINES = {
    "torus": f"torus:4x4x4,{_LINKS}",
    "fat tree": f"fattree:8:8,up=1:4,{_LINKS}",
    "dragonfly": f"dragonfly:5x4,nodes=4,{_LINKS}",
    "torus of 4-core nodes": f"torus:4x4,{_LINKS}{_CORES}",
}
ABOUT = {
    "torus": "4x4x4, one rank per node",
    "fat tree": "8 leaf switches of 8 nodes and 4 links up, d-mod-k, one rank per node",
    "dragonfly": "5 groups of 4 routers of 4 nodes, 80 in all, minimal routes",
    "torus of 4-core nodes": "4x4, four ranks per node, ports of 12 GB/s",
}


def _make_alltoall_in_groups(groups: list[list[int]], size: int) -> CommGraph:
    pairs = [(a, b) for group in groups for a in group for b in group if a != b]
    source, target = np.array(pairs, np.uint32).T
    amounts = np.full(len(pairs), size)
    return CommGraph.from_edges(RANKS, source, target, amounts, np.ones_like(amounts))


def _make_rows_and_columns(size: int) -> list[CommGraph]:
    """Alltoall along the rows of an 8x8 grid, then along its columns: a 2-D FFT."""
    grid = np.arange(RANKS).reshape(8, 8)
    return [
        _make_alltoall_in_groups(grid.tolist(), size),
        _make_alltoall_in_groups(grid.T.tolist(), size),
    ]


#: name -> function that makes the pattern's phases
PATTERNS: dict[str, Callable[[], list[CommGraph]]] = {
    "2-D halo": lambda: [stencil([8, 8], 5, bytes=BYTES)],
    "2-D halo with diagonals": lambda: [stencil([8, 8], 9, bytes=BYTES)],
    "3-D halo": lambda: [stencil([4, 4, 4], 7, bytes=BYTES)],
    "3-D halo with diagonals": lambda: [stencil([4, 4, 4], 27, bytes=BYTES)],
    "alltoall of 32 ranks": lambda: [alltoall(32, BYTES)],
    "alltoall in rows, then in columns": lambda: _make_rows_and_columns(BYTES),
    "allgather by Bruck, 6 rounds": lambda: make_phases(
        "bruck", Request(RANKS, BYTES // 16)
    ),
    "irregular mesh": lambda: [random_geometric(RANKS, BYTES)],
    SHORT: lambda: [stencil([4, 4, 4], 7, bytes=64)],
}

#: One mapper of each kind for hop-bytes; `auto` also for predicted objectives.
_BEST = "auto(effort=fast)"
_MAPPERS = (
    *("block", "round-robin", "hilbert", "morton", "structure", "gge", "mahd", "emahd"),
    *("multisection", "multisection+swap", _BEST),
)
_OBJECTIVES = ("congestion", "time")
_SEEDS = range(1, 4)
_SHARES = (0.02, 0.05, 0.1, 0.2, 0.5)


class NamedPlacement(NamedTuple):
    """A placement and its name."""

    name: str
    placement: Placement


def placements(
    phases: list[CommGraph], allocation: Allocation
) -> Iterator[NamedPlacement]:
    """Yield more than 30 placements: from mappers, random, scattered, and shuffled.

    A growing share of the best placement's slots is shuffled, so that all qualities
    between the best and a random placement occur.
    """
    graph = add_phases(phases)
    for mapper in _MAPPERS:
        yield NamedPlacement(
            mapper, place(graph, allocation, mapper, threads=1).placement
        )
    for objective in _OBJECTIVES:
        best = place(
            graph,
            allocation,
            _BEST,
            objective=objective,
            phases=phases,
            work=200_000,
            threads=1,
        ).placement
        yield NamedPlacement(f"{_BEST}, {objective}", best)
    for seed in _SEEDS:
        placement = place(graph, allocation, "random", seed=seed, threads=1).placement
        yield NamedPlacement(f"random {seed}", placement)
        for share in _SHARES:
            name = f"{share:.0%} shuffled {seed}"
            yield NamedPlacement(name, _shuffle_slots(best, allocation, share, seed))
    every = np.asarray(allocation.slots)
    for stride in (7, 11, 31):
        # Scatter neighbors over distant slots.
        far = every[np.arange(graph.rank_count) * stride % len(every)]
        yield NamedPlacement(f"every {stride}th slot", Placement(allocation, far))


def _shuffle_slots(
    placement: Placement, allocation: Allocation, share: float, seed: int
) -> Placement:
    """Permute the ranks on a random share of slots."""
    slots = np.asarray(placement.slots)
    line = np.concatenate([slots, np.setdiff1d(allocation.slots, slots)])
    random = np.random.default_rng(seed)
    chosen = random.permutation(len(line))[: max(2, round(share * len(line)))]
    line[chosen] = line[np.roll(chosen, 1)]
    return Placement(allocation, line[: len(slots)])
