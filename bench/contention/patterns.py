# SPDX-License-Identifier: BSD-3-Clause
"""The published patterns, and a halo exchange, for any number of ranks.

Meshes are generated, not read: 3DSpec is elements of a cube, Aug2dc the flow on a grid,
Mesh a random triangulation. Each mesh is cut into one part per rank.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
from numpy.typing import NDArray

import topoloom
from peers import graphs
from peers.graphs import Graph
from topoloom import CommGraph
from topoloom.graphs.patterns import Request, make_phases

#: Bytes of an allgather's block, and of an edge between two parts.
UNIT = 1024

Points = NDArray[np.float64]


def spectral_elements(side: int) -> tuple[Graph, Points]:
    """Couple the elements of a cube by their shared nodes, at order 4.

    Two elements share 25 nodes of a face, 5 of an edge, or 1 of a corner.
    """
    place = np.indices([side] * 3).reshape(3, -1).T
    pairs, weights = [], []
    for move in product((-1, 0, 1), repeat=3):
        there = place + move
        inside = ((there >= 0) & (there < side)).all(axis=1)
        one = np.flatnonzero(inside)
        if move > (0, 0, 0):
            two = np.ravel_multi_index(tuple(there[inside].T), [side] * 3)
            pairs.append(np.stack([one, two], axis=1))
            weights.append(np.full(len(one), 5 ** (3 - np.abs(move).sum())))
    joined = np.concatenate(pairs), np.concatenate(weights)
    return graphs.from_pairs(len(place), *joined), place.astype(np.float64)


def augmented_grid(side: int) -> tuple[Graph, Points]:
    """Couple the flow on each edge of a square grid with the balance at its ends.

    This is the matrix [[D, A'], [A, 0]] with a diagonal D, as in AUG2DC of CUTEst.
    """
    nodes = np.indices([side] * 2).reshape(2, -1).T
    pairs, points, size = [], [nodes.astype(np.float64)], len(nodes)
    for step in ((1, 0), (0, 1)):
        shape = [side + step[0], side + step[1]]
        edges = np.indices(shape).reshape(2, -1).T
        for end in (nodes, nodes + step):
            edge = size + np.ravel_multi_index(tuple(end.T), shape)
            pairs.append(np.stack([np.arange(len(nodes)), edge], axis=1))
        points.append(edges - np.array(step) / 2)
        size += len(edges)
    return graphs.from_pairs(size, np.concatenate(pairs)), np.concatenate(points)


def cut(mesh: Graph, points: Points, parts: int, seed: int) -> Graph:
    """Cut a mesh into parts; a random rotation makes cuts independent of the grid."""
    axes = points.shape[1]
    turn, _ = np.linalg.qr(np.random.default_rng(seed).standard_normal((axes, axes)))
    return graphs.quotient(
        mesh, graphs.coordinate_bisection(points @ turn, parts), parts
    )


def to_topoloom(graph: Graph) -> CommGraph:
    """Make a graph that sends each edge's weight, in units, in both directions."""
    return CommGraph.from_csr(
        graph.first.astype(np.uint64),
        graph.peer.astype(np.uint32),
        graph.weight * UNIT,
    )


#: Patterns by number of ranks and seed; the first six are in the published figures.
PATTERNS: dict[str, Callable[[int, int], CommGraph]] = {
    "Recursive doubling": lambda n, _: topoloom.graphs.recursive_doubling(n, UNIT),
    "Bruck": lambda n, _: topoloom.graphs.bruck(n, UNIT),
    "Binomial tree": lambda n, _: topoloom.graphs.binomial_tree(n, UNIT),
    "3DSpec": lambda n, s: to_topoloom(cut(*spectral_elements(24), n, s)),
    "Aug2dc": lambda n, s: to_topoloom(cut(*augmented_grid(100), n, s)),
    "Mesh": lambda n, s: to_topoloom(graphs.partitioned_mesh(n, 2, s)),
    "3-D halo": lambda n, _: topoloom.graphs.stencil(
        [n // 16, 4, 4], 7, bytes=64 * UNIT
    ),
}
PUBLISHED = tuple(PATTERNS)[:6]


#: Patterns with rounds, and their names in Topoloom.
IN_ROUNDS = {
    "Recursive doubling": "recursive-doubling",
    "Bruck": "bruck",
    "Binomial tree": "binomial",
}


def rounds(pattern: str, ranks: int) -> list[CommGraph]:
    """Return the phases; an empty list if there is only one."""
    name = IN_ROUNDS.get(pattern)
    if name is None:
        return []
    return make_phases(name, Request(ranks, UNIT))


def shuffled(graph: CommGraph, seed: int) -> CommGraph:
    """Renumber the ranks at random."""
    number = np.random.default_rng(seed).permutation(graph.rank_count)
    source = np.repeat(np.arange(graph.rank_count), np.diff(graph.first.astype(int)))
    return CommGraph.from_edges(
        graph.rank_count,
        number[source].astype(np.uint32),
        number[graph.peer].astype(np.uint32),
        graph.bytes,
    )
