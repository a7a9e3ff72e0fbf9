# SPDX-License-Identifier: BSD-3-Clause
"""Inter-node bytes of each mapper."""

from __future__ import annotations

from time import perf_counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import topoloom
from tiles.cases import Case
from tiles.peers import PEERS

OURS = "tile"
PORTFOLIO = "auto"


class InterNodeBytes(NamedTuple):
    """Inter-node bytes: total, and of the busiest node."""

    total: int
    worst: int
    seconds: float


def measure(case: Case, portfolio: bool = False) -> dict[str, InterNodeBytes]:
    """Map a grid by every mapper."""
    edges = case.edges()
    sizes = case.sizes
    by_order = np.repeat(np.arange(len(sizes)), sizes)
    mean = round(sizes.mean())
    found = {}
    for name, peer in PEERS.items():
        start = perf_counter()
        cells = peer(case.extents, mean, case.vectors)
        node = np.empty_like(by_order)
        node[cells] = by_order
        found[name] = count_inter_node_bytes(edges, node, perf_counter() - start)
    machine = topoloom.load_machine(f"fattree:{len(sizes)}+node:{case.cores}")
    slots = [
        n * case.cores + i for n, size in enumerate(sizes) for i in range(int(size))
    ]
    allocation = topoloom.Allocation(machine, range(len(sizes)), slots)
    source, target, sent = edges
    graph = topoloom.CommGraph.from_edges(
        len(by_order), source.astype(np.uint32), target.astype(np.uint32), sent
    )
    grid = "x".join(map(str, case.extents))
    mappers = {OURS: f"tile(grid={grid})"}
    if portfolio:
        mappers[PORTFOLIO] = PORTFOLIO
    for name, mapper in mappers.items():
        start = perf_counter()
        placement = topoloom.place(graph, allocation, mapper).placement
        seconds = perf_counter() - start
        node = np.asarray(placement.slots).astype(np.int64) // case.cores
        found[name] = count_inter_node_bytes(edges, node, seconds)
    return found


def count_inter_node_bytes(
    edges: NDArray[np.int64], node: NDArray[np.int64], seconds: float
) -> InterNodeBytes:
    """Sum the inter-node bytes of a mapping, in total and for the busiest node."""
    source, target, sent = edges
    leaving = np.where(node[source] != node[target], sent, 0)
    by_node = np.bincount(node[source], weights=leaving)
    return InterNodeBytes(int(leaving.sum()), int(by_node.max(initial=0)), seconds)
