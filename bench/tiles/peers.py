# SPDX-License-Identifier: BSD-3-Clause
"""Other mappers of process grids, each as an order of cells.

Nodes take cells in this order, as many as they have cores. Open points of the papers
are decided in the peers' favor: a stencil is a list of vectors with bytes, although the
papers only count vectors.

W. D. Gropp, Using node and socket information to implement MPI Cartesian topologies,
Parallel Computing 85 (2019), for `nodecart`; S. Hunold, K. von Kirchbach, M. Lehr, C.
Schulz, J. L. Träff, Efficient Process-to-Node Mapping Algorithms for Stencil
Computations, CLUSTER 2020, for the others.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

Cells = NDArray[np.int64]
Extents = tuple[int, ...]
#: Vectors to the neighbors of a cell, and the bytes sent along each.
Stencil = dict[tuple[int, ...], int]


def block(extents: Extents, cores: int, stencil: Stencil) -> Cells:
    """Order cells row by row, as launchers do."""
    return np.arange(math.prod(extents))


def nodecart(extents: Extents, cores: int, stencil: Stencil) -> Cells:
    """Order cells by the squarest tiles that divide the grid; without any, by rows."""
    tiles = [
        tile
        for tile in _iterate_factorizations(cores, len(extents))
        if _is_divisor(tile, extents)
    ]
    if not tiles:
        return block(extents, cores, stencil)
    tile = min(tiles, key=lambda sides: (sum(cores / side for side in sides), sides))
    cells = np.arange(math.prod(extents)).reshape(
        [n for e, t in zip(extents, tile, strict=True) for n in (e // t, t)]
    )
    axes = len(extents)
    order = [*range(0, 2 * axes, 2), *range(1, 2 * axes, 2)]
    return np.ravel(cells.transpose(order))


def kd_tree(extents: Extents, cores: int, stencil: Stencil) -> Cells:
    """Bisect the longest axis, relative to its cut bytes, down to single cells."""
    cost = _count_crossing_bytes(stencil)

    def split(cells: Cells) -> Iterator[Cells]:
        if cells.size == 1:
            yield cells.ravel()
            return
        long = [d for d, n in enumerate(cells.shape) if n > 1]
        axis = max(long, key=lambda d: cells.shape[d] / max(cost[d], 1e-9))
        for half in np.split(cells, [cells.shape[axis] // 2], axis):
            yield from split(half)

    return np.concatenate(list(split(_number_cells(extents))))


def hyperplane(extents: Extents, cores: int, stencil: Stencil) -> Cells:
    """Cut at the plane nearest to the middle with whole nodes on both sides.

    Axes with the smallest sum of squared cosines to the stencil's vectors come first.
    """
    along = [
        sum(b * v[d] ** 2 / sum(x * x for x in v) for v, b in stencil.items())
        for d in range(len(extents))
    ]

    def split(cells: Cells) -> Iterator[Cells]:
        order = sorted(
            range(cells.ndim), key=lambda d: (round(along[d], 9), -cells.shape[d])
        )
        if cells.size <= cores:
            yield cells.transpose(order[::-1]).ravel()
            return
        for axis in order:
            layer = cells.size // cells.shape[axis]
            for at in range(cells.shape[axis] // 2, 0, -1):
                if at * layer % cores == 0:
                    for half in np.split(cells, [at], axis):
                        yield from split(half)
                    return
        if cells.size < 2 * cores:
            yield cells.transpose(order[::-1]).ravel()
            return
        # If nodes do not divide the grid, use the average node, as in the papers.
        axis = max(order, key=lambda d: cells.shape[d])
        for half in np.split(cells, [cells.shape[axis] // 2], axis):
            yield from split(half)

    return np.concatenate(list(split(_number_cells(extents))))


def strips(extents: Extents, cores: int, stencil: Stencil) -> Cells:
    """Order cells along strips as wide as a node's box, back and forth.

    The box has the proportions of the stencil's bounding box; strips are along the
    longest axis.
    """
    axes = len(extents)
    cost = _count_crossing_bytes(stencil)
    mean = math.prod(max(c, 1e-9) for c in cost) ** (1 / axes)
    sides = [c / mean * cores ** (1 / axes) for c in cost]
    run = max(range(axes), key=lambda d: extents[d])
    others = [d for d in range(axes) if d != run]
    counts = [max(1, int(extents[d] / max(sides[d], 1))) for d in others]
    edges = [
        np.arange(n + 1) * extents[d] // n for d, n in zip(others, counts, strict=True)
    ]
    cells = _number_cells(extents).transpose(run, *others)
    taken = []
    for turn, at in enumerate(product(*(range(n) for n in counts))):
        cut = tuple(slice(e[i], e[i + 1]) for e, i in zip(edges, at, strict=True))
        window = (slice(None), *cut)
        strip = cells[window].reshape(extents[run], -1).copy()
        strip[1::2] = strip[1::2, ::-1]
        taken.append((strip[::-1] if turn % 2 else strip).ravel())
    return np.concatenate(taken)


PEERS = {
    "block": block,
    "nodecart": nodecart,
    "k-d tree": kd_tree,
    "hyperplane": hyperplane,
    "strips": strips,
}


def _number_cells(extents: Extents) -> Cells:
    return np.arange(math.prod(extents)).reshape(extents)


def _count_crossing_bytes(stencil: Stencil) -> list[float]:
    """Return the bytes that cross a plane per cell of the plane, by axis."""
    axes = len(next(iter(stencil)))
    return [float(sum(b for v, b in stencil.items() if v[d])) for d in range(axes)]


def _iterate_factorizations(number: int, parts: int) -> Iterator[Extents]:
    if parts == 1:
        yield (number,)
        return
    for factor in range(1, number + 1):
        if number % factor == 0:
            for rest in _iterate_factorizations(number // factor, parts - 1):
                yield (factor, *rest)


def _is_divisor(tile: Sequence[int], extents: Sequence[int]) -> bool:
    return all(e % t == 0 for e, t in zip(extents, tile, strict=True))
