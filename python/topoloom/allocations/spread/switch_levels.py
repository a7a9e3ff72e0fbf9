# SPDX-License-Identifier: BSD-3-Clause
"""Levels of switches above leaf groups, and a search that uses fewer switches."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from topoloom.allocations.spread.host_mesh import HostMesh, Integers

#: Limit of swaps times hosts, and limit of swaps.
_WORK, _TRIALS = 1_000_000, 4_000


def group_leaves_by_switch(hops: NDArray[np.integer]) -> list[Integers]:
    """Group leaf groups by shared switch at each level, from the lowest up.

    ``hops[i, k]`` is the distance between hosts of leaf groups i and k. Each level of
    the result maps every leaf group to its group. Distances that form no groups, as in
    a dragonfly, give no level.
    """
    apart = hops[~np.eye(len(hops), dtype=bool)]
    levels = []
    for distance in np.unique(apart)[:-1].tolist():
        near = hops <= distance
        np.fill_diagonal(near, True)
        group = near.argmax(axis=1)
        if (near == (group[:, None] == group)).all():
            levels.append(group)
    return levels


def reduce_switches(
    mesh: HostMesh,
    leaf_of: Integers,
    free: Sequence[int],
    levels: Sequence[Integers],
    proceed: Callable[[], bool] = lambda: True,
) -> Integers:
    """Swap leaf groups while that reduces the number of higher-level switches in use.

    The spreads of groups over leaf groups do not change.

    Parameters
    ----------
    leaf_of
        The leaf group of every cell.
    free
        The number of free hosts of each leaf group.
    levels
        Levels from `group_leaves_by_switch`.
    proceed
        Called repeatedly; the search ends when it returns False.
    """
    if not levels:
        return leaf_of
    room = np.asarray(free)
    trials = min(_TRIALS, _WORK // mesh.hosts)
    best, least = leaf_of, _sum_spreads(mesh, leaf_of, levels)
    improved = True
    while improved and proceed():
        improved = False
        for old in np.unique(best).tolist():
            counts = np.bincount(best, minlength=len(room))
            fits = (counts[old] <= room) & (counts <= room[old])
            elsewhere = levels[0] != levels[0][old]
            for new in np.flatnonzero(fits & elsewhere & (counts[old] > 0)).tolist():
                if trials == 0:
                    return best
                trials -= 1
                names = np.arange(len(room))
                names[[old, new]] = new, old
                rank = _sum_spreads(mesh, names[best], levels)
                if rank < least:
                    best, least, improved = names[best], rank, True
                    break
    return best


def _sum_spreads(
    mesh: HostMesh, leaf_of: Integers, levels: Sequence[Integers]
) -> tuple[float, float]:
    """Return the sums over levels of the largest and of the mean spreads."""
    most, mean = 0.0, 0.0
    for level in levels:
        spreads = mesh.spreads(level[leaf_of])
        most += mesh.cost([int(one.max()) for one in spreads])
        mean += sum(
            along.weight * float(one.mean())
            for along, one in zip(mesh.along, spreads, strict=True)
        )
    return most, round(mean, 9)
