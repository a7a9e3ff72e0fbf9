# SPDX-License-Identifier: BSD-3-Clause
"""Generators and transformations of undirected graphs, with fixed seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Graph:
    """An undirected graph as compressed sparse rows, every edge in both directions.

    Attributes
    ----------
    first
        The neighbors of vertex v are ``peer[first[v]:first[v + 1]]``, ascending.
    peer, weight
        Neighbors and the weights of the edges to them.
    load
        Weights of the vertices.
    """

    first: Ints
    peer: Ints
    weight: Ints
    load: Ints

    @property
    def size(self) -> int:
        """Number of vertices."""
        return len(self.first) - 1

    def source(self) -> Ints:
        """Return the source vertex of each entry of `peer`."""
        return np.repeat(np.arange(self.size), np.diff(self.first))


def from_pairs(size: int, pairs: Ints, weights: Ints | None = None) -> Graph:
    """Build a graph from edges; weights of repeated edges are summed."""
    one, two = pairs[:, 0].astype(np.int64), pairs[:, 1].astype(np.int64)
    weight = np.ones(len(pairs), np.int64) if weights is None else weights
    apart = one != two
    one, two, weight = one[apart], two[apart], weight[apart]
    key = np.concatenate([one * size + two, two * size + one])
    order = np.argsort(key, kind="stable")
    key, weight = key[order], np.concatenate([weight, weight])[order]
    start = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
    key = key[start]
    total = np.add.reduceat(weight, start) if len(start) else weight
    first = np.zeros(size + 1, np.int64)
    np.cumsum(np.bincount(key // size, minlength=size), out=first[1:])
    return Graph(first, key % size, total, np.ones(size, np.int64))


def from_topoloom(graph: Any) -> Graph:
    """Convert a `topoloom.CommGraph`; weights are bytes of both directions."""
    one = np.repeat(np.arange(graph.rank_count), np.diff(graph.first.astype(np.int64)))
    pairs = np.stack([one, graph.peer.astype(np.int64)], axis=1)
    return from_pairs(graph.rank_count, pairs, graph.bytes.astype(np.int64))


def stencil(grid: Sequence[int], reach: str, periodic: bool = False) -> Graph:
    """Make a stencil on a grid of ranks; the last axis varies fastest.

    Parameters
    ----------
    grid
        Extents.
    reach
        ``"star"``: neighbors along the axes; ``"box"``: also along diagonals.
    periodic
        Whether the ends of an axis are neighbors.
    """
    place = np.stack(np.unravel_index(np.arange(int(np.prod(grid))), grid), axis=1)
    extent = np.array(grid)
    found = []
    for step in np.ndindex(*([3] * len(grid))):
        move = np.array(step) - 1
        far = np.abs(move).sum()
        if far == 0 or (reach == "star" and far > 1):
            continue
        there = place + move
        if periodic:
            there %= extent
        inside = ((there >= 0) & (there < extent)).all(axis=1)
        one = np.flatnonzero(inside)
        two = np.ravel_multi_index(tuple(there[inside].T), grid)
        found.append(np.stack([one, two], axis=1)[one < two])
    return from_pairs(len(place), _remove_duplicates(np.concatenate(found), len(place)))


def _remove_duplicates(pairs: Ints, size: int) -> Ints:
    """Remove duplicate edges."""
    low, high = pairs.min(axis=1), pairs.max(axis=1)
    keys = np.unique(low * size + high)
    return np.stack([keys // size, keys % size], axis=1)


def delaunay_points(size: int, axes: int, seed: int) -> tuple[Graph, NDArray[Any]]:
    """Triangulate random points of the unit square or cube; requires SciPy."""
    from scipy.spatial import Delaunay

    points = np.random.default_rng(seed).random((size, axes))
    corners = Delaunay(points).simplices
    pairs = [
        corners[:, [a, b]] for a in range(axes + 1) for b in range(a + 1, axes + 1)
    ]
    every = np.concatenate(pairs).astype(np.int64)
    return from_pairs(size, _remove_duplicates(every, size)), points


def delaunay(size: int, axes: int, seed: int) -> Graph:
    """Return the Delaunay graph of random points, with unit weights."""
    return delaunay_points(size, axes, seed)[0]


def partitioned_mesh(parts: int, axes: int, seed: int, each: int = 64) -> Graph:
    """Make the quotient graph of a larger Delaunay mesh that is cut into `parts`.

    In a solver on an unstructured mesh, a rank owns a part and sends the cut. The mesh
    has `each` points per part and is cut by recursive coordinate bisection; weights are
    the numbers of cut edges.
    """
    mesh, points = delaunay_points(parts * each, axes, seed)
    return quotient(mesh, coordinate_bisection(points, parts), parts)


def quotient(graph: Graph, part: Ints, parts: int) -> Graph:
    """Merge the vertices of each part; weights between two parts are summed."""
    pairs = np.stack([part[graph.source()], part[graph.peer]], axis=1)
    once = pairs[:, 0] < pairs[:, 1]
    return from_pairs(parts, pairs[once], graph.weight[once])


def coordinate_bisection(points: NDArray[Any], parts: int) -> Ints:
    """Cut points into equal parts, recursively at the median of the widest extent."""
    part = np.zeros(len(points), np.int64)
    pending = [(np.arange(len(points)), 0, parts)]
    while pending:
        members, base, count = pending.pop()
        if count == 1:
            part[members] = base
            continue
        low = count // 2
        axis = int(np.argmax(np.ptp(points[members], axis=0)))
        order = members[np.argsort(points[members, axis], kind="stable")]
        cut = len(members) * low // count
        pending.append((order[:cut], base, low))
        pending.append((order[cut:], base + low, count - low))
    return part


def shuffled(graph: Graph, seed: int) -> Graph:
    """Renumber the vertices at random."""
    name = np.random.default_rng(seed).permutation(graph.size)
    source = graph.source()
    once = source < graph.peer
    pairs = np.stack([name[source], name[graph.peer]], axis=1)[once]
    anew = from_pairs(graph.size, pairs, graph.weight[once])
    load = np.empty_like(graph.load)
    load[name] = graph.load
    return Graph(anew.first, anew.peer, anew.weight, load)


def read_metis(text: str) -> Graph:
    """Parse a METIS graph: unit weights, or fmt 1, 10 or 11."""
    lines = [line for line in text.split("\n") if not line.startswith("%")]
    head = lines[0].split()
    size, form = int(head[0]), (head[2] if len(head) > 2 else "0").zfill(3)
    loads = np.ones(size, np.int64)
    peers, weights = [], []
    first = np.zeros(size + 1, np.int64)
    for v, line in enumerate(lines[1 : size + 1]):
        row = np.array(line.split(), np.int64)
        if form[1] == "1":
            loads[v], row = row[0], row[1:]
        step = 2 if form[2] == "1" else 1
        peers.append(row[::step] - 1)
        weights.append(row[1::2] if step == 2 else np.ones(len(row), np.int64))
        first[v + 1] = first[v] + len(row) // step
    return Graph(first, np.concatenate(peers), np.concatenate(weights), loads)
