# SPDX-License-Identifier: BSD-3-Clause
"""Larger jobs: inter-node bytes, times, and search time."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from defaults.cases import FAT_TREE
from defaults.measure import times
from topoloom import Allocation, CommGraph, judge, load_machine, place
from topoloom.allocations import fragmented_allocation
from topoloom.graphs import stencil
from topoloom.placements import predicted_time

#: Messages per neighbor, and bytes per message, in the Lennard-Jones melt.
_MESSAGES, _BYTES = 220, 5_387


@dataclass(frozen=True)
class Row:
    """A job; pairs hold the launcher order's result, then ours.

    Attributes
    ----------
    between, leaving
        Inter-node bytes: total, and sent by the busiest node.
    simulated
        None if messages are too many to simulate.
    seconds
        Wall-clock seconds of our search.
    """

    job: str
    ranks: int
    between: tuple[int, int]
    leaving: tuple[int, int]
    predicted: tuple[float, float]
    simulated: tuple[float, float] | None
    seconds: float


def _make_lammps() -> CommGraph:
    halo = stencil([8, 8, 8], 7, bytes=_BYTES * _MESSAGES)
    edges = halo.edge_count
    source = [
        rank
        for rank in range(halo.rank_count)
        for _ in range(int(halo.first[rank]), int(halo.first[rank + 1]))
    ]
    return CommGraph.from_edges(
        halo.rank_count, source, halo.peer, halo.bytes, [_MESSAGES] * edges
    )


def _allocate_first_nodes(machine: str, nodes: int) -> Allocation:
    return Allocation(load_machine(machine), list(range(nodes)))


def _allocate_fragments(machine: str, nodes: int, fragments: int) -> Allocation:
    return fragmented_allocation(load_machine(machine), nodes, fragments)


#: name -> (pattern, allocation, whether it is simulated)
JOBS: dict[str, tuple[Callable[[], CommGraph], Callable[[], Allocation], bool]] = {
    "LAMMPS, 512 ranks, 8 nodes of frontier in 4 fragments": (
        *(_make_lammps, partial(_allocate_fragments, "frontier", 8, 4), True),
    ),
    "LAMMPS, 512 ranks, 8 nodes of the fat tree 18:36:12": (
        *(_make_lammps, partial(_allocate_first_nodes, FAT_TREE, 8), True),
    ),
    "3-D halo of 64 KiB, 4,096 ranks, 64 nodes of frontier in 8 fragments": (
        partial(stencil, [16, 16, 16], 7, bytes=64 * 1024),
        *(partial(_allocate_fragments, "frontier", 64, 8), False),
    ),
    "3-D halo of 64 KiB, 65,536 ranks, 1,024 nodes of frontier in 20 fragments": (
        partial(stencil, [32, 32, 64], 7, bytes=64 * 1024),
        *(partial(_allocate_fragments, "frontier", 1024, 20), False),
    ),
}


def measure_row(job: str) -> Row:
    """Place a job in launcher order and by default."""
    make, cut, is_simulated = JOBS[job]
    graph, allocation = make(), cut()
    block = place(graph, allocation, "block").placement
    start = time.perf_counter()
    ours = place(graph, allocation).placement
    seconds = time.perf_counter() - start
    both = (block, ours)
    judged = [judge(graph, allocation, each, hottest=0) for each in both]
    simulated = [
        times(graph, [graph], allocation, each)[1] for each in both if is_simulated
    ]
    predicted = [predicted_time(graph, allocation, each) for each in both]
    return Row(
        *(job, graph.rank_count),
        (judged[0].inter_node_bytes, judged[1].inter_node_bytes),
        (judged[0].inter_node_max, judged[1].inter_node_max),
        (predicted[0], predicted[1]),
        (simulated[0], simulated[1]) if is_simulated else None,
        seconds,
    )
